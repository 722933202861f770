//! The log level that callers want of the upstream server.
//!
//! Since 2026-07-28 each request states a level. Before, a connection has one level for all: the
//! least severe that a caller has asked for. It is not raised when that caller goes away, since each
//! caller gets only the levels that it asked for.

use bowline_transport::connect::Host as _;
use bowline_types::deprecated::logging::LoggingLevel;

use super::Relay;
use crate::log_level;

impl Relay {
    /// Asks the upstream server for messages of this level, unless it sends them already.
    pub(super) async fn want_level(&self, level: LoggingLevel) {
        let client = &self.client;
        let is_per_request = client.revision().has_log_level_per_request();
        if is_per_request || !self.passes_on() || !client.capabilities().supports_logging() {
            return;
        }
        let Some(asked) = client.application.callers().lower_level(level) else { return };
        match log_level::set(&client.link, level).await {
            Ok(()) => asked.accept(),
            Err(error) => client.application.diagnostic(&error.to_string()),
        }
    }
}
