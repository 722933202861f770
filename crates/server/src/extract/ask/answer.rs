//! Why the answer to a question cannot be used.

use crate::error::AskError;

/// Why the answer to a question cannot be used.
pub(super) enum AnswerError {
    /// It is no such answer, and asking again would not help.
    Refused(AskError),
    /// It does not fit what was asked; another answer may.
    Unfit(String),
}
