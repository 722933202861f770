//! The handle that people call through.

use std::sync::Arc;

use bowline_proto::client::CallRequest;
use bowline_transport::connect::{Host, Link};
use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::discover::Discover;
use bowline_types::empty::NoParams;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::legacy::ping::Ping;
use bowline_types::legacy::set_level::{SetLevel, SetLevelParams};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::rpc::Rpc;

use crate::builder::ClientBuilder;
use crate::call::{self, Call};
use crate::connect::Connect;
use crate::error::Result;
use crate::host::Application;

/// A connection to one server; cheap to clone, and shared by its clones.
///
/// Which revision the server speaks is found out while connecting and matters to nobody after. The
/// connection ends with [`close`](Self::close), or when the last clone is dropped; a server that
/// was started for it is then gone too.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) link: Link,
    pub(crate) application: Arc<Application>,
    /// What every call asks to be logged.
    pub(crate) log_level: Option<LoggingLevel>,
}

impl Client {
    /// Connects to a server: a [`Command`](crate::Command), which is started, or any transport.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    /// use serde_json::json;
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let git = Client::connect(Command::new("uvx").arg("mcp-server-git")).await?;
    /// let status = git.call("git_status", json!({ "repo_path": "." })).await?.text();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the server cannot be started, is gone before it answers, or speaks no revision that this
    /// library speaks.
    pub async fn connect<How>(server: impl Connect<How>) -> Result<Self> {
        Self::builder("bowline", env!("CARGO_PKG_VERSION")).connect(server).await
    }

    /// Says what the client is and does before it connects: its name and version here.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    /// The revision that is spoken.
    pub fn revision(&self) -> Revision {
        self.link.profile().revision
    }

    /// Who the server says it is: for display and logs, not for decisions.
    pub fn server_info(&self) -> Option<&Implementation> {
        self.link.profile().info.as_ref()
    }

    /// What the server offers.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.link.profile().capabilities
    }

    /// How to use the server, in its own words: a hint for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.link.profile().instructions.as_deref()
    }

    /// Asks whether the server is still there, when awaited.
    ///
    /// Up to 2025-11-25 that is a `ping`; since 2026-07-28 there is none, and the server is asked
    /// who it is instead. [`ClientBuilder::keep_alive`] does it by itself.
    ///
    /// # Errors
    ///
    /// If no answer came, or one that is an error; that is a sign of life too, and can be told by
    /// [`Error::is_refused`](crate::Error::is_refused).
    pub fn ping(&self) -> Call<'static, ()> {
        let pings = Method::Ping.is_from_client(self.revision());
        let mut request = match pings {
            true => self.request::<Ping>(&NoParams {}),
            false => self.request::<Discover>(&NoParams {}),
        };
        request.fresh = true;
        let subject = request.method.name().to_owned();
        Call::new(self.link.clone(), subject, Ok(request), |_, _: &RawJson| Ok(()))
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    /// Ends the connection, also for clones of this client, and waits until all that it held is
    /// released: a server that was started for it is gone then. Calls in flight fail.
    pub async fn close(&self) {
        self.link.close().await;
    }

    /// A request, with what every request of this client asks for.
    pub(crate) fn request<R: Rpc>(&self, params: &R::Params) -> CallRequest {
        let mut request = call::request::<R>(params);
        request.log_level = self.log_level;
        request
    }

    /// Asks a session for log messages once; later revisions are asked with every call.
    pub(crate) async fn ask_for_logs(&self) {
        let Some(level) = self.log_level else { return };
        if self.revision().is_modern() || !self.capabilities().supports_logging() {
            return;
        }
        // Missing logs are no reason to have no client.
        if let Err(error) = set_level(&self.link, level).await {
            self.application.odd(&error.to_string());
        }
    }
}

/// Asks a session for log messages down to a level.
pub(crate) async fn set_level(link: &Link, level: LoggingLevel) -> Result<()> {
    let request = call::request::<SetLevel>(&SetLevelParams::new(level));
    call::ask(link, SetLevel::METHOD.name(), request).await.map(drop)
}
