//! Single HTTP requests as they are: no session, no headers of the protocol, no redirects, no retries.
//!
//! For tools that look at a server from outside, and send what no client would send.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};

use super::address::{Address, InvalidAddress};
use super::connector;
use super::fetch::{BoxError, Fetch, Incoming, RequestBody};
use super::limits::HttpClientLimits;

/// Sends single HTTP requests to one address, with pooled connections.
///
/// ```
/// use bowline_http::client::RawHttp;
///
/// let raw = RawHttp::new("http://127.0.0.1:3000/mcp")?;
/// # let _ = raw;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RawHttp {
    address: Address,
    headers: HeaderMap,
    fetch: Arc<dyn Fetch>,
}

impl RawHttp {
    /// A server at a URL.
    ///
    /// # Errors
    ///
    /// If the URL is not a valid address of a server.
    pub fn new(url: &str) -> Result<Self, InvalidAddress> {
        let address = Address::parse(url)?;
        connector::check(&address)?;
        let mut headers = HeaderMap::new();
        let fetch = connector::connect(&address, &mut headers, &HttpClientLimits::default());
        Ok(Self { address, headers, fetch })
    }

    /// The address of the server.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends one request and returns the head of its answer.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or does not speak HTTP.
    pub async fn send(
        &self,
        verb: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<RawAnswer, BoxError> {
        let mut request = Request::new(RequestBody::new(body));
        *request.method_mut() = verb;
        *request.uri_mut() = self.address.uri().clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().extend(headers);
        let (head, body) = Arc::clone(&self.fetch).fetch(request).await?.into_parts();
        Ok(RawAnswer { status: head.status, headers: head.headers, body })
    }
}

impl fmt::Debug for RawHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawHttp").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The answer to a request of [`RawHttp`]. Dropping it before its end closes the stream.
pub struct RawAnswer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
}

impl RawAnswer {
    /// Reads the next bytes of the body; `None` after the last. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BoxError> {
        self.body.next().await.transpose()
    }
}

impl fmt::Debug for RawAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}
