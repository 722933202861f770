//! A record of every call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Owner, Request, Response, Success, SuccessKind};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use serde::Deserialize;
use tokio::time::Instant;

use super::Next;
use super::guard::{Guard, guards, name, sent};

/// Gives a function one [`AuditRecord`] of each call, when it has ended.
///
/// Arguments are left out, because they may hold secrets; see
/// [`with_arguments`](Self::with_arguments).
///
/// ```
/// use bowline_server::Server;
/// use bowline_server::layer::{Audit, AuditRecord};
///
/// let audit = Audit::new(|record: AuditRecord| eprintln!("{record}"));
/// let server = Server::new("audited", "1.0.0").layer(audit);
/// ```
#[derive(Clone)]
pub struct Audit {
    write: Arc<dyn Fn(AuditRecord) + Send + Sync>,
    with_arguments: bool,
}

/// What is recorded of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditRecord {
    /// On whose behalf the call was made.
    pub owner: Owner,
    /// The name and version that the client reports.
    pub client: Option<String>,
    /// The method; `initialize` for a client that opens a session.
    pub method: Method,
    /// The tool, prompt or resource. A very long name is cut.
    pub name: Option<String>,
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// The JSON text of the arguments, if they are wanted.
    pub arguments: Option<Bytes>,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub outcome: AuditOutcome,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// It was answered.
    Completed,
    /// A tool was called, and failed.
    Failed,
    /// It was answered with questions for the user (2026-07-28).
    Asked,
    /// It was refused with an error of this code.
    Refused(i64),
    /// It was cancelled, or the client is gone.
    Cancelled,
}

impl Audit {
    /// Gives each record to a function, which should be quick: calls wait for it.
    pub fn new(write: impl Fn(AuditRecord) + Send + Sync + 'static) -> Self {
        Self { write: Arc::new(write), with_arguments: false }
    }

    /// Also records arguments. Only for logs that may hold secrets.
    #[must_use]
    pub fn with_arguments(mut self) -> Self {
        self.with_arguments = true;
        self
    }
}

guards!(Audit, Audit::clone);

impl Guard for Audit {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response> {
        let Some(method) = sent(&request) else { return Box::pin(next.run(request)) };
        let pending = PendingRecord::new(&self, method, &request);
        Box::pin(async move {
            let response = next.run(request).await;
            pending.end(&response);
            response
        })
    }
}

/// A call that has not ended. If it is dropped first, the call was cancelled.
struct PendingRecord {
    write: Arc<dyn Fn(AuditRecord) + Send + Sync>,
    record: AuditRecord,
    begun: Instant,
}

impl PendingRecord {
    fn new(audit: &Audit, method: Method, request: &Request) -> Self {
        let parts = &request.parts;
        let record = AuditRecord {
            owner: parts.owner.clone(),
            client: parts.client.info.as_ref().map(|info| info.name.clone()),
            method,
            name: name(request),
            revision: parts.revision,
            arguments: request.params.bytes("arguments").filter(|_| audit.with_arguments),
            duration: Duration::ZERO,
            outcome: AuditOutcome::Cancelled,
        };
        Self { write: audit.write.clone(), record, begun: Instant::now() }
    }

    fn end(mut self, response: &Response) {
        self.record.outcome = AuditOutcome::of(response, self.record.method);
    }
}

impl Drop for PendingRecord {
    fn drop(&mut self) {
        self.record.duration = self.begun.elapsed();
        (self.write)(self.record.clone());
    }
}

impl AuditOutcome {
    fn of(response: &Response, method: Method) -> Self {
        match response {
            Err(error) => Self::Refused(error.code),
            Ok(success) if success.kind() == SuccessKind::InputRequired => Self::Asked,
            Ok(success) if method == Method::ToolsCall && is_error(success) => Self::Failed,
            Ok(_) => Self::Completed,
        }
    }
}

/// Whether a tool result has `isError: true`.
fn is_error(success: &Success) -> bool {
    #[derive(Deserialize)]
    struct Result {
        #[serde(rename = "isError", default)]
        is_error: bool,
    }

    success.body().parse().is_ok_and(|result: Result| result.is_error)
}

impl fmt::Display for AuditRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.owner.identity().map_or("anonymous", |(_, subject)| subject);
        // Quoted, so that a name cannot imitate another record.
        write!(f, "{subject:?} {}", self.method)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        write!(f, " {:?} in {:?}", self.outcome, self.duration)
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("with_arguments", &self.with_arguments).finish()
    }
}
