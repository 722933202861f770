//! What a prompt may return.

use std::borrow::Cow;

use bowline_types::content::Content;
use bowline_types::prompt::{GetPromptResult, PromptMessage};

use crate::error::{HandlerError, Result};

/// Something that a prompt may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a prompt",
    label = "not the result of a prompt",
    note = "prompts return text or `Content`, which the user says, `Vec<Content>`, `PromptMessage`, \
            `Vec<PromptMessage>`, `GetPromptResult`, or a `Result` of one of these"
)]
pub trait IntoPromptResult {
    /// The result as it is sent.
    ///
    /// # Errors
    ///
    /// If the prompt could not be made.
    fn into_prompt_result(self) -> Result<GetPromptResult>;
}

impl<T: IntoPromptResult, E: HandlerError> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        self.map_err(HandlerError::into_handler_error)?.into_prompt_result()
    }
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const COUNT: usize> IntoPromptResult for [PromptMessage; COUNT] {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self.into()))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

impl IntoPromptResult for Vec<Content> {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        Ok(GetPromptResult::new(self.into_iter().map(PromptMessage::user).collect()))
    }
}

/// Results that are one message of the user.
macro_rules! said {
    ($($type:ty)*) => {
        $(
            impl IntoPromptResult for $type {
                fn into_prompt_result(self) -> Result<GetPromptResult> {
                    PromptMessage::user(self).into_prompt_result()
                }
            }
        )*
    };
}

said!(Content String &'static str);

impl IntoPromptResult for Cow<'static, str> {
    fn into_prompt_result(self) -> Result<GetPromptResult> {
        self.into_owned().into_prompt_result()
    }
}
