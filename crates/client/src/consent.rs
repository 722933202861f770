//! Asks the application before a tool runs, and tells it afterwards how the call went.
//!
//! Tools are somebody else's code, and what a server says of them is no more than that. Without
//! [`on_call`](crate::ClientBuilder::on_call) every call is made: the library calls no tool by
//! itself, so whoever calls has decided already.

use bowline_types::implementation::Implementation;
use bowline_types::json::Object;
use bowline_types::tool::ToolAnnotations;

use crate::audit::{AuditOutcome, AuditRecord, Entry};
use crate::error::{Error, Result};
use crate::hook::{Ear, Hook};
use crate::server::Server;

/// A tool call that is about to be made.
///
/// Show the user which server it goes to, the tool and the arguments: they may hold more than the
/// user wants to leave this machine.
#[derive(Clone, Debug)]
pub struct ToolCall {
    server: Server,
    tool: String,
    arguments: Object,
    claimed: Option<ToolAnnotations>,
    is_trusted: bool,
}

impl ToolCall {
    /// The tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// All that is sent to it.
    pub fn arguments(&self) -> &Object {
        &self.arguments
    }

    /// What the call may do to the world, to base a decision on.
    ///
    /// That is the worst, as the specification's defaults have it, unless the server is
    /// [trusted](crate::ClientBuilder::trust_annotations) and said better when it listed its tools.
    pub fn hints(&self) -> &ToolAnnotations {
        static WORST: ToolAnnotations = ToolAnnotations::new();
        self.claimed.as_ref().filter(|_| self.is_trusted).unwrap_or(&WORST)
    }

    /// What the server said of the tool when it last listed it, true or not: to be shown, not to be
    /// believed. `None` if it said nothing or was not asked for a list.
    pub fn claimed_annotations(&self) -> Option<&ToolAnnotations> {
        self.claimed.as_ref()
    }

    /// The server, as [the application calls it](crate::ClientBuilder::label).
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// Who the server says it is; anyone can say anything.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }
}

/// Whether a tool call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It may.
    Allow,
    /// It may not, and this is why. The server hears nothing of it; the call fails with an error
    /// that [says so](Error::is_denied).
    Deny(String),
}

/// Who watches over the tool calls of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oversight {
    pub(crate) consent: Option<Hook<ToolCall, Consent>>,
    pub(crate) audit: Option<Ear<AuditRecord>>,
    pub(crate) trusts_annotations: bool,
}

impl Oversight {
    /// A call that is watched over; `None` if nobody wants to.
    pub(crate) fn attempt(
        &self,
        server: impl FnOnce() -> Server,
        tool: &str,
        arguments: &Object,
        claimed: impl FnOnce() -> Option<ToolAnnotations>,
    ) -> Option<Attempt> {
        if self.consent.is_none() && self.audit.is_none() {
            return None;
        }
        let call = ToolCall {
            server: server(),
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            claimed: claimed(),
            is_trusted: self.trusts_annotations,
        };
        Some(Attempt { oversight: self.clone(), call })
    }
}

/// A tool call that is watched over.
#[derive(Debug)]
pub(crate) struct Attempt {
    oversight: Oversight,
    call: ToolCall,
}

impl Attempt {
    /// Asks whether the call may be made, makes it, and tells how it ended; `judge` says how a
    /// result counts.
    pub(crate) async fn make<T>(
        self,
        call: impl Future<Output = Result<T>>,
        judge: fn(&T) -> AuditOutcome,
    ) -> Result<T> {
        let Self { oversight: Oversight { consent, audit, .. }, call: asked } = self;
        let size = asked.arguments.as_str().len();
        let entry = Entry::open(audit, asked.server.clone(), asked.tool.clone(), size);
        if let Some(consent) = consent {
            let tool = asked.tool.clone();
            if let Consent::Deny(reason) = consent.call(asked).await {
                entry.close(AuditOutcome::Denied);
                return Err(Error::denied(&tool, reason));
            }
        }
        let entry = entry.begin();
        let outcome = call.await;
        entry.close(outcome.as_ref().map_or_else(AuditOutcome::of, judge));
        outcome
    }
}
