//! Authorization of an HTTP endpoint: what verifies the credentials of its callers.

#[cfg(feature = "auth")]
mod tokens;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_http::server::{Admit, Body, HttpConfig};
use futures_core::future::BoxFuture;

use super::Http;
use crate::error::BuildError;
use crate::service::Service;

/// What [`Http::auth`] takes: settings that become an [`Admit`] for one URL.
///
/// With the feature `auth`, `Jwt`, `Introspection`, `FixedTokens`, `verify_fn` and an `Arc<dyn Verify>`
/// are such settings.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not verify credentials",
    note = "`bowline::auth` has types that do, with the feature `auth-server`: `Jwt`, `Introspection`, `verify_fn`, `FixedTokens`"
)]
pub trait Authorization: Send + Sync + 'static {
    /// What verifies the credentials of callers of the MCP server at this URL. Tokens must be issued
    /// for exactly this URL.
    ///
    /// # Errors
    ///
    /// Says which setting is wrong.
    fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String>;

    /// Whether the credentials are too weak for an address that other machines can reach.
    fn is_for_loopback_only(&self) -> bool {
        false
    }
}

impl Authorization for Arc<dyn Admit> {
    fn admit_to(self: Arc<Self>, _: &str) -> Result<Arc<dyn Admit>, String> {
        Ok(Arc::unwrap_or_clone(self))
    }
}

/// Where the claims of callers come from.
#[derive(Clone, Default)]
pub(super) enum ClaimsSource {
    /// There are none.
    #[default]
    None,
    /// Outer layers attach them.
    Outer,
    /// The endpoint takes them from verified credentials.
    Verified(Arc<dyn Authorization>),
}

impl ClaimsSource {
    /// Whether the endpoint verifies credentials itself.
    pub(super) fn is_verified(&self) -> bool {
        matches!(self, Self::Verified(_))
    }

    /// Why the endpoint must not listen on an address that other machines can reach, unless the
    /// program allows every client.
    pub(super) fn refuses_network(&self, is_open_to_all: bool) -> Option<&'static str> {
        match self {
            Self::Verified(authorization) if authorization.is_for_loopback_only() => Some(
                "its credentials are for development on this machine: bind to 127.0.0.1, or verify \
                 tokens of an authorization server",
            ),
            Self::Verified(_) => None,
            _ if is_open_to_all => None,
            Self::None | Self::Outer => Some(
                "the server checks no credentials: bind to 127.0.0.1 behind a proxy, call \
                 `auth(..)`, or call `allow_unauthenticated_network()`",
            ),
        }
    }

    /// Completes the settings of an endpoint for a server at a URL.
    ///
    /// # Errors
    ///
    /// If the server needs claims and there are none, or a setting is wrong.
    pub(super) fn configure(
        &self,
        config: HttpConfig,
        service: &Service,
        resource: Option<&str>,
    ) -> Result<HttpConfig, BuildError> {
        match self {
            Self::None => match needs_authorization(service) {
                None => Ok(config),
                Some(why) => Err(BuildError::new(format!(
                    "{why}, but the HTTP endpoint has no `.auth(..)`; if an outer layer verifies \
                     credentials and attaches `Claims`, call `.trust_outer_claims()`"
                ))),
            },
            Self::Outer => Ok(config.with_outer_claims()),
            Self::Verified(authorization) => {
                let missing = "`.auth(..)` needs `.public_url(..)`: tokens are issued for that URL";
                let resource = resource.ok_or_else(|| BuildError::new(missing))?;
                let admit = authorization.clone().admit_to(resource).map_err(BuildError::new)?;
                Ok(config.with_admit(admit))
            }
        }
    }
}

fn needs_authorization(service: &Service) -> Option<String> {
    bowline_proto::upstream::Upstream::needs_authorization(service)
}

impl Http {
    /// Verifies the credentials of every request. Requests without a good one are refused with 401,
    /// and the endpoint may be bound to an address that other machines can reach.
    ///
    /// Handlers can take the [`Claims`](crate::Claims) of their caller, and features can need scopes
    /// ([`Tool::require_scope`](crate::Tool::require_scope)). The credential itself is removed from
    /// the headers that handlers see: a server must not pass it on.
    ///
    /// Tokens have to be issued for the [`public_url`](Self::public_url). Without one,
    /// [`bind`](Self::bind) to an address of this machine takes the URL of that address.
    #[must_use]
    pub fn auth(mut self, authorization: impl Authorization) -> Self {
        self.claims = ClaimsSource::Verified(Arc::new(authorization));
        self.changed(|config| config)
    }

    /// Declares that an outer layer verifies the credentials of every request, and attaches
    /// [`Claims`](crate::Claims), or an [`Access`](crate::Access), to the extensions of the HTTP
    /// request. Without either, a caller has no scopes.
    ///
    /// The layer should attach [`Claims::owner`](crate::Claims::owner) too: sessions belong to the
    /// owner that it finds there.
    #[must_use]
    pub fn trust_outer_claims(mut self) -> Self {
        self.claims = ClaimsSource::Outer;
        self.changed(|config| config)
    }

    /// The metadata document of an endpoint with [`auth`](Self::auth), as a service for programs that
    /// mount the endpoint below a path. Mount it at `/.well-known/oauth-protected-resource`, where
    /// clients look for it. The listener of [`bind`](Self::bind) serves it already.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use bowline_server::{Server, http::Admit};
    /// # fn example(authorization: Arc<dyn Admit>) {
    /// let http = Server::new("api", "1.0.0").http();
    /// let http = http.public_url("https://mcp.example.com/mcp").auth(authorization);
    /// let metadata = http.metadata();
    /// // axum::Router::new()
    /// //     .nest_service("/mcp", http)
    /// //     .nest_service("/.well-known/oauth-protected-resource", metadata)
    /// # let _ = metadata;
    /// # }
    /// ```
    pub fn metadata(&self) -> HttpMetadata {
        HttpMetadata(self.clone())
    }
}

/// The metadata document of an endpoint with authorization, as a tower service; see
/// [`Http::metadata`].
#[derive(Clone, Debug)]
pub struct HttpMetadata(Http);

impl<B> tower_service::Service<http::Request<B>> for HttpMetadata {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let response = match self.0.build() {
            Ok(endpoint) => endpoint.metadata(&request.into_parts().0),
            Err(error) => bowline_http::server::failed(&error.to_string()),
        };
        Box::pin(async move { Ok(response) })
    }
}

impl fmt::Debug for ClaimsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Outer => "Outer",
            Self::Verified(_) => "Verified",
        })
    }
}
