//! The handle of an application to one server.

use std::sync::Arc;

use bowline_proto::client::CallRequest;
use bowline_transport::connect::{Host, Link};
use bowline_transport::error::Error as ChannelError;
use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::discover::Discover;
use bowline_types::empty::NoParams;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use bowline_types::legacy::ping::Ping;
use bowline_types::method::{CustomMethod, MessageKind, Method};
use bowline_types::revision::Revision;
use bowline_types::rpc::Rpc;

use crate::builder::ClientBuilder;
use crate::call::ClientCall;
use crate::connect::Connect;
use crate::error::{Error, Result};
use crate::host::Application;
use crate::log_level;
use crate::request;

/// A connection to one server; cheap to clone, and shared by its clones.
///
/// The client detects the server's revision while it connects. The connection ends with
/// [`close`](Self::close), or when the last clone is dropped. A server process that was started for
/// it then ends too.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) link: Link,
    pub(crate) application: Arc<Application>,
    /// The log level that every call asks for.
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
    /// If the server cannot be started, ends before it answers, or speaks no revision that this
    /// library speaks.
    pub async fn connect<How>(server: impl Connect<How>) -> Result<Self> {
        Self::builder("bowline", env!("CARGO_PKG_VERSION")).connect(server).await
    }

    /// Configures a client before it connects; takes the application's name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(Implementation::new(name, version))
    }

    /// The revision that client and server agreed on.
    pub fn revision(&self) -> Revision {
        self.link.profile().revision
    }

    /// The name and version that the server gives itself: for display and logs, not for decisions.
    pub fn server_info(&self) -> Option<&Implementation> {
        self.link.profile().info.as_ref()
    }

    /// What the server offers.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.link.profile().capabilities
    }

    /// The server's instructions for the model: how to use its tools.
    pub fn instructions(&self) -> Option<&str> {
        self.link.profile().instructions.as_deref()
    }

    /// Checks that the server answers, when awaited.
    ///
    /// Up to 2025-11-25 this sends `ping`; 2026-07-28 has none, so it sends `server/discover`.
    /// [`ClientBuilder::keep_alive`] does this automatically.
    ///
    /// # Errors
    ///
    /// If no answer came, or an error as the answer. In the second case
    /// [`Error::is_refused`](crate::Error::is_refused) is true, and the server is alive.
    pub fn ping(&self) -> ClientCall<'static, ()> {
        let pings = Method::Ping.is_from_client(self.revision());
        let mut request = match pings {
            true => self.request::<Ping>(&NoParams {}),
            false => self.request::<Discover>(&NoParams {}),
        };
        request.fresh = true;
        let subject = request.method.name().to_owned();
        ClientCall::new(self.link.clone(), subject, Ok(request), |_, _: &RawJson| Ok(()))
    }

    /// Sends a request of any method when awaited, and returns the result as it came: for tools that
    /// look at servers. Methods of the protocol have functions of their own. `params` hold no `_meta`
    /// of the protocol, which the client adds.
    ///
    /// The name of the method is remembered as long as the process runs, so it should not come from
    /// a peer.
    ///
    /// # Errors
    ///
    /// If the name of the method is invalid or that of a notification, the revision or the server does
    /// not have it ([`Error::is_not_offered`]), or the call fails.
    pub fn raw_request(&self, method: &str, params: Object) -> ClientCall<'static, RawJson> {
        let known = Method::named(method).map_or_else(
            || CustomMethod::register(method, MessageKind::Request).map(Method::Custom),
            Ok,
        );
        let request = known.map_err(|error| Error::input(method, error)).and_then(|known| {
            if known.row().kind != MessageKind::Request {
                return Err(Error::input(method, "it is a notification"));
            }
            let mut request = CallRequest::new(known, params);
            request.log_level = self.log_level;
            request.fresh = true;
            Ok(request)
        });
        let read = |_, result: &RawJson| Ok(result.clone());
        ClientCall::new(self.link.clone(), method.to_owned(), request, read)
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    /// Why the connection broke, as far as that is known: for a server that was started as a command,
    /// how it ended and what it wrote to standard error last. `None` while the connection is open, and
    /// if it was closed as it should.
    pub fn failure(&self) -> Option<Arc<ChannelError>> {
        self.link.failure()
    }

    /// Ends the connection, also for clones of this client. Calls in flight fail. Waits until all
    /// resources are released: a server process that was started for it has ended then.
    pub async fn close(&self) {
        self.link.close().await;
    }

    /// A request with the log level of this client.
    pub(crate) fn request<R: Rpc>(&self, params: &R::Params) -> CallRequest {
        let mut request = request::of::<R>(params);
        request.log_level = self.log_level;
        request
    }

    /// Sets the log level of a session, once. In 2026-07-28 every request carries the level.
    pub(crate) async fn ask_for_logs(&self) {
        let Some(level) = self.log_level else { return };
        let is_per_request = self.revision().has_log_level_per_request();
        if is_per_request || !self.capabilities().supports_logging() {
            return;
        }
        // A client without log messages is still of use, so this is not an error of `connect`.
        if let Err(error) = log_level::set(&self.link, level).await {
            self.application.diagnostic(&error.to_string());
        }
    }
}
