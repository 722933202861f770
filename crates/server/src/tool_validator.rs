//! The schemas of a tool, compiled once: checks arguments and results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_json_schema::{SchemaError, Validator};
use bowline_types::json::RawJson;
use bowline_types::read::{self, ReadError, plain_integers, read};
use serde_json::Value;

/// The compiled schemas of a tool.
#[derive(Debug)]
pub(crate) struct ToolValidator {
    name: Arc<str>,
    input: Validator,
    checks_input: bool,
    output: Option<Output>,
}

/// The compiled schema of results.
#[derive(Debug)]
struct Output {
    validator: Validator,
    /// None if every result is checked.
    trust: Option<Trust>,
}

/// When results are not checked any more: once one result of the type has passed. A type that
/// serializes otherwise than its schema says fails at its first result.
#[derive(Debug)]
struct Trust {
    is_earned: AtomicBool,
    /// Whether results may hold numbers. NaN and infinity are written as `null`, so a result with a
    /// `null` is always checked.
    has_numbers: bool,
}

/// A schema, and whether decoding into a Rust type enforces most of it.
#[derive(Clone, Debug)]
pub(crate) struct SourcedSchema {
    pub(crate) schema: Value,
    pub(crate) origin: SchemaOrigin,
}

/// Where a schema comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaOrigin {
    /// The Rust type that values are decoded into or made of; only what goes beyond it is checked.
    Type,
    /// Written by hand; all of it is checked.
    Hand,
}

impl ToolValidator {
    /// Compiles the schemas of a tool.
    ///
    /// # Errors
    ///
    /// If one of them is no valid schema.
    pub(crate) fn new(
        name: &str,
        input: &SourcedSchema,
        output: Option<&SourcedSchema>,
    ) -> Result<Self, SchemaError> {
        let (input, checks_input) = input.compile()?;
        let output = output.map(Output::compile).transpose()?;
        Ok(Self { name: name.into(), input, checks_input, output })
    }

    /// The name of the tool.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Checks what decoding would not refuse by itself.
    ///
    /// # Errors
    ///
    /// Says what is wrong in words that a model can act on.
    pub(crate) fn check_arguments(&self, text: &[u8]) -> Result<(), String> {
        if !self.checks_input {
            return Ok(());
        }
        let value = value(text).map_err(|error| error.within(ARGUMENTS).to_string())?;
        self.input.check(ARGUMENTS, &value).map_err(|violations| violations.to_string())
    }

    /// Says why arguments could not be decoded, in the terms of the schema if it finds the reason.
    pub(crate) fn explain(&self, text: &[u8], error: ReadError) -> String {
        let value = value(text).ok();
        match value.and_then(|value| self.input.check(ARGUMENTS, &value).err()) {
            Some(violations) => violations.to_string(),
            None => error.within(ARGUMENTS).to_string(),
        }
    }

    /// Checks a result that goes out.
    ///
    /// # Errors
    ///
    /// Says where the result breaks its own schema.
    pub(crate) fn check_output(&self, result: Option<&RawJson>) -> Result<(), String> {
        let Some(output) = &self.output else { return Ok(()) };
        let Some(result) = result else {
            return Err("it has an `outputSchema`, but gave no structured content".to_owned());
        };
        output.check(result)
    }
}

impl Output {
    fn compile(terms: &SourcedSchema) -> Result<Self, SchemaError> {
        let (validator, checks) = terms.compile()?;
        let has_numbers = || has_numbers(&terms.schema);
        let trust =
            (!checks).then(|| Trust { is_earned: false.into(), has_numbers: has_numbers() });
        Ok(Self { validator, trust })
    }

    fn check(&self, result: &RawJson) -> Result<(), String> {
        if self.trust.as_ref().is_some_and(|trust| trust.covers(result)) {
            return Ok(());
        }
        let value: Value = result.parse().map_err(|error| error.within(RESULT).to_string())?;
        let checked = self.validator.check(RESULT, &value);
        checked.map_err(|violations| match &self.trust {
            Some(trust) if trust.has_numbers && has_null(result) => format!(
                "{violations} (NaN and infinite numbers are written as null, because JSON has none)"
            ),
            _ => violations.to_string(),
        })?;
        if let Some(trust) = &self.trust {
            trust.is_earned.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Trust {
    fn covers(&self, result: &RawJson) -> bool {
        self.is_earned.load(Ordering::Relaxed) && !(self.has_numbers && has_null(result))
    }
}

/// Whether a result may hold `null`. The word within a string counts, too, which only costs a check.
fn has_null(result: &RawJson) -> bool {
    result.as_str().contains("null")
}

/// Whether values may hold numbers that are not whole.
fn has_numbers(schema: &Value) -> bool {
    match schema {
        Value::String(word) => word == "number",
        Value::Array(items) => items.iter().any(has_numbers),
        Value::Object(members) => members.values().any(has_numbers),
        _ => false,
    }
}

/// Arguments as a value in which whole numbers are exact.
fn value(text: &[u8]) -> Result<Value, ReadError> {
    read::text(text).and_then(|text| read(&plain_integers(text)))
}

/// How messages call the arguments of a call.
const ARGUMENTS: &str = "arguments";

/// How messages call the result of a call.
const RESULT: &str = "structuredContent";

impl SourcedSchema {
    fn compile(&self) -> Result<(Validator, bool), SchemaError> {
        let validator = Validator::compile(&self.schema)?;
        let checks = self.origin == SchemaOrigin::Hand || validator.asserts_beyond_types();
        Ok((validator, checks))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn validator(schema: Value, origin: SchemaOrigin) -> ToolValidator {
        let output = SourcedSchema { schema: json!({"type": "integer", "maximum": 3}), origin };
        ToolValidator::new("forecast", &SourcedSchema { schema, origin }, Some(&output)).unwrap()
    }

    // spec: TOOL-42
    #[test]
    fn arguments_are_checked_beyond_what_their_type_enforces() {
        let schema = json!({"properties": {"days": {"type": "integer", "maximum": 7}}});
        let validator = validator(schema, SchemaOrigin::Type);
        let error = validator.check_arguments(br#"{"days":9}"#).unwrap_err();
        assert_eq!(error, "`arguments.days`: expected at most 7, found 9");
    }

    #[test]
    fn what_a_type_enforces_is_not_checked_twice() {
        let schema = json!({"properties": {"days": {"type": "integer"}}});
        assert_eq!(
            validator(schema, SchemaOrigin::Type).check_arguments(br#"{"days":"x"}"#),
            Ok(())
        );
    }

    #[test]
    fn a_schema_by_hand_is_always_checked() {
        let schema = json!({"properties": {"days": {"type": "integer"}}});
        assert!(validator(schema, SchemaOrigin::Hand).check_arguments(br#"{"days":"x"}"#).is_err());
    }

    #[test]
    fn what_only_the_type_knows_is_said_in_its_words() {
        let validator = validator(json!({"type": "object"}), SchemaOrigin::Type);
        let text = r#"{"host":"x"}"#;
        let error = read::<BTreeMap<String, std::net::IpAddr>>(text).unwrap_err();
        assert_eq!(
            validator.explain(text.as_bytes(), error),
            "`arguments.host`: invalid IP address syntax"
        );
    }

    // spec: TOOL-29
    #[test]
    fn a_result_is_checked_against_its_schema() {
        let validator = validator(json!({}), SchemaOrigin::Type);
        let check = |text| validator.check_output(Some(&RawJson::from_text(text).unwrap()));
        assert_eq!(check("3"), Ok(()));
        assert_eq!(check("4").unwrap_err(), "`structuredContent`: expected at most 3, found 4");
        assert!(validator.check_output(None).is_err());
    }
}
