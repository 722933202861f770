//! Authorization of a client over HTTP: what gives its requests credentials.

use std::sync::Arc;

use bowline_http::client::Authorize;

use super::HttpServer;
use crate::builder::ClientBuilder;
use crate::error::{Error, Result};

/// What [`ClientBuilder::auth`] takes: settings that become an [`Authorize`] for one server.
pub trait ClientAuthorization: Send + Sync + 'static {
    /// What authorizes requests to the MCP server at this URL. A credential for this server must not
    /// be sent to another one.
    ///
    /// # Errors
    ///
    /// Says which setting is wrong.
    fn authorize(&self, url: &str) -> std::result::Result<Arc<dyn Authorize>, String>;
}

impl ClientAuthorization for Arc<dyn Authorize> {
    fn authorize(&self, _: &str) -> std::result::Result<Arc<dyn Authorize>, String> {
        Ok(self.clone())
    }
}

impl ClientBuilder<HttpServer> {
    /// Authorizes every request, and obtains a credential when the server demands one, which may ask
    /// the user to log in. The time for that does not count against time-outs.
    ///
    /// The headers that it sets replace those of [`header`](Self::header).
    pub fn auth(self, authorization: impl ClientAuthorization) -> Self {
        self.change_server(|server| server.authorization = Some(Arc::new(authorization)))
    }
}

impl HttpServer {
    /// What authorizes the requests to this server, if anything does.
    pub(super) fn authorize(&self) -> Result<Option<Arc<dyn Authorize>>> {
        let authorization = self.authorization.as_ref();
        let authorize = authorization.map(|authorization| authorization.authorize(&self.url));
        authorize.transpose().map_err(Error::address)
    }
}
