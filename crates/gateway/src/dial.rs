//! Opens connections to one server: starts its command, or calls its URL.

use std::fmt;
use std::sync::Arc;

use bowline_client::{
    Client, ClientAuthorization, ClientBuilder, ClientLayer, Command, HttpServer,
};
use bowline_proto::client::{CallRequest, ServerProfile};
use bowline_proto::limits::Limits;
use bowline_transport::child::Stderr;
use bowline_transport::connect::{CallEnd, ConnectionLayer};
use bowline_transport::transport::Destination;
use bowline_types::capability::ClientCapabilities;
use bowline_types::meta::key;
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

/// A server of a configuration file, with what its connections get from the program.
struct Configured {
    launch: Launch,
    logins: Arc<dyn Logins>,
    layer: Option<Arc<dyn ClientLayer>>,
    stderr: Stderr,
}

impl Launch {
    /// Opens connections with these logins, with a layer around their calls, and with the standard
    /// error of a process there; see
    /// [`GatewayOptions::dialled_by`](crate::GatewayOptions::dialled_by).
    pub fn configured(
        self,
        logins: &Arc<dyn Logins>,
        layer: Option<Arc<dyn ClientLayer>>,
        stderr: Stderr,
    ) -> Arc<dyn Dial> {
        Arc::new(Configured { launch: self, logins: logins.clone(), layer, stderr })
    }

    /// Opens a connection of this client.
    fn open(
        &self,
        builder: ClientBuilder,
        stderr: Stderr,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        match self {
            Self::Command(launch) => {
                let command = launch.command().stderr(stderr);
                Box::pin(async move { Ok(builder.connect(command).await?) })
            }
            Self::Http(launch) => {
                let http = launch.configure(builder);
                Box::pin(async move { Ok(http.connect().await?) })
            }
        }
    }
}

impl Configured {
    /// Opens a connection over HTTP with the login that the server may need.
    fn open_logged_in(
        &self,
        launch: &HttpLaunch,
        builder: ClientBuilder,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let http = launch.configure(builder);
        let http = match self.logins.login(&launch.url) {
            Some(ServerCredential::Login(login)) => http.auth(login),
            Some(ServerCredential::Header(value)) => http.header("Authorization", &value),
            None => http,
        };
        let (logins, url) = (self.logins.clone(), launch.url.clone());
        Box::pin(async move {
            let outcome = http.connect().await;
            if outcome.as_ref().is_err_and(|error| error.http_status() == Some(401)) {
                logins.refused(&url);
            }
            Ok(outcome?)
        })
    }
}

impl Dial for Configured {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let builder = layered_builder(declared, limits, self.layer.clone());
        match &self.launch {
            Launch::Http(launch) if !launch.has_credential() => {
                self.open_logged_in(launch, builder)
            }
            launch => launch.open(builder, self.stderr),
        }
    }

    fn is_process(&self) -> bool {
        self.launch.is_process()
    }
}

impl Dial for Launch {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        self.open(builder(declared, limits), Stderr::default())
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
    layered_builder(declared, limits, None)
}

/// The same with a layer around all calls. What it adds to `_meta` obeys
/// [`GatewayLimits::baggage`] too.
pub fn layered_builder(
    declared: ClientCapabilities,
    limits: &GatewayLimits,
    layer: Option<Arc<dyn ClientLayer>>,
) -> ClientBuilder {
    let mut bounds = Limits::for_client();
    bounds.frame = limits.message;
    bounds.long_messages = limits.long_messages.clone();
    (bounds.request_timeout, bounds.request_deadline) = (limits.call, limits.call);
    // The usual limits are for the user of one client.
    bounds.questions_per_minute = limits.questions_per_minute;
    bounds.questions = limits.open_questions;
    let mut builder = Client::builder("bowline", env!("CARGO_PKG_VERSION"))
        .tasks()
        .limits(bounds)
        .keep_alive(limits.silence, limits.ping)
        .silence_during_calls(limits.call)
        .start_timeout(limits.start)
        .passing_on(declared)
        .unchecked_output()
        .cache(bowline_client::CacheOptions::default());
    if let Some(layer) = layer {
        builder = builder.layer(layer);
    }
    if limits.baggage { builder } else { builder.layer(DropBaggage) }
}

/// Takes the `baggage` of the caller out of each call.
#[derive(Clone, Copy)]
struct DropBaggage;

impl ClientLayer for DropBaggage {
    fn connected(&self, _: &ServerProfile, _: &Destination) -> Arc<dyn ConnectionLayer> {
        Arc::new(*self)
    }
}

impl ConnectionLayer for DropBaggage {
    fn begin(&self, request: &mut CallRequest) -> Option<Box<dyn CallEnd>> {
        request.meta.remove(key::BAGGAGE);
        None
    }
}

impl fmt::Debug for dyn Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dial").field("is_process", &self.is_process()).finish()
    }
}
