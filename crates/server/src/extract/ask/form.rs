//! Forms: a Rust struct as a question, and the answer as that struct.

use bowline_proto::secrets::names_a_secret;
use bowline_types::elicitation::schema::{BooleanSchema, FieldKind, FormField, FormSchema};
use bowline_types::elicitation::{ElicitAction, ElicitParams, ElicitResult};
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::AnswerError;
use crate::error::AskError;

/// The form that the schema of a type makes.
///
/// # Errors
///
/// Names the field that cannot be asked in a form, or must not.
pub(crate) fn of(schema: &Schema) -> Result<FormSchema, String> {
    let mut form = FormSchema::from_schema(schema).map_err(|error| error.to_string())?;
    let is_text = |field: &FormField| matches!(field.kind, FieldKind::String(_));
    if let Some((name, _)) =
        form.fields().find(|(name, field)| is_text(field) && names_a_secret(name))
    {
        return Err(format!(
            "`{name}` asks for a secret, and what is filled into a form may reach the model; send \
             the user to a page with `ask.url(..)`"
        ));
    }
    for (_, field) in form.fields_mut() {
        field.title = field.title.take().map(without_links);
        field.description = field.description.take().map(without_links);
    }
    Ok(form)
}

/// A text in which no client finds a link: in forms there must be nothing to click on, because users
/// could not tell where it leads.
fn without_links(text: String) -> String {
    if text.contains("://") { text.replace("https://", "").replace("http://", "") } else { text }
}

/// The form of a question of yes or no.
pub(super) fn yes_or_no() -> FormSchema {
    let field = FormField::from(BooleanSchema::new()).with_title("Confirm");
    FormSchema::new().with_required("confirm", field)
}

/// The question that shows a form.
pub(super) fn question(message: String, form: FormSchema) -> InputRequest {
    ElicitParams::form(without_links(message), form).into()
}

/// Reads the answer to a form.
pub(super) fn read<T: DeserializeOwned>(
    form: &FormSchema,
    answer: &RawJson,
) -> Result<T, AnswerError> {
    let content = accepted(answer)?.content.unwrap_or_default();
    let content = choices_apart(form, content);
    let content = form.check(&content).map_err(|error| AnswerError::Unfit(error.to_string()))?;
    content.parse().map_err(|error| AnswerError::Unfit(error.to_string()))
}

/// Reads the answer to a question of yes or no. Declining is an answer here.
pub(super) fn read_yes_or_no(answer: &RawJson) -> Result<bool, AnswerError> {
    #[derive(Deserialize)]
    struct Answer {
        confirm: bool,
    }

    match read::<Answer>(&yes_or_no(), answer) {
        Ok(answer) => Ok(answer.confirm),
        Err(AnswerError::Refused(AskError::Declined)) => Ok(false),
        Err(misread) => Err(misread),
    }
}

/// Reads an answer, if it is that the user accepts.
pub(super) fn accepted(answer: &RawJson) -> Result<ElicitResult, AnswerError> {
    let answer: ElicitResult = answer.parse().map_err(|error| {
        AnswerError::Refused(AskError::Malformed(format!(
            "an answer to `elicitation/create`: {error}"
        )))
    })?;
    match answer.action {
        ElicitAction::Accept => Ok(answer),
        ElicitAction::Decline => Err(AnswerError::Refused(AskError::Declined)),
        ElicitAction::Cancel => Err(AnswerError::Refused(AskError::Cancelled)),
    }
}

/// Makes lists of choices that came as one text: forms of 2025-06-18 have no field for several, so
/// there they are asked for with commas between.
fn choices_apart(form: &FormSchema, content: Object) -> Object {
    let is_several = |field: &FormField| matches!(field.kind, FieldKind::MultiSelect(_));
    let several = form.fields().filter(|(_, field)| is_several(field)).map(|(name, _)| name);
    let several: Vec<_> = several.collect();
    if several.is_empty() {
        return content;
    }
    let Ok(mut values) = content.parse::<Map<String, Value>>() else { return content };
    for name in several {
        if let Some(Value::String(text)) = values.get(name) {
            let choices = text.split(',').map(str::trim).filter(|choice| !choice.is_empty());
            let choices = choices.map(Value::from).collect();
            values.insert(name.to_owned(), Value::Array(choices));
        }
    }
    RawJson::from_value(&values).ok().and_then(|json| Object::new(json).ok()).unwrap_or(content)
}
