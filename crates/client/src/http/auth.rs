//! Authorization of a client over HTTP: what gives its requests credentials.

use std::sync::Arc;

use bowline_http::client::Authorize;
use http::header::AUTHORIZATION;

use super::HttpServer;
use crate::builder::ClientBuilder;
use crate::connect::Connector;
use crate::error::{Error, Result};

/// What [`ClientBuilder::auth`] takes: settings that become an [`Authorize`] for one server.
pub trait ClientAuthorization: Send + Sync + 'static {
    /// What authorizes requests to an MCP server. A credential for this server must not be sent to
    /// another one.
    ///
    /// # Errors
    ///
    /// Says which setting is wrong.
    fn authorize(
        &self,
        server: &ProtectedServer<'_>,
    ) -> std::result::Result<Arc<dyn Authorize>, String>;

    /// The extension of the protocol that the client declares in its capabilities.
    fn extension(&self) -> Option<&'static str> {
        None
    }
}

/// The MCP server that a [`ClientAuthorization`] is for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProtectedServer<'a> {
    /// Its URL.
    pub url: &'a str,
    /// The networks that are allowed beside public addresses (`ClientBuilder::allow_network`).
    pub networks: &'a [String],
    /// Whether the client offers 2025-03-26, in which a server can be its own authorization server.
    pub may_be_own_authority: bool,
}

impl ClientAuthorization for Arc<dyn Authorize> {
    fn authorize(
        &self,
        _: &ProtectedServer<'_>,
    ) -> std::result::Result<Arc<dyn Authorize>, String> {
        Ok(self.clone())
    }
}

impl ClientAuthorization for Arc<dyn ClientAuthorization> {
    fn authorize(
        &self,
        server: &ProtectedServer<'_>,
    ) -> std::result::Result<Arc<dyn Authorize>, String> {
        (**self).authorize(server)
    }

    fn extension(&self) -> Option<&'static str> {
        (**self).extension()
    }
}

impl ClientBuilder<HttpServer> {
    /// Authorizes every request, and obtains a credential when the server demands one, which may ask
    /// the user to log in. The time for that does not count against timeouts.
    ///
    /// It cannot be combined with a [`header`](Self::header) `Authorization`.
    pub fn auth(self, authorization: impl ClientAuthorization) -> Self {
        self.change_server(|server| server.authorization = Some(Arc::new(authorization)))
    }
}

impl HttpServer {
    /// What authorizes the requests to this server, if anything does, and a connector that declares
    /// the extension for it.
    pub(super) fn authorized(
        &self,
        connector: &Connector,
    ) -> Result<(Option<Arc<dyn Authorize>>, Connector)> {
        let Some(authorization) = &self.authorization else { return Ok((None, connector.clone())) };
        if self.headers.iter().any(|(name, _)| name == AUTHORIZATION) {
            let reason =
                "`.auth(..)` and a header `Authorization` are both set; remove one of them";
            return Err(Error::address(reason));
        }
        let server = ProtectedServer {
            url: &self.url,
            networks: &self.networks,
            may_be_own_authority: connector.speaks_with_authorization_at_origin(),
        };
        let authorize = authorization.authorize(&server).map_err(Error::address)?;
        connector.log_out_with(&authorize);
        let connector = match authorization.extension() {
            Some(extension) => connector.with_extension(extension)?,
            None => connector.clone(),
        };
        Ok((Some(authorize), connector))
    }
}
