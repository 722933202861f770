//! Log messages for the caller.

use std::fmt;

use bowline_proto::request::Outgoing;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::json::RawJson;
use serde::Serialize;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::secret::redact;
use crate::signature::HandlerSignature;

/// Sends log messages to the caller, at the level that the caller asked for.
///
/// The specification deprecates this in favour of standard error and OpenTelemetry; clients up to
/// 2025-11-25 show it to their users all the same. Log no secrets, nothing that names a person, and
/// nothing that helps to break in. Messages bear the name of the tool. They are dropped where the
/// client reads too slowly, and beyond [`Limits::logs_per_minute`].
///
/// ```
/// use bowline_server::Log;
///
/// async fn deploy(log: Log) -> &'static str {
///     log.info("building");
///     log.warning(format_args!("{} tests were skipped", 3));
///     "deployed"
/// }
/// ```
///
/// [`Limits::logs_per_minute`]: bowline_proto::limits::Limits::logs_per_minute
#[derive(Clone, Debug)]
pub struct Log(Call);

impl FromCall for Log {
    fn describe(signature: &mut HandlerSignature) {
        signature.may_log();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        Ok(Self(call.clone()))
    }
}

impl Log {
    /// For those who look for a fault.
    pub fn debug(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Debug, message);
    }

    /// The usual course of things.
    pub fn info(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Info, message);
    }

    /// Unusual, but no fault.
    pub fn notice(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Notice, message);
    }

    /// Something may go wrong.
    pub fn warning(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Warning, message);
    }

    /// Something went wrong.
    pub fn error(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Error, message);
    }

    /// A part has failed.
    pub fn critical(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Critical, message);
    }

    /// An operator must act at once.
    pub fn alert(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Alert, message);
    }

    /// Nothing works any more.
    pub fn emergency(&self, message: impl fmt::Display) {
        self.text(LoggingLevel::Emergency, message);
    }

    /// Says something that is more than text. What cannot be written as JSON is not said, and members
    /// that bear the name of a secret (`password`, `api_key`, `token` …) are blacked out.
    pub fn data<T: Serialize + ?Sized>(&self, level: LoggingLevel, data: &T) {
        if !self.0.wants_log(level) {
            return;
        }
        let Ok(data) = RawJson::from_value(data) else { return };
        let message = LogMessageParams::new(level, redact(data)).with_logger(self.0.name());
        self.0.send_if_room(Outgoing::Log(message));
    }

    fn text(&self, level: LoggingLevel, message: impl fmt::Display) {
        if self.0.wants_log(level) {
            self.data(level, &message.to_string());
        }
    }
}
