//! Opens connections to one server: starts its command, or calls its URL.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use bowline_client::{Client, ClientAuthorization, ClientBuilder, ClientLayer, Command};
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
    /// The URL at which a login may be used: that of a server over HTTP, unless it gets a header
    /// `Authorization` anyway.
    pub fn login_url(&self) -> Option<&str> {
        match self {
            Self::Http(launch) if !launch.has_authorization() => Some(&launch.url),
            _ => None,
        }
    }

    /// Opens a connection of this client: starts the command, whose standard error goes there, or calls
    /// the URL with this credential.
    pub fn connect(
        &self,
        builder: ClientBuilder,
        credential: Option<ServerCredential>,
        stderr: Stderr,
    ) -> BoxFuture<'static, bowline_client::Result<Client>> {
        match self {
            Self::Command(launch) => {
                let command = launch.command().stderr(stderr);
                Box::pin(builder.connect(command))
            }
            Self::Http(launch) => {
                let http = builder.http(&launch.url);
                let headers = launch.headers.iter();
                let http = headers.fold(http, |http, (name, value)| http.header(name, value));
                let http = match credential {
                    Some(ServerCredential::Login(login)) => http.auth(login),
                    Some(ServerCredential::Header(value)) => http.header("Authorization", &value),
                    None => http,
                };
                Box::pin(http.connect())
            }
        }
    }

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
}

impl Dial for Configured {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let builder = layered_builder(declared, limits, self.layer.clone());
        let url = self.launch.login_url().map(str::to_owned);
        let credential = url.as_ref().and_then(|url| self.logins.login(url));
        let connecting = self.launch.connect(builder, credential, self.stderr);
        let logins = self.logins.clone();
        Box::pin(async move {
            let outcome = connecting.await;
            if let (Some(url), Err(error)) = (&url, &outcome)
                && error.http_status() == Some(401)
            {
                logins.refused(url);
            }
            Ok(outcome?)
        })
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
        let connecting = self.connect(builder(declared, limits), None, Stderr::default());
        Box::pin(async move { Ok(connecting.await?) })
    }

    fn is_process(&self) -> bool {
        matches!(self, Self::Command(_))
    }
}

impl CommandLaunch {
    /// A program without variables of its own.
    pub fn new<W: Into<OsString>>(program: W, args: impl IntoIterator<Item = W>) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            inherits_env: false,
            env_file: None,
            cwd: None,
        }
    }

    /// The command of the library.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program).args(&self.args);
        if self.inherits_env {
            command = command.inherit_env();
        }
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
        Self { url: url.into(), headers: Vec::new(), sse: false }
    }

    fn has_authorization(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
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
