//! Asks the application for consent before a tool call, and writes an audit record after it.
//!
//! Tools are foreign code, and a server's description of them cannot be trusted. Without
//! [`on_call`](crate::ClientBuilder::on_call) every call is made: the library calls no tool by
//! itself, so the application has already decided.

use bowline_types::implementation::Implementation;
use bowline_types::json::Object;
use bowline_types::tool::ToolAnnotations;

use crate::audit::{AuditEntry, ToolCallOutcome, ToolCallRecord};
use crate::error::{Error, Result};
use crate::hook::{Hook, Observer};
use crate::server_identity::ServerIdentity;

/// A tool call that is about to be made.
///
/// Show the user the server, the tool and the arguments, which may hold data that the user does not
/// want to send.
#[derive(Clone, Debug)]
pub struct ToolCall {
    server: ServerIdentity,
    tool: String,
    arguments: Object,
    claimed: Option<ToolAnnotations>,
    is_trusted: bool,
}

impl ToolCall {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments that are sent to it.
    pub fn arguments(&self) -> &Object {
        &self.arguments
    }

    /// What the call may do, to base a decision on.
    ///
    /// These are the worst case, which is the default of the specification, unless the server is
    /// [trusted](crate::ClientBuilder::trust_annotations) and annotated the tool when it was listed.
    pub fn hints(&self) -> &ToolAnnotations {
        static WORST: ToolAnnotations = ToolAnnotations::new();
        self.claimed.as_ref().filter(|_| self.is_trusted).unwrap_or(&WORST)
    }

    /// The server's annotations from the last list, true or not: show them, do not rely on them.
    /// `None` without annotations, or if the tools were not listed.
    pub fn claimed_annotations(&self) -> Option<&ToolAnnotations> {
        self.claimed.as_ref()
    }

    /// The application's [name](crate::ClientBuilder::label) for the server.
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// The name and version that the server gives itself, which cannot be trusted.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }
}

/// Whether a tool call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// It may be made.
    Allow,
    /// It may not, for this reason. Nothing is sent to the server, and the call fails; see
    /// [`Error::is_denied`].
    Deny(String),
}

/// The application's hooks around tool calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oversight {
    pub(crate) consent: Option<Hook<ToolCall, Consent>>,
    pub(crate) audit: Option<Observer<ToolCallRecord>>,
    pub(crate) trusts_annotations: bool,
}

impl Oversight {
    /// A call with consent and audit; `None` without such hooks.
    pub(crate) fn attempt(
        &self,
        server: impl FnOnce() -> ServerIdentity,
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

/// A tool call with consent and audit.
#[derive(Debug)]
pub(crate) struct Attempt {
    oversight: Oversight,
    call: ToolCall,
}

impl Attempt {
    /// Asks for consent, makes the call, and writes the audit record; `judge` gives the record's
    /// outcome for a result.
    pub(crate) async fn make<T>(
        self,
        call: impl Future<Output = Result<T>>,
        judge: fn(&T) -> ToolCallOutcome,
    ) -> Result<T> {
        let Self { oversight: Oversight { consent, audit, .. }, call: asked } = self;
        let size = asked.arguments.as_str().len();
        let entry = AuditEntry::open(audit, asked.server.clone(), asked.tool.clone(), size);
        if let Some(consent) = consent {
            let tool = asked.tool.clone();
            if let Consent::Deny(reason) = consent.call(asked).await {
                entry.close(ToolCallOutcome::Denied);
                return Err(Error::denied(&tool, reason));
            }
        }
        let entry = entry.begin();
        let outcome = call.await;
        entry.close(outcome.as_ref().map_or_else(ToolCallOutcome::of, judge));
        outcome
    }
}
