//! Opens connections to one server: starts its command, or calls its URL.

use std::fmt;
use std::sync::Arc;

use bowline_client::{Client, ClientAuthorization, ClientBuilder, Command, HttpServer};
use bowline_proto::limits::Limits;
use bowline_types::capability::ClientCapabilities;
use futures_core::future::BoxFuture;

use crate::config::{CommandLaunch, HttpLaunch, Launch};
use crate::limits::GatewayLimits;

/// Why a connection could not be opened. The text is for the operator.
pub type DialError = Box<dyn std::error::Error + Send + Sync>;

/// Opens connections to one server. Each call opens another one.
pub trait Dial: Send + Sync + 'static {
    /// Opens a connection that declares these capabilities.
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>>;

    /// Whether each connection is a process of this machine.
    fn is_process(&self) -> bool;
}

/// Gives the servers of a gateway their logins.
pub trait Logins: Send + Sync + 'static {
    /// What authorizes the requests to the server at a URL, if anything does. Asked for each new
    /// connection, and not for servers with a header `Authorization` in their entry.
    fn login(&self, url: &str) -> Option<ServerCredential>;

    /// The server demands another login than it got, or any.
    fn refused(&self, _url: &str) {}
}

/// What authorizes the requests to a server.
#[derive(Clone)]
pub enum ServerCredential {
    /// This value of the header `Authorization`.
    Header(String),
    /// Tokens that are obtained and renewed.
    Login(Arc<dyn ClientAuthorization>),
}

impl fmt::Debug for ServerCredential {
    /// Without the credential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header(_) => "Header",
            Self::Login(_) => "Login",
        })
    }
}

/// A server over HTTP with the login that it may need.
struct LoggedIn {
    launch: HttpLaunch,
    logins: Arc<dyn Logins>,
}

impl Launch {
    /// Opens connections with these logins; see
    /// [`GatewayOptions::dialled_by`](crate::GatewayOptions::dialled_by).
    pub fn with_logins(self, logins: &Arc<dyn Logins>) -> Arc<dyn Dial> {
        match self {
            Self::Http(launch) if !launch.has_credential() => {
                Arc::new(LoggedIn { launch, logins: logins.clone() })
            }
            launch => Arc::new(launch),
        }
    }
}

impl Dial for LoggedIn {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let http = self.launch.configure(builder(declared, limits));
        let http = match self.logins.login(&self.launch.url) {
            Some(ServerCredential::Login(login)) => http.auth(login),
            Some(ServerCredential::Header(value)) => http.header("Authorization", &value),
            None => http,
        };
        let (logins, url) = (self.logins.clone(), self.launch.url.clone());
        Box::pin(async move {
            let outcome = http.connect().await;
            if outcome.as_ref().is_err_and(|error| error.http_status() == Some(401)) {
                logins.refused(&url);
            }
            Ok(outcome?)
        })
    }

    fn is_process(&self) -> bool {
        false
    }
}

impl Dial for Launch {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let builder = builder(declared, limits);
        match self {
            Self::Command(launch) => {
                let command = launch.command();
                Box::pin(async move { Ok(builder.connect(command).await?) })
            }
            Self::Http(launch) => {
                let http = launch.configure(builder);
                Box::pin(async move { Ok(http.connect().await?) })
            }
        }
    }

    fn is_process(&self) -> bool {
        matches!(self, Self::Command(_))
    }
}

impl CommandLaunch {
    /// The command of the library.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program).args(&self.args);
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        match &self.cwd {
            Some(folder) => command.current_dir(folder),
            None => command,
        }
    }
}

impl HttpLaunch {
    /// A URL without headers.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Default::default(), sse: false }
    }

    fn has_credential(&self) -> bool {
        self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
    }

    fn configure(&self, builder: ClientBuilder) -> ClientBuilder<HttpServer> {
        let http = builder.http(&self.url);
        self.headers.iter().fold(http, |http, (name, value)| http.header(name, value))
    }
}

/// A client for connections of a gateway: questions go to its callers, which also decide how long
/// they wait, and results pass unchecked.
pub fn builder(declared: ClientCapabilities, limits: &GatewayLimits) -> ClientBuilder {
    let mut bounds = Limits::default();
    (bounds.request_timeout, bounds.request_deadline) = (limits.call, limits.call);
    // The usual limits are for the user of one client.
    bounds.questions_per_minute = limits.questions_per_minute;
    bounds.questions = limits.open_questions;
    Client::builder("bowline", env!("CARGO_PKG_VERSION"))
        .tasks()
        .limits(bounds)
        .passing_on(declared)
        .unchecked_output()
        .cache(bowline_client::CacheOptions::default())
}

impl fmt::Debug for dyn Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dial").field("is_process", &self.is_process()).finish()
    }
}
