//! What a tool may return.

use std::borrow::Cow;

use bowline_types::content::Content;
use bowline_types::error::code;
use bowline_types::tool::CallToolResult;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, HandlerError, Result};
use crate::signature::HandlerSignature;

/// Something that a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not a result of a tool",
    note = "tools return text, numbers, `bool`, `()`, `Content`, `Vec<Content>`, `CallToolResult`, \
            `Json<T>` for `T: Serialize + JsonSchema`, or a `Result` of one of these"
)]
pub trait IntoToolResult {
    /// Adds what this type declares about its handler, such as the output schema. By default nothing.
    fn describe(signature: &mut HandlerSignature) {
        _ = signature;
    }

    /// The result as it is sent.
    ///
    /// # Errors
    ///
    /// If the tool failed.
    fn into_tool_result(self) -> Result<CallToolResult>;
}

/// A structured result: sent as structured content with a schema, and as text for clients that do
/// not read structured content.
///
/// Not to be confused with [`RawJson`](bowline_types::json::RawJson), JSON text of the protocol.
///
/// ```
/// use bowline_server::{Json, Tool};
/// use schemars::JsonSchema;
/// use serde::Serialize;
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// let tool = Tool::new("weather", || async { Json(Weather { celsius: 21.5 }) });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.gives_output::<T>();
    }

    fn into_tool_result(self) -> Result<CallToolResult> {
        CallToolResult::structured(&self.0).map_err(|error| {
            Error::rpc(
                code::INTERNAL_ERROR,
                format!("the result cannot be written as JSON: {error}"),
            )
        })
    }
}

impl<T: IntoToolResult, E: HandlerError> IntoToolResult for Result<T, E> {
    fn describe(signature: &mut HandlerSignature) {
        T::describe(signature);
    }

    fn into_tool_result(self) -> Result<CallToolResult> {
        self.map_err(HandlerError::into_handler_error)?.into_tool_result()
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::new(self))
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::from_text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::from_text(self))
    }
}

impl IntoToolResult for Cow<'static, str> {
    fn into_tool_result(self) -> Result<CallToolResult> {
        Ok(CallToolResult::from_text(self))
    }
}

/// Results that are said as they are printed.
macro_rules! printed {
    ($($type:ty)*) => {
        $(
            impl IntoToolResult for $type {
                fn into_tool_result(self) -> Result<CallToolResult> {
                    Ok(CallToolResult::from_text(self.to_string()))
                }
            }
        )*
    };
}

printed!(bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
