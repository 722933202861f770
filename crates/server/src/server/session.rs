//! What a server tells its clients beside answers, and hears from them beside requests.

use std::sync::Arc;

use bowline_types::deprecated::logging::LoggingLevel;

use super::Server;
use crate::feature::NotificationHandler;
use crate::handler::Handler;
use crate::respond::IntoNothing;

impl Server {
    /// Declares that the server logs, even if no handler takes [`Log`](crate::Log) now: one that is
    /// registered later may.
    #[must_use]
    pub fn logging(self) -> Self {
        self.edit(|inner| inner.registry.declare_logging())
    }

    /// Sets the least severe log message that a client hears until it sets a level of its own (up to
    /// 2025-11-25): [`Info`](LoggingLevel::Info) by default. Since 2026-07-28 each request says what
    /// it wants to hear.
    #[must_use]
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.edit(|inner| inner.log_level = level)
    }

    /// Runs a handler when a client says that its roots changed (up to 2025-11-25). It may take
    /// [`Ask`](crate::Ask) and fetch them; while it runs, further changes are told once.
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
