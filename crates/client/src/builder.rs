//! The configuration of a client before it connects.

mod extensions;
mod hooks;

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CacheOptions, ClientConfig};
use bowline_proto::limits::Limits;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

use crate::client::Client;
use crate::connect::{Connect, Connector};
use crate::error::Result;
use crate::host::{Application, Handlers};
use crate::root_list;

/// Configures a client; made by [`Client::builder`], or by `Client::http` for a server at a URL.
///
/// The handlers that are set decide which capabilities the client declares: without
/// [`on_ask`](Self::on_ask), no server asks the user. A builder can be cloned and connect to any
/// number of servers. They share the handlers and nothing else.
///
/// Unless [`limits`](Self::limits) are set, a call fails with a timeout after 60 seconds without an
/// answer or progress ([`Limits::request_timeout`]).
#[derive(Clone, Debug)]
#[must_use = "call `connect` and await it"]
pub struct ClientBuilder<S = ()> {
    /// The server to connect to; `()` if `connect` takes it.
    server: S,
    info: Implementation,
    handlers: Handlers,
    log_level: Option<LoggingLevel>,
    revisions: Vec<Revision>,
    limits: Limits,
    cache: Option<CacheOptions>,
    keep_alive: Option<(Duration, Duration)>,
    silence_during_calls: Duration,
    start_timeout: Option<Duration>,
}

impl ClientBuilder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            server: (),
            info,
            handlers: Handlers::default(),
            log_level: None,
            revisions: Revision::ALL.to_vec(),
            limits: Limits::for_client(),
            cache: None,
            keep_alive: None,
            silence_during_calls: Duration::ZERO,
            start_timeout: None,
        }
    }

    /// Connects to a server: a [`Command`](crate::Command), or any transport.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, ends before it answers, or speaks no revision that this
    /// client speaks; or if one of the [`roots`](Self::roots) is not a valid root.
    pub async fn connect<How>(self, server: impl Connect<How>) -> Result<Client> {
        self.with_server(server).open().await
    }
}

impl<S> ClientBuilder<S> {
    /// Replaces the name and version by a full description of the application.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Sets the revisions that the client speaks; all, unless set. An empty list changes nothing.
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets the limits of this client: sizes, counts and times, among them
    /// [`Limits::request_timeout`], which is 60 seconds unless set. Begin with
    /// [`Limits::for_client`]: the default is that of servers, which take shorter messages.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the longest message that the client takes, in bytes ([`Limits::with_frame`]): 64 MiB
    /// unless set.
    pub fn longest_message(mut self, bytes: usize) -> Self {
        self.limits = self.limits.with_frame(bytes);
        self
    }

    /// Caches lists and resources for as long as their server allows (since 2026-07-28; older
    /// servers do not say how long).
    ///
    /// An entry is dropped when the server reports a change of it. So [`subscribe`](Client::subscribe)
    /// to what is cached for long, and ask for [`fresh`](crate::List::fresh) lists where it matters.
    /// Nothing is prefetched. Every connection has its own cache, so nothing passes from one user's
    /// authorization to another's.
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

    /// Pings a server that has been silent for `interval` (at least a second), and closes the
    /// connection if it is still silent after `timeout`. All calls then fail as
    /// [closed](crate::Error::is_closed), and [`on_diagnostic`](Self::on_diagnostic) gets the reason.
    ///
    /// Without this, a server that hangs is noticed when a call times out. The exit of a server
    /// that was started as a command is noticed at once in any case, and the server can be
    /// [restarted](crate::Command::restart). Choose a `timeout` longer than the longest pause of a
    /// busy server.
    pub fn keep_alive(mut self, interval: Duration, timeout: Duration) -> Self {
        self.keep_alive = Some((interval, timeout));
        self
    }

    /// Lets [`keep_alive`](Self::keep_alive) wait for this long while a call runs that is no list. A
    /// server that does one thing at a time reads no ping while it is busy with a call.
    pub fn silence_during_calls(mut self, longest: Duration) -> Self {
        self.silence_during_calls = longest;
        self
    }

    /// Ends the start of a [`Command`](crate::Command) that has not answered after this time. The error
    /// quotes what the server wrote to standard error last. Without this only the limits count.
    pub fn start_timeout(mut self, longest: Duration) -> Self {
        self.start_timeout = Some(longest);
        self
    }

    /// Turns the check of tool results off: for proxies, which pass results on, and for debugging.
    ///
    /// Without this, a result that does not fit the output schema of its tool is an
    /// [invalid answer](crate::Error::is_invalid_answer). The check needs that the tool was listed
    /// by [`Client::tools`] and that its schema is supported: JSON Schema 2020-12, or draft-07 if it
    /// says so, without look-around in patterns. [`on_diagnostic`](Self::on_diagnostic) gets a message about an
    /// unsupported schema. A call of a tool whose schema refers to other documents, which are never
    /// fetched, fails without being sent.
    pub fn unchecked_output(mut self) -> Self {
        self.handlers.unchecked_output = true;
        self
    }

    /// The same configuration for this server.
    pub(crate) fn with_server<T>(self, server: T) -> ClientBuilder<T> {
        let Self { info, handlers, log_level, revisions, limits, cache, .. } = self;
        let Self { keep_alive, silence_during_calls, start_timeout, .. } = self;
        ClientBuilder {
            server,
            info,
            handlers,
            log_level,
            revisions,
            limits,
            cache,
            keep_alive,
            silence_during_calls,
            start_timeout,
        }
    }

    /// Changes how the server is reached.
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
        self.handlers.extensions.check()?;
        root_list::check_all(self.handlers.roots.list.iter().flatten().cloned())?;
        let mut config = ClientConfig::new(self.info, self.handlers.capabilities())
            .with_revisions(self.revisions)
            .with_limits(self.limits.clone());
        if let Some(options) = self.cache {
            config = config.with_cache(options);
        }
        if let Some((interval, timeout)) = self.keep_alive {
            config = config
                .with_keep_alive(interval, timeout)
                .with_silence_during_calls(self.silence_during_calls);
        }
        let application = Application::new(self.handlers, self.limits);
        let application = Arc::new(application);
        let connector = Connector::new(config, Arc::clone(&application), self.start_timeout);
        let link = self.server.connect(&connector).await?;
        application.connected(&link);
        let client = Client { link, application, log_level: self.log_level };
        client.ask_for_logs().await;
        client.watch_roots();
        Ok(client)
    }
}
