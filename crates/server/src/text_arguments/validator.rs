//! Checks texts against the rules of a schema that go beyond types: ranges, lengths, patterns.

use bowline_json_schema::{SchemaError, Validator};
use bowline_types::template::TemplateValue as Word;
use serde_json::{Map, Number, Value};

use super::TextArguments;
use crate::schema::InputSchema;

/// The rules for the texts of one handler.
#[derive(Debug)]
pub(crate) struct TextValidator {
    schema: Value,
    validator: Validator,
}

impl TextValidator {
    /// The rules of a handler; `None` if its schema has only types.
    ///
    /// # Errors
    ///
    /// If that is no valid schema.
    pub(crate) fn of(input: Option<&InputSchema>) -> Result<Option<Self>, SchemaError> {
        let Some(input) = input else { return Ok(None) };
        let schema = input.terms.schema.clone();
        let validator = Validator::compile(&schema)?;
        Ok(validator.asserts_beyond_types().then_some(Self { schema, validator }))
    }

    /// Checks texts.
    ///
    /// # Errors
    ///
    /// Names the text that does not fit, and says what would.
    pub(crate) fn check(&self, words: &TextArguments) -> Result<(), String> {
        let value = self.typed(words);
        self.validator
            .check(words.root, &value)
            .map_err(|violations| violations.to_string().replace('\n', "; "))
    }

    /// The texts as JSON of the types that they are to have, as far as they can be read so.
    fn typed(&self, words: &TextArguments) -> Value {
        let schema = |name: &str| self.schema.get("properties").and_then(|all| all.get(name));
        let mut members = Map::new();
        for (name, word) in words.values.iter() {
            let schema = schema(name).unwrap_or(&Value::Null);
            let typed = match word {
                Word::Text(text) => typed(text, schema),
                Word::List(items) => {
                    let schema = schema.get("items").unwrap_or(&Value::Null);
                    items.iter().map(|item| typed(item, schema)).collect()
                }
                Word::Pairs(pairs) => pairs.iter().cloned().collect(),
            };
            members.insert(name.to_owned(), typed);
        }
        Value::Object(members)
    }
}

/// A text as the first of its schema's types that it can be read as, or else as a string.
fn typed(text: &str, schema: &Value) -> Value {
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let read = types.iter().filter_map(Value::as_str).find_map(|name| read(text.trim(), name));
    read.unwrap_or_else(|| Value::from(text))
}

fn read(text: &str, name: &str) -> Option<Value> {
    match name {
        "integer" | "number" => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        "boolean" => text.parse().ok().map(Value::Bool),
        "null" => text.is_empty().then_some(Value::Null),
        "array" | "object" => serde_json::from_str(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bowline_types::template::Variables;
    use schemars::JsonSchema;

    use super::*;
    use crate::schema;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Forecast {
        #[schemars(range(min = 1, max = 7))]
        days: u8,
        #[schemars(length(max = 3))]
        city: Option<String>,
        #[schemars(inner(range(max = 9)))]
        hours: Option<Vec<u8>>,
        exact: Option<bool>,
    }

    fn validator() -> TextValidator {
        TextValidator::of(Some(&schema::input::<Forecast>().unwrap())).unwrap().unwrap()
    }

    fn check(values: Variables) -> Result<(), String> {
        validator().check(&TextArguments::of_prompt(values, Arc::default()))
    }

    // spec: PRMT-16
    #[test]
    fn texts_are_checked_beyond_what_their_types_enforce() {
        let days = |days: &str| Variables::new().with("days", days);
        assert_eq!(check(days(" 7 ")), Ok(()));
        let error = check(days("9")).unwrap_err();
        assert_eq!(error, "`arguments.days`: expected at most 7, found 9");
        let error = check(days("7").with("city", "12345")).unwrap_err();
        assert!(error.starts_with("`arguments.city`: expected at most 3 characters"), "{error}");
        let error = check(days("7").with("hours", "[1, 10]")).unwrap_err();
        assert_eq!(error, "`arguments.hours[1]`: expected at most 9, found 10");
        let list = Word::List(vec!["1".to_owned(), "10".to_owned()]);
        let error = check(days("7").with("hours", list)).unwrap_err();
        assert_eq!(error, "`arguments.hours[1]`: expected at most 9, found 10");
        let error = check(days("many")).unwrap_err();
        assert!(error.starts_with("`arguments.days`: expected an integer"), "{error}");
    }

    #[test]
    fn what_is_left_empty_or_written_as_text_fits() {
        let all = Variables::new()
            .with("days", "3")
            .with("city", "")
            .with("hours", "")
            .with("exact", "true")
            .with("unknown", "x");
        assert_eq!(check(all), Ok(()));
    }

    #[test]
    fn types_alone_are_left_to_decoding() {
        #[derive(JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Plain {
            days: u8,
        }
        let plain = schema::input::<Plain>().unwrap();
        assert!(TextValidator::of(Some(&plain)).unwrap().is_none());
        assert!(TextValidator::of(None).unwrap().is_none());
    }
}
