//! Why a question has no answer.

use std::fmt;

use bowline_proto::project::Project;
use bowline_proto::request::{Parts, QuestionError};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;

/// Why a question has no answer.
///
/// If a tool fails with one of these by `?`, the model reads what the user did. What the client
/// lacks is answered with an error for the client, where its revision has one.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The user said no.
    Declined,
    /// The user made no choice.
    Cancelled,
    /// The client cannot be asked this, and why not.
    Unsupported(Box<Unsupported>),
    /// The answer is not of the kind that was asked for.
    Invalid(String),
    /// What came back is no answer at all: the client broke the protocol.
    Malformed(String),
    /// The client did not answer, or refused the request.
    Failed(QuestionError),
    /// The question must not be sent, which is a fault of the server: a form that is not flat or asks
    /// for a secret, a page that users must not be sent to, a conversation that makes no sense.
    Unaskable(String),
}

impl AskError {
    /// The error that the request is answered with, if this is not for the model.
    pub(crate) fn refusal(&self, revision: Revision) -> Option<ErrorObject> {
        match self {
            Self::Unsupported(lack) if revision.has_missing_capability_code() => {
                Some(ErrorObject::missing_capability(lack.required.clone(), self.to_string()))
            }
            Self::Malformed(_) if revision.has_input_requests() => {
                Some(ErrorObject::invalid_params(self.to_string()))
            }
            Self::Unaskable(_) => Some(ErrorObject::internal(self.to_string())),
            _ => None,
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => f.write_str("the user declined to answer"),
            Self::Cancelled => f.write_str("the user closed the question without answering"),
            Self::Unsupported(lack) => lack.fmt(f),
            Self::Invalid(reason) => write!(f, "the answer does not fit: {reason}"),
            Self::Malformed(reason) => f.write_str(reason),
            Self::Failed(error) => write!(f, "the question was not answered: {error}"),
            Self::Unaskable(reason) => write!(f, "the question cannot be put: {reason}"),
        }
    }
}

/// Why a client cannot be asked something.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unsupported {
    /// What the client would have to declare.
    pub required: ClientCapabilities,
    /// The revision that the client speaks, if it has no such question: no client that speaks it can
    /// declare what is required.
    pub revision: Option<Revision>,
}

impl Unsupported {
    /// What keeps a caller from being asked what takes these capabilities, if anything does.
    pub(crate) fn by(caller: &Parts, required: &ClientCapabilities) -> Option<Self> {
        if let Some(required) = lacking(caller.revision, required) {
            return Some(Self { required, revision: Some(caller.revision) });
        }
        let required = caller.client.capabilities.missing(required)?;
        Some(Self { required, revision: None })
    }

    /// What is asked for, in the words of the protocol.
    fn question(&self) -> &'static str {
        match (&self.required.elicitation, &self.required.sampling) {
            (Some(elicitation), _) if elicitation.form.is_none() => "elicitation by URL",
            (Some(_), _) => "elicitation",
            (None, Some(sampling)) if sampling.tools.is_some() => "sampling with tools",
            (None, Some(_)) => "sampling with context",
            (None, None) => "such question",
        }
    }
}

/// What a revision has no words for.
fn lacking(revision: Revision, required: &ClientCapabilities) -> Option<ClientCapabilities> {
    let mut said = required.clone();
    said.project(revision);
    said.missing(required)
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks_user = self.required.elicitation.is_some();
        let whom = if asks_user { "user" } else { "client" };
        write!(f, "this needs input from the {whom}, but ")?;
        match self.revision {
            Some(revision) => {
                let question = self.question();
                write!(f, "revision {revision}, which the client speaks, has no {question}")?;
                let can = |it: &Revision| lacking(*it, &self.required).is_none();
                if let Some(first) = Revision::ALL.into_iter().find(can) {
                    write!(f, ": that came with {first}")?;
                }
            }
            None => {
                let required = serde_json::to_string(&self.required).unwrap_or_default();
                write!(f, "the client does not declare the capabilities {required}")?;
            }
        }
        let advice = if asks_user { "ask the user yourself, or use" } else { "use" };
        let which = if self.revision.is_some() { "speaks a later revision" } else { "can" };
        write!(f, "; {advice} a client that {which}")
    }
}

impl fmt::Debug for AskError {
    /// What a `main` or a test that returns it prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for AskError {}
