//! Opens connections to one server: starts its command, or calls its URL.

use std::fmt;

use bowline_client::{Client, ClientBuilder, Command};
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
                let http =
                    launch.headers.iter().fold(builder.http(&launch.url), |http, (name, value)| {
                        http.header(name, value)
                    });
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
