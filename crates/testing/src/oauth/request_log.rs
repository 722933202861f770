//! The requests that the authorization server received, for assertions.

use std::fmt;
use std::sync::Mutex;

use bowline_auth::form::Form;
use bowline_proto::sync::lock;
use bowline_types::json::RawJson;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method};

/// An endpoint of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OAuthEndpoint {
    /// The metadata documents, wherever they are.
    Metadata,
    /// The key set.
    Jwks,
    /// Where the user's browser begins.
    Authorize,
    /// Where the page of the authorization endpoint sends the user's decision.
    Consent,
    /// Dynamic registration.
    Register,
    /// Grants become tokens.
    Token,
    /// A resource asks about a token.
    Introspect,
    /// A client revokes a token.
    Revoke,
    /// No endpoint: the answer is 404.
    Unknown,
}

/// A request that the server received, and how it answered.
///
/// [`value`](Self::value) and [`header`](Self::header) give what the client sent, secrets included.
/// `Debug` shows no value of a parameter or header.
#[derive(Clone)]
pub struct SeenRequest {
    pub(super) endpoint: OAuthEndpoint,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) parameters: Form,
    pub(super) json: Option<RawJson>,
    pub(super) headers: HeaderMap,
    pub(super) status: u16,
    pub(super) error: Option<String>,
}

impl SeenRequest {
    /// The endpoint.
    pub fn endpoint(&self) -> OAuthEndpoint {
        self.endpoint
    }

    /// The HTTP method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A parameter of the query or the form. `None` if it is missing or occurs twice.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.parameters.value(name).ok().flatten()
    }

    /// The body, if it was JSON: that of a registration.
    pub fn json(&self) -> Option<&RawJson> {
        self.json.as_ref()
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The scheme of the `Authorization` header, such as `Basic`.
    pub fn scheme(&self) -> Option<&str> {
        self.header(AUTHORIZATION.as_str())?.split(' ').next()
    }

    /// The status of the answer. It is 0 if the server has not answered.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The OAuth error of the answer, such as `invalid_grant`.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

impl fmt::Debug for SeenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} -> {}", self.method, self.path, self.parameters, self.status)?;
        match &self.error {
            Some(error) => write!(f, " {error}"),
            None => Ok(()),
        }
    }
}

/// All requests, in the order in which they arrived.
#[derive(Default)]
pub(super) struct RequestLog(Mutex<Vec<SeenRequest>>);

impl RequestLog {
    /// Notes a request, and gives its number.
    pub(super) fn note(&self, request: SeenRequest) -> usize {
        let mut requests = lock(&self.0);
        requests.push(request);
        requests.len() - 1
    }

    /// Adds the answer. The log may have been emptied since.
    pub(super) fn answered(&self, number: usize, status: u16, error: Option<&str>) {
        if let Some(request) = lock(&self.0).get_mut(number) {
            request.status = status;
            request.error = error.map(str::to_owned);
        }
    }

    /// A copy of all requests.
    pub(super) fn all(&self) -> Vec<SeenRequest> {
        lock(&self.0).clone()
    }
}
