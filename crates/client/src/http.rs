//! Servers at an address, spoken to over HTTP.

use std::fmt;

use bowline_http::client::{HttpClientLimits, HttpTransport};
use bowline_transport::connect::Link;
use http::header::{HeaderName, HeaderValue};

use crate::builder::ClientBuilder;
use crate::client::Client;
use crate::connect::{Connect, Opening};
use crate::era::Way;
use crate::error::{Error, Result};

impl Client {
    /// Says what the client is and does before it connects to the server at an address, over
    /// Streamable HTTP in any revision, or the transport that servers had before it.
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
    pub fn http(url: impl Into<String>) -> ClientBuilder<Http> {
        Self::builder("bowline", env!("CARGO_PKG_VERSION")).http(url)
    }
}

impl ClientBuilder {
    /// Connects to the server at an address; see [`Client::http`].
    pub fn http(self, url: impl Into<String>) -> ClientBuilder<Http> {
        let (url, limits) = (url.into(), HttpClientLimits::default());
        self.with_server(Http { url, headers: Vec::new(), limits, problem: None })
    }
}

impl ClientBuilder<Http> {
    /// Sends a header with every request, such as `Authorization`; to this server and nobody else,
    /// wherever it redirects to. Headers of the protocol itself cannot be set.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.change_server(|server| server.header(name, value))
    }

    /// Sets the bounds of requests and streams.
    pub fn http_limits(self, limits: HttpClientLimits) -> Self {
        self.change_server(|server| server.limits = limits)
    }

    /// Connects to the server.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the address or a header is none, the server cannot be reached, or it speaks no revision
    /// that this client speaks; or if a root cannot be one.
    pub async fn connect(self) -> Result<Client> {
        self.open().await
    }
}

/// A server at an address, as a [`ClientBuilder`] knows it.
#[derive(Clone)]
pub struct Http {
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    limits: HttpClientLimits,
    /// A setting that made no sense; told when the client connects.
    problem: Option<String>,
}

impl Http {
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

    fn transport(&self) -> Result<HttpTransport> {
        if let Some(problem) = &self.problem {
            return Err(Error::address(problem));
        }
        let transport = HttpTransport::new(&self.url).map_err(Error::address)?;
        let transport = transport.with_limits(self.limits.clone());
        let headers = self.headers.iter().cloned();
        Ok(headers.fold(transport, |transport, (name, value)| transport.with_header(name, value)))
    }
}

/// Marks what is reached at an address.
#[derive(Debug)]
pub enum Reach {}

impl Connect<Reach> for Http {
    /// Connects; without a probe, if the address led to a server that wants none before, and with
    /// one after all if that was wrong.
    async fn connect(self, opening: &Opening) -> Result<Link> {
        let way = Way::of(&self.url);
        let remembered = opening.without_probe().filter(|_| way.is_legacy());
        if let Some(without_probe) = remembered {
            match without_probe.over(self.transport()?).await {
                Err(error) if error.speaks_for_another_era(true) => way.forget(),
                outcome => return outcome,
            }
        }
        let link = opening.over(self.transport()?).await?;
        way.remember(&link);
        Ok(link)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, _) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Http").field("address", &address).field("headers", &headers).finish()
    }
}
