//! What a client is and does, said before it connects.

use std::sync::Arc;

use bowline_proto::client::ClientConfig;
use bowline_proto::limits::Limits;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

use crate::answer::{Answer, Question};
use crate::client::Client;
use crate::connect::{Connect, Opening};
use crate::error::Result;
use crate::host::{Application, Handlers};

/// What a client is and does, said before it connects; made by [`Client::builder`].
///
/// What the client tells the server it can do follows from the handlers that are set: without
/// [`on_ask`](Self::on_ask), no server asks.
#[derive(Clone, Debug)]
#[must_use = "a client is there once `connect` was awaited"]
pub struct ClientBuilder {
    info: Implementation,
    handlers: Handlers,
    log_level: Option<LoggingLevel>,
    revisions: Vec<Revision>,
    limits: Limits,
}

impl ClientBuilder {
    pub(crate) fn new(info: Implementation) -> Self {
        Self {
            info,
            handlers: Handlers::default(),
            log_level: None,
            revisions: Revision::ALL.to_vec(),
            limits: Limits::default(),
        }
    }

    /// Says more of the program than its name and version.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Answers what the server asks the user, by an [`Answer`] or a `Result` of one.
    ///
    /// Questions of one call may be asked at the same time. A question that the server takes back,
    /// or whose call is dropped, has its future dropped.
    ///
    /// ```no_run
    /// use bowline_client::{Client, Command};
    /// use serde_json::json;
    ///
    /// # async fn example() -> bowline_client::Result<()> {
    /// let client = Client::builder("my-app", "1.0.0")
    ///     .on_ask(|question| async move {
    ///         println!("{}", question.message());
    ///         question.accept(json!({ "name": "Ada" }))
    ///     })
    ///     .connect(Command::new("greeter"))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_ask<F, A>(mut self, answer: F) -> Self
    where
        F: Fn(Question) -> A + Send + Sync + 'static,
        A: Future<Output: Into<Answer>> + Send + 'static,
    {
        self.handlers.on_ask(answer);
        self
    }

    /// Hears the server's log messages, of this level and more severe.
    ///
    /// The function runs in the task that drives the connection: it should be quick.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        log: impl Fn(LogMessageParams) + Send + Sync + 'static,
    ) -> Self {
        self.handlers.on_log(log);
        self.log_level = Some(level);
        self
    }

    /// Hears what the server does that it should not, in words for a log: lines that are no
    /// messages, answers that nobody awaits.
    ///
    /// The function runs in the task that drives the connection: it should be quick.
    pub fn on_odd(mut self, odd: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.on_odd(odd);
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

    /// Connects to a server: a [`Command`](crate::Command), or any transport.
    ///
    /// Must be called inside a Tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// If the server cannot be started, is gone before it answers, or speaks no revision that this
    /// client speaks.
    pub async fn connect<How>(self, server: impl Connect<How>) -> Result<Client> {
        let config = ClientConfig::new(self.info, self.handlers.capabilities())
            .with_revisions(self.revisions)
            .with_limits(self.limits);
        let application = Arc::new(Application::new(self.handlers));
        let link = server.connect(&Opening::new(config, Arc::clone(&application))).await?;
        if let Some(info) = &link.profile().info {
            application.meet(info);
        }
        let client = Client { link, log_level: self.log_level };
        client.ask_for_logs(&application).await;
        Ok(client)
    }
}
