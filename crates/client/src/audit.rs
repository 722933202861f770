//! One record per tool call, for whoever keeps account of them.
//!
//! A record says what was called and how it went, never with what or what came of it: arguments and
//! results may hold what nobody wants in a log.

use std::time::Duration;

use bowline_types::implementation::Implementation;
use tokio::time::Instant;

use crate::error::Error;
use crate::hook::Ear;
use crate::server::Server;

/// What is told of a tool call once it is over.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    server: Server,
    tool: String,
    argument_bytes: usize,
    outcome: AuditOutcome,
    duration: Duration,
}

impl AuditRecord {
    /// The server, as [the application calls it](crate::ClientBuilder::label).
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// Who the server says it is; anyone can say anything.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }

    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// How much was sent to it, in bytes of JSON.
    pub fn argument_bytes(&self) -> usize {
        self.argument_bytes
    }

    /// How it ended.
    pub fn outcome(&self) -> AuditOutcome {
        self.outcome
    }

    /// How long it took since it was made; the time that consent took is not counted.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// The tool did what it does.
    Succeeded,
    /// The tool ran and failed.
    ToolFailed,
    /// The call was not made, because consent was denied.
    Denied,
    /// The caller did not wait for the end.
    Cancelled,
    /// The server answered with an error of this code.
    Refused(i64),
    /// No answer came in time; the tool may have run.
    TimedOut,
    /// The connection closed first; the tool may have run.
    Closed,
    /// There is no result for any other reason; the tool may have run.
    Failed,
}

impl AuditOutcome {
    /// How a call without a result ended.
    pub(crate) fn of(error: &Error) -> Self {
        match error.rpc() {
            Some(refusal) => Self::Refused(refusal.code),
            None if error.is_timeout() => Self::TimedOut,
            None if error.is_closed() => Self::Closed,
            None => Self::Failed,
        }
    }
}

/// A record in the making. Dropped before it is closed, it tells of a call that was cancelled.
pub(crate) struct Entry {
    audit: Option<Ear<AuditRecord>>,
    record: AuditRecord,
    begun: Option<Instant>,
}

impl Entry {
    pub(crate) fn open(
        audit: Option<Ear<AuditRecord>>,
        server: Server,
        tool: String,
        argument_bytes: usize,
    ) -> Self {
        let (outcome, duration) = (AuditOutcome::Cancelled, Duration::ZERO);
        let record = AuditRecord { server, tool, argument_bytes, outcome, duration };
        Self { audit, record, begun: None }
    }

    /// The call is made now.
    pub(crate) fn begin(mut self) -> Self {
        self.begun = Some(Instant::now());
        self
    }

    /// The call is over.
    pub(crate) fn close(mut self, outcome: AuditOutcome) {
        self.record.outcome = outcome;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(audit) = &self.audit {
            self.record.duration = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
            audit.hear(&self.record);
        }
    }
}
