//! Forms: a Rust struct as a question, and the answer as that struct.

use bowline_types::elicitation::schema::{BooleanSchema, Field, FormSchema, NotAForm};
use bowline_types::elicitation::{ElicitAction, ElicitParams, ElicitResult};
use bowline_types::input::InputRequest;
use bowline_types::json::Json;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{AskError, Misread};
use crate::schema;

/// The form that a type makes.
///
/// # Errors
///
/// Names the field that cannot be asked in a form.
pub(super) fn of<T: JsonSchema>() -> Result<FormSchema, NotAForm> {
    FormSchema::from_schema(&schema::form::<T>())
}

/// The form of a question of yes or no.
pub(super) fn yes_or_no() -> FormSchema {
    let field = Field::from(BooleanSchema::new()).with_title("Confirm");
    FormSchema::new().with_required("confirm", field)
}

/// The question that shows a form.
pub(super) fn question(message: String, form: FormSchema) -> InputRequest {
    ElicitParams::form(message, form).into()
}

/// Reads the answer to a form.
pub(super) fn read<T: DeserializeOwned>(form: &FormSchema, answer: &Json) -> Result<T, Misread> {
    let answer: ElicitResult = answer.parse().map_err(|error| {
        Misread::Refused(AskError::Malformed(format!("an answer to `elicitation/create`: {error}")))
    })?;
    match answer.action {
        ElicitAction::Accept => {}
        ElicitAction::Decline => return Err(Misread::Refused(AskError::Declined)),
        ElicitAction::Cancel => return Err(Misread::Refused(AskError::Cancelled)),
    }
    let content = answer.content.unwrap_or_default();
    form.check(&content).map_err(|error| Misread::Unfit(error.to_string()))?;
    content.parse().map_err(|error| Misread::Unfit(error.to_string()))
}

/// Reads the answer to a question of yes or no. Declining is an answer here.
pub(super) fn read_yes_or_no(answer: &Json) -> Result<bool, Misread> {
    #[derive(Deserialize)]
    struct Answer {
        confirm: bool,
    }

    match read::<Answer>(&yes_or_no(), answer) {
        Ok(answer) => Ok(answer.confirm),
        Err(Misread::Refused(AskError::Declined)) => Ok(false),
        Err(misread) => Err(misread),
    }
}
