//! The login at one server, without a connection to it.

use std::sync::Arc;

use bowline_auth::client::drive::{AuthAttempts, Authorizer, LoginDemand, LoginStatus};
use bowline_auth::client::plan::Plan;
use bowline_auth::error::Error as AuthError;
use bowline_auth::url::Url;
use bowline_http::client::Authorize;
use http::Method;
use http::header::HeaderMap;

use super::auth::{ClientAuthorization, ProtectedServer};
use super::login::{Login, authorizer};

/// The login at one server, for programs that show, begin or end logins without a connection.
///
/// [`ClientBuilder::auth`](crate::ClientBuilder::auth) takes it too; then the connection and this
/// value share the tokens.
///
/// ```no_run
/// use bowline_auth::client::plan::Browser;
/// use bowline_auth::client::store::FileStore;
/// use bowline_client::ServerLogin;
///
/// # async fn example() -> Result<(), bowline_auth::error::Error> {
/// let browser = Browser::new("my client").store(FileStore::open("my-client/logins")?);
/// let login = ServerLogin::new(browser, "https://crm.example.com/mcp", &[])?;
/// if let Some(status) = login.status().await? {
///     println!("logged in at {} with {}", status.issuer, status.scopes);
///     login.log_out().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ServerLogin {
    authorizer: Authorizer,
    url: String,
    extension: Option<&'static str>,
}

impl ServerLogin {
    /// Follows a plan for the server at a URL. Authorization servers may be in these networks, beside
    /// public addresses (see [`allow_network`](crate::ClientBuilder::allow_network)).
    ///
    /// # Errors
    ///
    /// If the URL or a network is none.
    pub fn new(
        plan: impl Into<Plan>,
        url: impl Into<String>,
        networks: &[String],
    ) -> Result<Self, AuthError> {
        let (plan, url) = (plan.into(), url.into());
        let extension = plan.extension();
        let server = ProtectedServer { url: &url, networks, may_be_own_authority: true };
        let authorizer = authorizer(plan, &server)?;
        Ok(Self { authorizer, url, extension })
    }

    /// The login that the store holds; `None` if there is none, or it has ended.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn status(&self) -> Result<Option<LoginStatus>, AuthError> {
        self.authorizer.status().await
    }

    /// What the server demanded when it refused a message of a connection with this login last.
    pub fn demand(&self) -> Option<LoginDemand> {
        self.authorizer.demand()
    }

    /// Logs in now, whether or not the server has demanded it. Asks for the scopes of the plan, and
    /// for those that the login has already.
    ///
    /// # Errors
    ///
    /// If the login fails, or the server names no authorization server.
    pub async fn log_in(&self) -> Result<(), AuthError> {
        self.authorizer.log_in_now().await
    }

    /// Ends the login, as [`Client::logout`](crate::Client::logout) does.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn log_out(&self) -> Result<(), AuthError> {
        self.authorizer.logout().await
    }

    /// The headers that authorize one POST request to the server, for programs that send their own. A
    /// token that expires soon is renewed first. There are none without a login.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn headers(&self) -> Result<HeaderMap, AuthError> {
        let (url, _fragment) = self.url.split_once('#').unwrap_or((&self.url, ""));
        let url = Url::parse(url)?;
        self.authorizer.headers((&Method::POST, &url), &mut AuthAttempts::default()).await
    }
}

impl ClientAuthorization for ServerLogin {
    fn authorize(&self, server: &ProtectedServer<'_>) -> Result<Arc<dyn Authorize>, String> {
        match server.url == self.url {
            true => Ok(Arc::new(Login(self.authorizer.clone()))),
            false => Err(format!("the login is for `{}`", self.url)),
        }
    }

    fn extension(&self) -> Option<&'static str> {
        self.extension
    }
}
