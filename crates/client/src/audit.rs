//! One audit record per tool call.
//!
//! A record names the tool and the outcome, but holds neither arguments nor results, which may be
//! private.

use std::time::Duration;

use bowline_types::implementation::Implementation;
use tokio::time::Instant;

use crate::error::Error;
use crate::hook::Observer;
use crate::server_identity::ServerIdentity;

/// The record of a tool call after its end.
#[derive(Clone, Debug)]
pub struct ToolCallRecord {
    server: ServerIdentity,
    tool: String,
    argument_bytes: usize,
    outcome: ToolCallOutcome,
    duration: Duration,
}

impl ToolCallRecord {
    /// The application's [name](crate::ClientBuilder::label) for the server.
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// The name and version that the server gives itself, which cannot be trusted.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The size of the arguments in bytes of JSON.
    pub fn argument_bytes(&self) -> usize {
        self.argument_bytes
    }

    /// How the call ended.
    pub fn outcome(&self) -> ToolCallOutcome {
        self.outcome
    }

    /// How long the call took, without the time for consent.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolCallOutcome {
    /// The tool succeeded.
    Succeeded,
    /// The tool ran and failed.
    ToolFailed,
    /// Consent was denied, so the call was not sent.
    Denied,
    /// The caller dropped the call.
    Cancelled,
    /// The server answered with an error of this code.
    Refused(i64),
    /// No answer came in time; the tool may have run.
    TimedOut,
    /// The connection closed first; the tool may have run.
    Closed,
    /// The call was started with [`ClientCall::task`](crate::ClientCall::task), so its end is not
    /// known.
    Started,
    /// The call failed for another reason; the tool may have run.
    Failed,
}

impl ToolCallOutcome {
    /// The outcome of a call that failed.
    pub(crate) fn of(error: &Error) -> Self {
        match error.rpc() {
            Some(refusal) => Self::Refused(refusal.code),
            None if error.is_timeout() => Self::TimedOut,
            None if error.is_closed() => Self::Closed,
            None => Self::Failed,
        }
    }
}

/// The record of a call in progress. If it is dropped before `close`, the call was cancelled.
pub(crate) struct AuditEntry {
    audit: Option<Observer<ToolCallRecord>>,
    record: ToolCallRecord,
    begun: Option<Instant>,
}

impl AuditEntry {
    pub(crate) fn open(
        audit: Option<Observer<ToolCallRecord>>,
        server: ServerIdentity,
        tool: String,
        argument_bytes: usize,
    ) -> Self {
        let (outcome, duration) = (ToolCallOutcome::Cancelled, Duration::ZERO);
        let record = ToolCallRecord { server, tool, argument_bytes, outcome, duration };
        Self { audit, record, begun: None }
    }

    /// Notes that the call is sent now.
    pub(crate) fn begin(mut self) -> Self {
        self.begun = Some(Instant::now());
        self
    }

    /// Notes how the call ended, and writes the record.
    pub(crate) fn close(mut self, outcome: ToolCallOutcome) {
        self.record.outcome = outcome;
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        if let Some(audit) = &self.audit {
            self.record.duration = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
            audit.call(&self.record);
        }
    }
}
