//! Parameters that are variables of a URI template.

use std::future::Future;

use serde::de::DeserializeOwned;

use super::FromCall;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::signature::HandlerSignature;

/// What the text of a template's variable can be read as.
///
/// Implement it for a type of your own that deserializes from text:
///
/// ```
/// use bowline_server::{Resource, extract::Variable};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct UserId(u64);
///
/// impl Variable for UserId {}
///
/// async fn profile(UserId(id): UserId) -> String {
///     format!("the profile of user {id}")
/// }
///
/// let profiles = Resource::template("users://{user_id}/profile", profile);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a variable of a template",
    label = "not a variable",
    note = "variables are `String`, numbers, `bool`, or an `Option` or `Vec` of these"
)]
pub trait Variable: DeserializeOwned + Send + 'static {}

macro_rules! variables {
    ($($type:ty)*) => {
        $(impl Variable for $type {})*
    };
}

variables!(String char bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

impl<T: Variable> Variable for Option<T> {}

impl<T: Variable> Variable for Vec<T> {}

/// A parameter of a [`TemplateHandler`](crate::TemplateHandler); `Kind` says which of the two it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a template's handler",
    label = "neither an extractor nor a variable",
    note = "variables are `String`, numbers, `bool`, or an `Option` or `Vec` of these",
    note = "extractors are `Args<T>`, `State<T>`, `Uri`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`"
)]
pub trait FromTemplate<Kind>: Sized + Send + 'static {
    /// Adds what this parameter declares about its handler.
    fn describe(signature: &mut HandlerSignature);

    /// Takes the value out of a call. `place` counts the variables that were taken.
    fn from_template(call: &Call, place: &mut usize) -> impl Future<Output = Result<Self>> + Send;
}

/// Marks parameters that are extractors.
#[derive(Debug)]
pub enum Extracted {}

/// Marks parameters that are variables.
#[derive(Debug)]
pub enum Placed {}

impl<T: FromCall> FromTemplate<Extracted> for T {
    fn describe(signature: &mut HandlerSignature) {
        T::describe(signature);
    }

    async fn from_template(call: &Call, _: &mut usize) -> Result<Self> {
        T::from_call(call).await
    }
}

impl<T: Variable> FromTemplate<Placed> for T {
    fn describe(signature: &mut HandlerSignature) {
        signature.takes_variable();
    }

    async fn from_template(call: &Call, place: &mut usize) -> Result<Self> {
        let words = call.text_arguments().ok_or_else(Error::not_found)?;
        let value = words.decode_at(*place).map_err(Error::misfit)?;
        *place += 1;
        Ok(value)
    }
}
