//! Requests to authorization servers, which may reach permitted addresses only.
//!
//! An MCP server names the URLs of its documents and of its authorization server. A program that
//! fetched any URL could be sent to services of its own network that trust it (SSRF). So a request
//! goes to public addresses only, unless the program permits more.
//!
//! The addresses of a host are checked where they are resolved, and those that pass are the ones
//! that are dialled: a name that changes its address meanwhile (DNS rebinding) gains nothing. Behind
//! a proxy of the environment, the proxy resolves names, so only literal addresses can be checked.

mod networks;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use bowline_auth::error::Error;
use bowline_auth::fetch::{FetchLimits, FetchRequest, Fetched, Fetcher};
use bowline_auth::secret::Secret;
use bowline_auth::url::Url;
use bowline_proto::limits::long::LongMessages;
use bowline_proto::sync::lock;
use bowline_types::text::{shown_url, with_causes};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, Request, Response};
use hyper_util::client::legacy::connect::dns::Name;
use tokio::time::timeout;

use self::networks::{AllowedNetworks, Shown, is_loopback, is_of_operator};
use super::address::Address;
use super::connector::{self, CutOff, ResolveHost, SystemResolver};
use super::events::{self, Ended};
use super::fetch::{BoxError, Fetch, Incoming, RequestBody};
use super::limits::HttpClientLimits;

/// The most origins whose connections are kept.
const MOST_ORIGINS: usize = 16;

/// How often a request is sent again because a kept connection was cut.
const MOST_REPEATS: usize = 2;

const OWN_USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("bowline/", env!("CARGO_PKG_VERSION")));

/// Sends requests to authorization servers and for their documents, with `https`, to public addresses.
///
/// `http` is for this machine only. [`for_client`](Self::for_client) and
/// [`for_issuers`](Self::for_issuers) permit what the two sides need beyond that, and
/// [`allow_network`](Self::allow_network) permits more.
///
/// ```
/// use bowline_auth::url::Url;
/// use bowline_http::client::GuardedFetcher;
///
/// let mcp = Url::parse("https://mcp.example.com/mcp")?;
/// let fetcher = GuardedFetcher::for_client(&mcp).allow_network("10.0.0.0/8")?;
/// assert!(fetcher.allow_network("ten").is_err());
/// # Ok::<(), bowline_auth::error::Error>(())
/// ```
pub struct GuardedFetcher {
    guard: Guard,
    resolver: Arc<dyn ResolveHost>,
    /// One client for each origin, the latest last.
    clients: Mutex<Vec<(String, Arc<dyn Fetch>)>>,
}

impl GuardedFetcher {
    /// Fetches what an MCP server names. Public addresses are permitted, and this machine if the MCP
    /// server is on it.
    pub fn for_client(mcp: &Url) -> Self {
        let mut guard = Guard::default();
        guard.networks.has_loopback = mcp.is_loopback();
        Self::new(guard)
    }

    /// Fetches the documents of issuers that the operator of this program configured. Their hosts may
    /// also have private addresses.
    pub fn for_issuers<'a>(issuers: impl IntoIterator<Item = &'a Url>) -> Self {
        let trusted = issuers.into_iter().map(Url::host).collect();
        Self::new(Guard { trusted, ..Guard::default() })
    }

    fn new(guard: Guard) -> Self {
        Self { guard, resolver: Arc::new(SystemResolver), clients: Mutex::default() }
    }

    /// Permits the addresses of a network too, such as `10.0.0.0/8`.
    ///
    /// # Errors
    ///
    /// If the text is no network.
    pub fn allow_network(mut self, network: &str) -> Result<Self, Error> {
        self.guard.networks.more.push(network.parse()?);
        Ok(self)
    }

    /// Sends a request, follows the redirects of a GET, and reads the answer.
    async fn run(&self, request: FetchRequest) -> Result<Fetched, Error> {
        let FetchRequest { method, url, headers, body, limits } = request;
        let body = Bytes::from_owner(SecretBody(body));
        let mut address = self.permitted(&url)?;
        let client = self.client(&url, &address);
        let is_get = method == Method::GET;
        let (mut redirects, mut repeats) = (0, 0);
        loop {
            let sending = outgoing(&method, &address, headers.clone(), body.clone());
            let response = match client.clone().fetch(sending).await {
                Ok(response) => response,
                Err(error) if repeats < MOST_REPEATS && may_repeat(is_get, &error) => {
                    repeats += 1;
                    continue;
                }
                Err(error) => return Err(unanswered(&address, &error)),
            };
            if !response.status().is_redirection() || !is_get {
                return read(&address, response, limits).await;
            }
            if redirects == limits.redirects {
                return Err(failed(&address, format_args!("more than {redirects} redirects")));
            }
            redirects += 1;
            address = redirected(&address, &response)?;
        }
    }

    /// The address of a URL that may be fetched. A literal address is checked here, because it is
    /// not resolved.
    fn permitted(&self, url: &Url) -> Result<Address, Error> {
        let address =
            Address::parse(url.as_str()).map_err(|error| Error::fetch(error.to_string()))?;
        if !url.is_confidential() {
            return Err(failed(&address, "`http` is for this machine only; use `https`"));
        }
        if let Some(ip) = url.ip() {
            let guard = self.guard.at(url);
            guard.check(ip).map_err(|refused| failed(&address, refused))?;
        }
        Ok(address)
    }

    /// The client for the origin of a URL.
    fn client(&self, url: &Url, address: &Address) -> Arc<dyn Fetch> {
        let origin = url.origin();
        let mut clients = lock(&self.clients);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == origin) {
            return client.clone();
        }
        let resolver = GuardedResolver { guard: self.guard.at(url), inner: self.resolver.clone() };
        // `http` is for this machine, which is reached without a proxy, so no headers are added.
        let client = connector::connect_resolved(
            (address, Arc::new(resolver)),
            &mut HeaderMap::new(),
            &HttpClientLimits::default(),
        );
        if clients.len() == MOST_ORIGINS {
            clients.remove(0);
        }
        clients.push((origin, client.clone()));
        client
    }
}

impl Fetcher for GuardedFetcher {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        let (url, time) = (request.url.clone(), request.limits.time);
        Box::pin(async move {
            let late =
                |_| Error::fetch(format!("{}: no answer within {time:?}", shown_url(url.as_str())));
            timeout(time, Box::pin(self.run(request))).await.map_err(late)?
        })
    }
}

impl fmt::Debug for GuardedFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardedFetcher").field(&self.guard).finish()
    }
}

/// What may be reached.
#[derive(Clone, Debug, Default)]
struct Guard {
    networks: AllowedNetworks,
    /// Hosts that the operator configured.
    trusted: Vec<String>,
}

impl Guard {
    /// What may be reached by requests to a URL.
    fn at(&self, url: &Url) -> HostGuard {
        HostGuard {
            networks: self.networks.clone(),
            is_trusted: self.trusted.contains(&url.host()),
            is_plain: !url.is_https(),
        }
    }
}

/// What may be reached by requests to one origin.
struct HostGuard {
    networks: AllowedNetworks,
    is_trusted: bool,
    /// Whether the scheme is `http`.
    is_plain: bool,
}

impl HostGuard {
    /// Whether an address may be dialled.
    fn check(&self, address: IpAddr) -> Result<(), AddressRefused> {
        // The name `localhost` is not enough: it may resolve to another machine.
        if self.is_plain && !is_loopback(address) {
            let reason = "another machine, and `http` is for this machine only";
            return Err(AddressRefused { address, reason, is_allowable: false });
        }
        if self.is_trusted && is_of_operator(address) {
            return Ok(());
        }
        let refused = |reason| AddressRefused { address, reason, is_allowable: true };
        self.networks.check(address).map_err(refused)
    }
}

/// An address that may not be dialled.
#[derive(Debug)]
struct AddressRefused {
    address: IpAddr,
    reason: &'static str,
    is_allowable: bool,
}

impl fmt::Display for AddressRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = Shown(self.address);
        write!(f, "its address {shown} is not permitted: {}", self.reason)?;
        if !self.is_allowable {
            return Ok(());
        }
        let address = shown.reached();
        write!(
            f,
            "; authorization servers are reached at public addresses only; if you trust this one, \
             add `.allow_network(\"{address}\")`"
        )
    }
}

impl std::error::Error for AddressRefused {}

/// Resolves names, and leaves out the addresses that may not be dialled.
struct GuardedResolver {
    guard: HostGuard,
    inner: Arc<dyn ResolveHost>,
}

impl ResolveHost for GuardedResolver {
    fn resolve(&self, host: Name) -> BoxFuture<'static, Result<Vec<SocketAddr>, BoxError>> {
        let guard = HostGuard { networks: self.guard.networks.clone(), ..self.guard };
        let found = self.inner.resolve(host);
        Box::pin(async move {
            let mut refused = None;
            let mut permitted = Vec::new();
            for address in found.await? {
                match guard.check(address.ip()) {
                    Ok(()) => permitted.push(address),
                    Err(error) => refused = Some(error),
                }
            }
            match refused.filter(|_| permitted.is_empty()) {
                Some(refused) => Err(refused.into()),
                None => Ok(permitted),
            }
        })
    }
}

/// The body of a request; erased when the last copy of it is dropped.
struct SecretBody(Secret<Vec<u8>>);

impl AsRef<[u8]> for SecretBody {
    fn as_ref(&self) -> &[u8] {
        self.0.expose()
    }
}

fn outgoing(
    method: &Method,
    address: &Address,
    headers: HeaderMap,
    body: Bytes,
) -> Request<RequestBody> {
    let mut request = Request::new(RequestBody::new(body));
    *request.method_mut() = method.clone();
    *request.uri_mut() = address.uri().clone();
    *request.headers_mut() = headers;
    request.headers_mut().entry(USER_AGENT).or_insert(OWN_USER_AGENT);
    request
}

/// Whether a request can be sent again: it was cut off, and the server has not seen it, or a second
/// one changes nothing.
fn may_repeat(is_get: bool, error: &BoxError) -> bool {
    error.downcast_ref::<CutOff>().is_some_and(|it| it.is_unseen || is_get)
}

/// The target of a redirect, which must be within the origin. So its host was checked already.
fn redirected(from: &Address, response: &Response<Incoming>) -> Result<Address, Error> {
    let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
    let Some(location) = location else {
        return Err(failed(from, "a redirect without a `Location`"));
    };
    let to = from.join(location).map_err(|error| failed(from, error))?;
    match from.is_same_origin(&to) {
        true => Ok(to),
        false => {
            let to =
                format_args!("a redirect to {to}, which is not followed: it is another origin");
            Err(failed(from, to))
        }
    }
}

/// Reads the answer.
async fn read(
    address: &Address,
    response: Response<Incoming>,
    limits: FetchLimits,
) -> Result<Fetched, Error> {
    let (head, mut body) = response.into_parts();
    let FetchLimits { answer: most, time, .. } = limits;
    let room = LongMessages::new(most.saturating_mul(2));
    let body = match events::whole(&mut body, most, time, &room).await {
        Ok(body) => body,
        Err(Ended::TooLong(_)) => {
            return Err(failed(address, format_args!("the answer has more than {most} bytes")));
        }
        Err(Ended::Broken(error)) => {
            let why = with_causes(&*error);
            return Err(failed(address, format_args!("the answer broke off: {why}")));
        }
        Err(Ended::Closed | Ended::Silent(_)) => {
            return Err(failed(address, "the answer broke off"));
        }
    };
    Ok(Fetched { status: head.status, headers: head.headers, body })
}

/// Why no response came. An address that was refused speaks for itself.
fn unanswered(address: &Address, error: &BoxError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<AddressRefused>() {
            return failed(address, refused);
        }
        cause = error.source();
    }
    failed(address, with_causes(&**error))
}

/// An error that names the URL, without its query.
fn failed(address: &Address, reason: impl fmt::Display) -> Error {
    Error::fetch(format!("{address}: {reason}"))
}

#[cfg(test)]
mod tests;
