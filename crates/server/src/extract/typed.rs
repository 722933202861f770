//! What a user has typed of an argument that is to be completed.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bowline_types::completion::CompleteParams;
use bowline_types::error::code;

use super::FromCall;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::signature::{HandlerSignature, Purpose};

/// What a user has typed so far of an argument, and what they chose for the others before. It is
/// the text, wherever a `&str` is wanted.
///
/// ```
/// use bowline_server::{Prompt, Typed, starting_with};
///
/// async fn repositories(typed: Typed) -> Vec<String> {
///     match typed.chosen("owner") {
///         Some("bowline") => starting_with(&typed, ["bowline", "bowline-docs"]),
///         _ => Vec::new(),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Typed(Arc<CompleteParams>);

impl Typed {
    /// What is typed so far.
    pub fn as_str(&self) -> &str {
        &self.0.argument.value
    }

    /// The argument that is being typed.
    pub fn argument(&self) -> &str {
        &self.0.argument.name
    }

    /// The value that the user has chosen for another argument, if the client sends it (since
    /// 2025-06-18).
    pub fn chosen(&self, argument: &str) -> Option<&str> {
        self.0.chosen().find(|(name, _)| *name == argument).map(|(_, value)| value)
    }
}

/// Attached to a request whose params were read.
pub(crate) struct CompletionInput(pub(crate) Arc<CompleteParams>);

impl FromCall for Typed {
    fn describe(signature: &mut HandlerSignature) {
        signature.belongs_to(Purpose::Completion, "Typed");
    }

    async fn from_call(call: &Call) -> Result<Self> {
        let typing = call.parts().extensions.get::<CompletionInput>();
        let lost = || Error::rpc(code::INTERNAL_ERROR, "nothing is being completed");
        typing.map(|CompletionInput(params)| Self(params.clone())).ok_or_else(lost)
    }
}

impl Deref for Typed {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Typed {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
