//! What the user is asked before a handler runs.

use std::any::type_name;

use bowline_types::elicitation::schema::FormSchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ask::form;
use super::{Ask, FromCall};
use crate::call::Call;
use crate::error::Result;
use crate::schema;
use crate::signature::HandlerSignature;

/// What the user filled into a form before the handler ran.
///
/// The form has the fields of the struct, as with [`Ask::form`], and its doc comment is the
/// question. If the user declines, the handler does not run, and the model reads why.
///
/// ```
/// use bowline_server::{Elicited, Tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Where do you want to go?
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip {
///     city: String,
///     nights: u8,
/// }
///
/// async fn book(Elicited(trip): Elicited<Trip>) -> String {
///     format!("Booked {} for {} nights", trip.city, trip.nights)
/// }
///
/// let tool = Tool::new("book", book);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elicited<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> FromCall for Elicited<T> {
    fn describe(signature: &mut HandlerSignature) {
        signature.tells_callers_apart();
        signature.may_ask();
        signature
            .asks_first(|call| Box::pin(async move { Self::from_call(&call).await.map(|_| ()) }));
        if let Err(reason) = question::<T>() {
            let name = type_name::<T>();
            signature.mistake(format!("takes `Elicited<{name}>`, but {reason}"));
        }
    }

    async fn from_call(call: &Call) -> Result<Self> {
        let ask = Ask::from_call(call).await?;
        let (message, form) = question::<T>()?;
        Ok(Self(ask.put_form(message, form).await?))
    }
}

/// The question that a type is, and the form to answer it with.
///
/// # Errors
///
/// Says why the type cannot be a form.
fn question<T: JsonSchema>() -> Result<(String, FormSchema), String> {
    let schema = schema::form::<T>();
    let form = form::of(&schema)?;
    let description = schema
        .parse::<Value>()
        .ok()
        .and_then(|schema| schema.get("description").and_then(Value::as_str).map(str::to_owned));
    let message = description.ok_or("it has no doc comment to ask the user with")?;
    Ok((message, form))
}
