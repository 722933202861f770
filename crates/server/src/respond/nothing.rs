//! What the handler of a notification may return.

use crate::error::{HandlerError, Result};

/// What the handler of a notification may return: nothing, because a notification is not answered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of the handler of a notification",
    label = "not nothing",
    note = "return `()`, or a `Result` of it whose error is dropped"
)]
pub trait IntoNothing {
    /// Gives nothing.
    ///
    /// # Errors
    ///
    /// If the handler failed.
    fn into_nothing(self) -> Result;
}

impl IntoNothing for () {
    fn into_nothing(self) -> Result {
        Ok(())
    }
}

impl<E: HandlerError> IntoNothing for Result<(), E> {
    fn into_nothing(self) -> Result {
        self.map_err(HandlerError::into_handler_error)
    }
}
