//! Why a question has no answer.

use std::fmt;

use bowline_proto::request::QuestionError;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;

/// Why a question has no answer.
///
/// Leaving a tool by `?`, each of these is told in the way that fits it: what the user did is told
/// to the model, what the client lacks is told to the client where its revision has words for it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// The user said no.
    Declined,
    /// The user made no choice.
    Cancelled,
    /// The client cannot be asked this: what it would have to declare.
    Unsupported(Box<ClientCapabilities>),
    /// The answer is not of the kind that was asked for.
    Invalid(String),
    /// What came back is no answer at all: the client broke the protocol.
    Malformed(String),
    /// Nobody answered.
    Failed(QuestionError),
    /// The question must not be put, which is a fault of the server: a form that is not flat or asks
    /// for a secret, a page that nobody should visit, a conversation that makes no sense.
    Unaskable(String),
}

impl AskError {
    /// The error that refuses the request as such, if this is not for the model to hear.
    pub(crate) fn refusal(&self, revision: Revision) -> Option<ErrorObject> {
        match self {
            Self::Unsupported(required) if revision.is_modern() => {
                Some(ErrorObject::missing_capability((**required).clone(), self.to_string()))
            }
            Self::Malformed(_) if revision.is_modern() => {
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
            Self::Unsupported(required) => {
                let (whom, advice) = if required.elicitation.is_some() {
                    ("user", "ask the user yourself, or use a client that can")
                } else {
                    ("client", "use a client that can")
                };
                let required = serde_json::to_string(required).unwrap_or_default();
                write!(
                    f,
                    "this needs input from the {whom}, but the client does not declare the \
                     capabilities {required}; {advice}"
                )
            }
            Self::Invalid(reason) => write!(f, "the answer does not fit: {reason}"),
            Self::Malformed(reason) => f.write_str(reason),
            Self::Failed(error) => write!(f, "the question was not answered: {error}"),
            Self::Unaskable(reason) => write!(f, "the question cannot be put: {reason}"),
        }
    }
}

impl fmt::Debug for AskError {
    /// What a `main` or a test that returns it prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for AskError {}
