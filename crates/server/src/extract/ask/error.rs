//! Why a question has no answer.

use std::fmt;

use bowline_proto::request::QuestionError;
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::schema::NotAForm;
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;

/// Why a question has no answer.
///
/// Leaving a tool by `?`, each of these is told in the way that fits it: what the user did is told
/// to the model, what the client lacks is told to the client where its revision has words for it.
#[derive(Clone, Debug, PartialEq)]
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
    /// The question cannot be put: forms are flat, and the type is not.
    NotAForm(NotAForm),
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
            Self::NotAForm(_) => Some(ErrorObject::internal(self.to_string())),
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
                let required = serde_json::to_string(required).unwrap_or_default();
                write!(
                    f,
                    "this needs input from the user, but the client does not declare the \
                     capabilities {required}; ask the user yourself, or use a client that can"
                )
            }
            Self::Invalid(reason) => write!(f, "the user's answer does not fit: {reason}"),
            Self::Malformed(reason) => f.write_str(reason),
            Self::Failed(error) => write!(f, "the user could not be asked: {error}"),
            Self::NotAForm(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AskError {}
