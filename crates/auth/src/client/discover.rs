//! Discovery: which authorization server issues tokens for an MCP server, and where its endpoints are.
//!
//! Two searches, one after the other. Each gives the next request and reads its answer. A document
//! that contradicts what it should describe ends the login; a document that is absent does not.

use std::collections::VecDeque;

use bowline_proto::mirror::PROTOCOL_VERSION;
use bowline_types::revision::Revision;
use http::StatusCode;
use http::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

use crate::challenge::Challenge;
use crate::error::{Error, Kind};
use crate::fetch::{FetchRequest, Fetched};
use crate::metadata::resource::{self, ResourceMetadata};
use crate::metadata::server::{self, OAUTH, ServerMetadata};
use crate::scope::Scopes;
use crate::url::Url;

/// The MCP server as a resource, and the authorization servers that it names.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The resource to ask tokens for, as the document writes it.
    pub(crate) resource: String,
    /// The scopes that the document lists.
    pub(crate) scopes: Scopes,
    pub(crate) issuers: Vec<String>,
    /// Whether every token must be bound to a key.
    pub(crate) needs_dpop: bool,
    /// The MCP server itself is the authorization server, as 2025-03-26 has it.
    pub(crate) is_origin: bool,
}

impl Target {
    fn documented(document: ResourceMetadata) -> Self {
        let mut scopes = Scopes::new();
        for scope in document.scopes_supported.iter().flatten() {
            // A scope that cannot be asked for is of no use; the others still are.
            let _ = scopes.insert(scope);
        }
        Self {
            resource: document.resource,
            scopes,
            issuers: document.authorization_servers,
            needs_dpop: document.dpop_bound_access_tokens_required == Some(true),
            is_origin: false,
        }
    }

    /// An MCP server without a document.
    pub(crate) fn origin(mcp: &Url) -> Self {
        Self {
            resource: mcp.canonical(),
            scopes: Scopes::new(),
            // Its metadata may write the issuer with a slash.
            issuers: vec![mcp.origin(), format!("{}/", mcp.origin())],
            needs_dpop: false,
            is_origin: true,
        }
    }
}

/// An authorization server whose metadata were checked against its issuer. There is no other way to
/// get one, and requests with secrets go only to its endpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AuthServer {
    metadata: ServerMetadata,
    /// There was no document; the endpoints are those of 2025-03-26.
    is_assumed: bool,
}

/// An endpoint of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Authorization,
    Token,
    Registration,
    Revocation,
}

impl AuthServer {
    #[cfg(test)]
    pub(crate) fn parse(text: &str, issuer: &str) -> Result<Self, Error> {
        Ok(Self { metadata: ServerMetadata::parse(text, issuer)?, is_assumed: false })
    }

    /// A server whose token endpoint the program configured itself.
    pub(crate) fn configured(issuer: &str, token_endpoint: Url) -> Self {
        let mut metadata = ServerMetadata::new(issuer);
        metadata.token_endpoint = Some(token_endpoint);
        Self { metadata, is_assumed: false }
    }

    pub(crate) fn metadata(&self) -> &ServerMetadata {
        &self.metadata
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.metadata.issuer
    }

    /// Whether PKCE must be used without the word of a document.
    pub(crate) fn is_assumed(&self) -> bool {
        self.is_assumed
    }

    /// The address of an endpoint.
    ///
    /// # Errors
    ///
    /// If the server has none, or it is neither `https` nor on this machine.
    pub(crate) fn endpoint(&self, endpoint: Endpoint) -> Result<&Url, Error> {
        let (url, name) = match endpoint {
            Endpoint::Authorization => {
                (&self.metadata.authorization_endpoint, "authorization_endpoint")
            }
            Endpoint::Token => (&self.metadata.token_endpoint, "token_endpoint"),
            Endpoint::Registration => {
                (&self.metadata.registration_endpoint, "registration_endpoint")
            }
            Endpoint::Revocation => (&self.metadata.revocation_endpoint, "revocation_endpoint"),
        };
        let Some(url) = url else {
            let text = format!("the authorization server {} has no `{name}`", self.issuer());
            return Err(Error::new(Kind::Login, text));
        };
        url.check_confidential(Kind::Login, name)?;
        Ok(url)
    }
}

/// What an address answered.
enum Probe<'a> {
    Document(&'a str),
    /// There is no document at the address.
    Absent,
}

/// Reads an answer of a well-known address. A server that has no document there may answer with any
/// 4xx status, or with a page for people.
fn probe(answer: &Fetched) -> Result<Probe<'_>, Error> {
    match answer.status {
        StatusCode::OK if answer.is_json() => Ok(Probe::Document(answer.json()?)),
        StatusCode::OK => Ok(Probe::Absent),
        status if status.is_client_error() => Ok(Probe::Absent),
        status => Err(Error::new(Kind::Login, format!("the answer has the status {status}"))),
    }
}

/// Looks for the document of an MCP server.
#[derive(Debug)]
pub(crate) struct ResourceSearch {
    mcp: Url,
    /// Whether the challenge named an address.
    is_named: bool,
    /// The current address is the one that the challenge named.
    is_at_named: bool,
    left: VecDeque<Url>,
}

/// What to do after an answer.
pub(crate) enum Step<T> {
    Fetch(Box<FetchRequest>),
    Found(T),
    /// All addresses were tried.
    Absent,
}

impl ResourceSearch {
    /// Begins with the address that the challenge names, then the well-known ones.
    pub(crate) fn new(mcp: &Url, challenge: Option<&Challenge>) -> Result<Self, Error> {
        mcp.check_confidential(Kind::Login, "address of the MCP server")?;
        let mut left: VecDeque<Url> = resource::addresses(mcp)?.into();
        let named = challenge.and_then(|challenge| challenge.value("resource_metadata"));
        if let Some(named) = named {
            let named = Url::parse(named)?;
            named.check_confidential(Kind::Login, "address of the resource metadata")?;
            left.retain(|address| *address != named);
            left.push_front(named);
        }
        let is_named = named.is_some();
        Ok(Self { mcp: mcp.clone(), is_named, is_at_named: is_named, left })
    }

    /// Whether the challenge named an address.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    pub(crate) fn begin(&mut self) -> Step<Target> {
        match self.left.pop_front() {
            Some(address) => Step::Fetch(Box::new(FetchRequest::get(address))),
            None => Step::Absent,
        }
    }

    pub(crate) fn read(&mut self, answer: Result<Fetched, Error>) -> Result<Step<Target>, Error> {
        let answer = answer?;
        let is_at_named = std::mem::take(&mut self.is_at_named);
        match probe(&answer)? {
            Probe::Document(text) => {
                let document = ResourceMetadata::parse(text, &self.mcp)?;
                Ok(Step::Found(Target::documented(document)))
            }
            Probe::Absent if is_at_named && answer.status != StatusCode::NOT_FOUND => {
                let text = "the address of the resource metadata that the server named gives none";
                Err(Error::new(Kind::Login, text))
            }
            Probe::Absent => Ok(self.begin()),
        }
    }
}

/// Looks for the metadata of the first of several authorization servers that can be reached.
#[derive(Debug)]
pub(crate) struct ServerSearch {
    issuers: VecDeque<String>,
    issuer: String,
    left: VecDeque<Url>,
    /// Set if the MCP server itself is the authorization server.
    origin: Option<Url>,
    /// Why the last one cannot be used.
    failure: Option<Error>,
}

impl ServerSearch {
    pub(crate) fn new(issuers: Vec<String>) -> Self {
        let (issuer, left) = (String::new(), VecDeque::new());
        Self { issuers: issuers.into(), issuer, left, origin: None, failure: None }
    }

    /// The server of 2025-03-26: the origin of the MCP server.
    pub(crate) fn of_origin(mcp: &Url) -> Result<Self, Error> {
        let mut search = Self::new(Vec::new());
        search.issuer = mcp.origin();
        search.left = [mcp.at_origin(OAUTH)?].into();
        search.origin = Some(mcp.clone());
        Ok(search)
    }

    pub(crate) fn begin(&mut self) -> Result<Step<AuthServer>, Error> {
        loop {
            if let Some(address) = self.left.pop_front() {
                return Ok(Step::Fetch(Box::new(self.request(address))));
            }
            if let Some(origin) = &self.origin {
                let metadata = ServerMetadata::defaults(origin)?;
                return Ok(Step::Found(AuthServer { metadata, is_assumed: true }));
            }
            let Some(issuer) = self.issuers.pop_front() else {
                return Err(self.failure.take().unwrap_or_else(unreachable));
            };
            match issuer_addresses(&issuer) {
                Ok(addresses) => self.left = addresses.into(),
                Err(error) => self.failure = Some(error),
            }
            self.issuer = issuer;
        }
    }

    /// An MCP server that is its own authorization server may answer by the revision.
    fn request(&self, address: Url) -> FetchRequest {
        let mut request = FetchRequest::get(address);
        if self.origin.is_some() {
            let revision = HeaderValue::from_static(Revision::V2025_03_26.as_str());
            request.headers.insert(HeaderName::from_static(PROTOCOL_VERSION), revision);
        }
        request
    }

    pub(crate) fn read(
        &mut self,
        answer: Result<Fetched, Error>,
    ) -> Result<Step<AuthServer>, Error> {
        let failure = match &answer {
            Ok(answer) => match probe(answer) {
                Ok(Probe::Document(text)) => return self.document(text).map(Step::Found),
                Ok(Probe::Absent) => return self.begin(),
                Err(error) => error,
            },
            Err(_) => answer.err().unwrap_or_else(unreachable),
        };
        if self.origin.is_some() {
            return Err(failure);
        }
        // The other addresses of this issuer are on the same host.
        self.left.clear();
        self.failure = Some(failure);
        self.begin()
    }

    fn document(&self, text: &str) -> Result<AuthServer, Error> {
        let metadata = match &self.origin {
            Some(origin) => ServerMetadata::parse_of_origin(text, origin)?,
            None => ServerMetadata::parse(text, &self.issuer)?,
        };
        Ok(AuthServer { metadata, is_assumed: false })
    }
}

fn issuer_addresses(issuer: &str) -> Result<Vec<Url>, Error> {
    let url = Url::parse(issuer)?;
    url.check_confidential(Kind::Login, "issuer of the authorization server")?;
    server::addresses(&url)
}

fn unreachable() -> Error {
    Error::new(Kind::Login, "no authorization server of the resource describes itself")
}
