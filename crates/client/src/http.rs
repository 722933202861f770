//! Connects to servers over HTTP.

mod auth;
#[cfg(feature = "auth")]
mod login;
#[cfg(feature = "auth")]
mod server_login;

use std::fmt;
use std::sync::Arc;

use bowline_http::client::{Authorize, HttpClientLimits, HttpTransport};
use bowline_transport::connect::Link;
use bowline_types::text::shown_url;
use http::header::{HeaderName, HeaderValue};

pub use self::auth::{ClientAuthorization, ProtectedServer};
#[cfg(feature = "auth")]
pub use self::server_login::ServerLogin;
use crate::builder::ClientBuilder;
use crate::client::Client;
use crate::connect::{Connect, Connector};
use crate::era::RememberedEra;
use crate::error::{Error, Result};

impl Client {
    /// Configures a client for the server at a URL, over Streamable HTTP of any revision, or over
    /// the HTTP+SSE transport of 2024-11-05.
    ///
    /// ```no_run
    /// use bowline_client::Client;
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let crm = Client::http("https://crm.example.com/mcp")
    ///     .header("Authorization", "Bearer …")
    ///     .on_ask(|question| async move { question.decline() })
    ///     .connect()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn http(url: impl Into<String>) -> ClientBuilder<HttpServer> {
        Self::builder("bowline", env!("CARGO_PKG_VERSION")).http(url)
    }
}

impl ClientBuilder {
    /// Connects to the server at a URL; see [`Client::http`].
    pub fn http(self, url: impl Into<String>) -> ClientBuilder<HttpServer> {
        let (url, limits) = (url.into(), HttpClientLimits::default());
        let (headers, authorization, networks, problem) = Default::default();
        self.with_server(HttpServer { url, headers, limits, authorization, networks, problem })
    }
}

impl ClientBuilder<HttpServer> {
    /// Adds a header to every request, such as `Authorization`. It is sent to the origin of the URL
    /// only, never to another one after a redirect. Headers of the protocol cannot be set.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.change_server(|server| server.header(name, value))
    }

    /// Sets the limits of requests and streams.
    pub fn http_limits(self, limits: HttpClientLimits) -> Self {
        self.change_server(|server| server.limits = limits)
    }

    /// Connects to the server.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the URL, a header or a root is invalid, the server cannot be reached, or it speaks no
    /// revision that this client speaks.
    pub async fn connect(self) -> Result<Client> {
        self.open().await
    }
}

/// A server at a URL: what [`ClientBuilder`] connects to after [`Client::http`].
#[derive(Clone)]
pub struct HttpServer {
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    limits: HttpClientLimits,
    authorization: Option<Arc<dyn ClientAuthorization>>,
    /// Where authorization servers may be, beside public addresses.
    networks: Vec<String>,
    /// An invalid setting, reported when the client connects.
    problem: Option<String>,
}

impl HttpServer {
    fn header(&mut self, name: &str, value: &str) {
        match (name.parse(), HeaderValue::from_str(value)) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.headers.push((name, value));
            }
            (Err(_), _) => self.problem = Some(format!("`{name}` is no name of a header")),
            // The value may be a secret.
            (_, Err(_)) => {
                let reason = "holds characters that no header can hold, such as a line end";
                self.problem = Some(format!("the value of the header `{name}` {reason}"));
            }
        }
    }

    fn transport(&self, authorize: Option<&Arc<dyn Authorize>>) -> Result<HttpTransport> {
        if let Some(problem) = &self.problem {
            return Err(Error::address(problem));
        }
        let transport = HttpTransport::new(&self.url).map_err(Error::address)?;
        let mut transport = transport.with_limits(self.limits.clone());
        if let Some(authorize) = authorize {
            transport = transport.with_authorization(authorize.clone());
        }
        let headers = self.headers.iter().cloned();
        Ok(headers.fold(transport, |transport, (name, value)| transport.with_header(name, value)))
    }
}

/// Marks an [`HttpServer`] in [`Connect`].
#[derive(Debug)]
pub enum ByAddress {}

impl Connect<ByAddress> for HttpServer {
    /// Connects. If the server at this URL had a handshake before, no probe is sent; if that fails,
    /// one is sent after all.
    async fn connect(self, connector: &Connector) -> Result<Link> {
        let era = RememberedEra::of(&self.url);
        let (authorize, connector) = self.authorized(connector)?;
        let authorize = authorize.as_ref();
        let remembered = connector.without_probe().filter(|_| era.had_handshake());
        if let Some(without_probe) = remembered {
            match without_probe.over(self.transport(authorize)?).await {
                Err(error) if error.speaks_for_another_era(true) => era.forget(),
                outcome => return outcome,
            }
        }
        let link = connector.over(self.transport(authorize)?).await?;
        era.remember(&link);
        Ok(link)
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = shown_url(&self.url);
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpServer").field("address", &address).field("headers", &headers).finish()
    }
}
