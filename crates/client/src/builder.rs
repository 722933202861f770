//! What a client is and does, said before it connects.

mod hooks;

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CacheOptions, ClientConfig};
use bowline_proto::limits::Limits;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

use crate::client::Client;
use crate::connect::{Connect, Opening};
use crate::error::Result;
use crate::host::{Application, Handlers};
use crate::roots;

/// What a client is and does, said before it connects; made by [`Client::builder`], or by
/// `Client::http` for a server at an address.
///
/// What the client tells the server it can do follows from the handlers that are set: without
/// [`on_ask`](Self::on_ask), no server asks. A builder can be cloned, and connects to any number of
/// servers; each then meets the same handlers, and nothing of the others.
#[derive(Clone, Debug)]
#[must_use = "a client is there once `connect` was awaited"]
pub struct ClientBuilder<S = ()> {
    /// Whom it connects to, as far as that is known.
    server: S,
    info: Implementation,
    handlers: Handlers,
    log_level: Option<LoggingLevel>,
    revisions: Vec<Revision>,
    limits: Limits,
    cache: Option<CacheOptions>,
    keep_alive: Option<(Duration, Duration)>,
}

impl ClientBuilder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            server: (),
            info,
            handlers: Handlers::default(),
            log_level: None,
            revisions: Revision::ALL.to_vec(),
            limits: Limits::default(),
            cache: None,
            keep_alive: None,
        }
    }

    /// Connects to a server: a [`Command`](crate::Command), or any transport.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, is gone before it answers, or speaks no revision that this
    /// client speaks; or if a root cannot be one.
    pub async fn connect<How>(self, server: impl Connect<How>) -> Result<Client> {
        self.with_server(server).open().await
    }
}

impl<S> ClientBuilder<S> {
    /// Says more of the program than its name and version.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Speaks only these revisions; all, unless set. An empty list changes nothing.
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps lists and resources for as long as their server allows, and gives them again without
    /// asking (since 2026-07-28; before, servers do not say how long).
    ///
    /// What the server says has changed is forgotten, so [`subscribe`](Client::subscribe) to what
    /// is kept for long, and ask for [`fresh`](crate::List::fresh) lists where it matters. Nothing
    /// is fetched before it is asked for; whoever polls anyway spreads the requests out and does so
    /// less often when they fail. Every connection keeps its own, and so nothing passes from one
    /// caller's authorization to another's.
    ///
    /// ```no_run
    /// use bowline_client::{CacheOptions, Client, Command};
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let docs = Client::builder("my-app", "1.0.0")
    ///     .cache(CacheOptions::default())
    ///     .connect(Command::new("docs-server"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cache(mut self, options: CacheOptions) -> Self {
        self.cache = Some(options);
        self
    }

    /// Asks a server that has been silent for this long, a second at least, whether it is still
    /// there, and gives the connection up if it is silent for the time-out after that. All calls
    /// then fail as [closed](crate::Error::is_closed), and [`on_odd`](Self::on_odd) is told why.
    ///
    /// Without this, a server that hangs is noticed when a call of it times out. The end of a
    /// server that was started as a command is noticed at once in any case, and it can be
    /// [started again](crate::Command::restart). A busy server may be late, so allow for its longest
    /// pause.
    pub fn keep_alive(mut self, interval: Duration, timeout: Duration) -> Self {
        self.keep_alive = Some((interval, timeout));
        self
    }

    /// Passes the results of tools on as they come: for those who hand them on, or look for faults.
    ///
    /// Without this, a result that does not fit the output schema of its tool is an
    /// [invalid answer](crate::Error::is_invalid_answer), as far as the tool was listed by
    /// [`Client::tools`] and its schema can be used: JSON Schema 2020-12, or draft-07 if it says so,
    /// without patterns that look around. That a schema cannot be used is told to
    /// [`on_odd`](Self::on_odd). A tool whose schema refers to other documents, which are never
    /// fetched, is not called at all.
    pub fn unchecked_output(mut self) -> Self {
        self.handlers.unchecked_output = true;
        self
    }

    /// The same for a server that is known.
    pub(crate) fn with_server<T>(self, server: T) -> ClientBuilder<T> {
        let Self { info, handlers, log_level, revisions, limits, cache, keep_alive, .. } = self;
        ClientBuilder { server, info, handlers, log_level, revisions, limits, cache, keep_alive }
    }

    /// Says more of the server.
    #[cfg(feature = "http")]
    pub(crate) fn change_server(mut self, change: impl FnOnce(&mut S)) -> Self {
        change(&mut self.server);
        self
    }

    /// Connects to the server.
    pub(crate) async fn open<How>(self) -> Result<Client>
    where
        S: Connect<How>,
    {
        roots::checked(self.handlers.roots.list.iter().flatten().cloned())?;
        let mut config = ClientConfig::new(self.info, self.handlers.capabilities())
            .with_revisions(self.revisions)
            .with_limits(self.limits);
        if let Some(options) = self.cache {
            config = config.with_cache(options);
        }
        if let Some((interval, timeout)) = self.keep_alive {
            config = config.with_keep_alive(interval, timeout);
        }
        let application = Arc::new(Application::new(self.handlers, self.log_level));
        let link = self.server.connect(&Opening::new(config, Arc::clone(&application))).await?;
        application.connected(&link);
        let client = Client { link, application, log_level: self.log_level };
        client.ask_for_logs().await;
        client.watch_roots();
        Ok(client)
    }
}
