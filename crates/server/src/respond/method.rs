//! What the handler of an extension's method may return.

use bowline_types::error::code;
use bowline_types::json::{Object, RawJson};
use serde::Serialize;

use super::Json;
use crate::error::{Error, HandlerError, Result};

/// What the handler of an extension's method may return: a result, which is a JSON object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a method",
    label = "not a result of a method",
    note = "methods of extensions return `Json<T>` for a struct `T: Serialize`, `()`, or a `Result` \
            of one of these"
)]
pub trait IntoMethodResult {
    /// The result as it is sent.
    ///
    /// # Errors
    ///
    /// If the handler failed, or the result cannot be written.
    fn into_method_result(self) -> Result<RawJson>;
}

impl IntoMethodResult for () {
    fn into_method_result(self) -> Result<RawJson> {
        Ok(RawJson::empty_object())
    }
}

impl IntoMethodResult for Object {
    fn into_method_result(self) -> Result<RawJson> {
        Ok(self.as_json().clone())
    }
}

impl<T: Serialize> IntoMethodResult for Json<T> {
    fn into_method_result(self) -> Result<RawJson> {
        RawJson::from_value(&self.0).map_err(|error| {
            let message = format!("the result cannot be written as JSON: {error}");
            Error::rpc(code::INTERNAL_ERROR, message)
        })
    }
}

impl<T: IntoMethodResult, E: HandlerError> IntoMethodResult for Result<T, E> {
    fn into_method_result(self) -> Result<RawJson> {
        self.map_err(HandlerError::into_handler_error)?.into_method_result()
    }
}
