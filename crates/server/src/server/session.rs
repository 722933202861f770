//! Builder methods for notifications: log messages to clients, changed roots from clients.

use std::sync::Arc;

use bowline_types::deprecated::logging::LoggingLevel;

use super::Server;
use crate::feature::NotificationHandler;
use crate::handler::Handler;
use crate::respond::IntoNothing;

impl Server {
    /// Declares that the server sends log messages. Needed only if no handler takes
    /// [`Log`](crate::Log) yet and one that does is registered later.
    #[must_use]
    pub fn logging(self) -> Self {
        self.edit(|inner| inner.registry.declare_logging())
    }

    /// Sets the level of the log messages that a client gets until it sets a level itself (up to
    /// 2025-11-25): [`Info`](LoggingLevel::Info) by default. Since 2026-07-28 each request names its
    /// own level.
    #[must_use]
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.edit(|inner| inner.log_level = level)
    }

    /// Runs a handler when a client sends `notifications/roots/list_changed` (up to 2025-11-25). The
    /// handler may take [`Ask`](crate::Ask) to fetch the roots. While it runs, further notifications
    /// of that client are joined into one.
    ///
    /// ```
    /// use bowline_server::{Ask, Result, Server};
    ///
    /// async fn index(ask: Ask) -> Result {
    ///     for path in ask.roots().await?.paths() {
    ///         // index it
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let server = Server::new("search", "1.0.0").on_roots_changed(index);
    /// ```
    #[must_use]
    pub fn on_roots_changed<M, H>(self, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoNothing + 'static,
    {
        let handler = Arc::new(NotificationHandler::new("changed roots", handler));
        self.edit(|inner| inner.roots_changed = Some(handler))
    }
}
