//! Logins of a client: the plans of `bowline-auth` as what authorizes requests.

use std::fmt;
use std::sync::Arc;

use bowline_auth::client::drive::{AuthAttempts, AuthVerdict, Authorizer, LoginPolicy};
use bowline_auth::client::plan::{Browser, Enterprise, Machine, Plan, Workload};
use bowline_auth::error::Error as AuthError;
use bowline_auth::url::Url;
use bowline_http::client::{
    Authorize, AuthorizeMessage, BoxError, GuardedFetcher, LoopbackVisitor, MessageOperation,
    RefusalVerdict,
};
use futures_core::future::BoxFuture;
use http::header::HeaderMap;
use http::{Method, StatusCode, Uri};

use super::HttpServer;
use super::auth::{ClientAuthorization, ProtectedServer};
use crate::builder::ClientBuilder;
use crate::client::Client;
use crate::error::{Error, Result};

impl ClientBuilder<HttpServer> {
    /// Allows authorization servers in a network that is not public, such as `10.0.0.0/8`.
    ///
    /// An MCP server names its authorization server. Without this, the client goes to public
    /// addresses only, and to this machine if the MCP server is on it, so that an MCP server cannot
    /// send it to other services of its network.
    pub fn allow_network(self, network: impl Into<String>) -> Self {
        self.change_server(|server| server.networks.push(network.into()))
    }
}

impl Client {
    /// Ends the login that [`ClientBuilder::auth`] made: asks the authorization server to revoke its
    /// tokens, and deletes them here, whatever the answer is. Other programs with the same store are
    /// logged out too. Cached lists and resources are forgotten. The next call that needs a token logs
    /// in again.
    ///
    /// Does nothing if the client has no login.
    ///
    /// # Errors
    ///
    /// If the store of the login fails.
    pub async fn logout(&self) -> Result<()> {
        let Some(authorize) = self.application.login() else { return Ok(()) };
        let outcome = authorize.log_out().await;
        self.link.clear_cache();
        self.application.forget_tools();
        outcome.map_err(|why| Error::logout(&*why))
    }
}

macro_rules! authorization {
    ($($plan:ident)*) => {$(
        impl ClientAuthorization for $plan {
            fn authorize(
                &self,
                server: &ProtectedServer<'_>,
            ) -> std::result::Result<Arc<dyn Authorize>, String> {
                let authorizer = authorizer(self.clone().into(), server);
                let authorizer = authorizer.map_err(|error| error.to_string())?;
                Ok(Arc::new(Login(authorizer)))
            }

            fn extension(&self) -> Option<&'static str> {
                Plan::from(self.clone()).extension()
            }
        }
    )*};
}

authorization!(Browser Machine Workload Enterprise);

/// Follows a plan for one MCP server.
pub(super) fn authorizer(
    plan: Plan,
    server: &ProtectedServer<'_>,
) -> std::result::Result<Authorizer, AuthError> {
    let (url, _fragment) = server.url.split_once('#').unwrap_or((server.url, ""));
    let mcp = Url::parse(url)?;
    let fetcher = server
        .networks
        .iter()
        .try_fold(GuardedFetcher::for_client(&mcp), |it, network| it.allow_network(network))?;
    let opener = Authorizer::page_opener(&plan);
    let mut authorizer = Authorizer::new(plan, mcp, Arc::new(fetcher));
    if let Some(opener) = opener {
        authorizer = authorizer.with_visitor(Arc::new(LoopbackVisitor::new(opener)));
    }
    if !server.may_be_own_authority {
        authorizer = authorizer.without_2025_03_26();
    }
    Ok(authorizer)
}

/// Authorizes the requests to one MCP server with the tokens of a login.
pub(super) struct Login(pub(super) Authorizer);

impl Authorize for Login {
    fn message(&self, operation: MessageOperation) -> Box<dyn AuthorizeMessage> {
        let attempts = AuthAttempts::default();
        Box::new(LoginMessage { authorizer: self.0.clone(), operation, attempts })
    }

    fn log_out(&self) -> BoxFuture<'_, std::result::Result<(), BoxError>> {
        Box::pin(async move { Ok(self.0.logout().await?) })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Login").field(&self.0).finish()
    }
}

/// Authorizes one message.
struct LoginMessage {
    authorizer: Authorizer,
    operation: MessageOperation,
    attempts: AuthAttempts,
}

impl AuthorizeMessage for LoginMessage {
    fn headers<'a>(
        &'a mut self,
        method: &'a Method,
        url: &'a Uri,
    ) -> BoxFuture<'a, std::result::Result<HeaderMap, BoxError>> {
        Box::pin(async move {
            let url = Url::parse(&url.to_string())?;
            Ok(self.authorizer.headers((method, &url), &mut self.attempts).await?)
        })
    }

    fn refused<'a>(
        &'a mut self,
        status: StatusCode,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, RefusalVerdict> {
        let policy = match self.operation.may_log_in {
            true => LoginPolicy::Allowed,
            false => LoginPolicy::Forbidden,
        };
        Box::pin(async move {
            let Self { authorizer, operation, attempts } = self;
            let refusal = (status, headers);
            match authorizer.refused(refusal, &operation.name, policy, attempts).await {
                AuthVerdict::Retry => RefusalVerdict::SendAgain,
                AuthVerdict::Stands(why) => RefusalVerdict::Stands(why.map(Into::into)),
            }
        })
    }
}
