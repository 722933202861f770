//! Rust types as the schemas that clients see.
//!
//! The schemas of schemars are valid, but many clients fail on parts of them: references, formats
//! named after Rust types, `oneOf` of constants, types that may be `null`. So each schema is
//! simplified once, when a handler is registered.

use bowline_types::json::{RawJson, Schema};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::tool_validator::{SchemaOrigin, SourcedSchema};

mod plain;
mod write;

/// The schema of a handler's arguments.
#[derive(Clone, Debug)]
pub(crate) struct InputSchema {
    /// What clients see.
    pub(crate) published: Schema,
    /// What is checked. It lets `null` stand for an optional argument that is left out, because
    /// models send that and Rust types take it.
    pub(crate) terms: SourcedSchema,
}

/// The schema of structured results.
#[derive(Clone, Debug)]
pub(crate) struct OutputSchema {
    /// What clients see.
    pub(crate) published: Schema,
    /// What is checked.
    pub(crate) terms: SourcedSchema,
}

/// The schema of a type that arguments are decoded into.
///
/// # Errors
///
/// Says why the type cannot hold arguments.
pub(crate) fn input<T: JsonSchema>() -> Result<InputSchema, String> {
    Generated::of::<T>().into_input()
}

/// The schema of a type that results are made of.
pub(crate) fn output<T: JsonSchema>() -> OutputSchema {
    Generated::of::<T>().into_output()
}

/// The schema of a type that a form is made of: as generated, but in the order of the fields.
pub(crate) fn form<T: JsonSchema>() -> Schema {
    let generated = Generated::of::<T>();
    let schema = (generated.when_read)();
    write::schema(schema.as_value(), &generated.declared(&schema))
}

/// The schema of a handler that takes no arguments.
pub(crate) fn no_arguments() -> InputSchema {
    let schema = json!({"type": "object", "additionalProperties": false});
    let published = write::schema(&schema, &[]);
    InputSchema { published, terms: SourcedSchema { schema, origin: SchemaOrigin::Hand } }
}

/// A schema written by hand, word for word.
///
/// # Errors
///
/// Says what is wrong with it.
pub(crate) fn by_hand(schema: &impl serde::Serialize) -> Result<(Schema, SourcedSchema), String> {
    let json = RawJson::from_value(schema)
        .map_err(|error| format!("it cannot be written as JSON: {error}"))?;
    let value = json.parse().map_err(|error| error.to_string())?;
    let published = Schema::new(json).map_err(|json| format!("`{json}` is not an object"))?;
    Ok((published, SourcedSchema { schema: value, origin: SchemaOrigin::Hand }))
}

/// References only for recursive types, and no `$schema`, because 2020-12 is the default.
fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

/// The part that depends on the type. The rest is not generic, so it is compiled once.
struct Generated {
    when_read: fn() -> schemars::Schema,
    when_written: fn() -> schemars::Schema,
}

impl Generated {
    fn of<T: JsonSchema>() -> Self {
        Self {
            when_read: || reader().into_root_schema_for::<T>(),
            when_written: || writer().into_root_schema_for::<T>(),
        }
    }

    fn into_input(self) -> Result<InputSchema, String> {
        let mut schema = (self.when_read)();
        schema.remove("title");
        let terms = SourcedSchema { schema: schema.clone().to_value(), origin: SchemaOrigin::Type };
        match schema.get("type") {
            None => _ = schema.insert("type".to_owned(), json!("object")),
            Some(Value::String(name)) if name == "object" => {}
            Some(other) => {
                let other = serde_json::to_string(other).unwrap_or_default();
                return Err(format!("arguments are an object, and its schema is {other}"));
            }
        }
        if schema.get("properties").is_none() {
            schema.insert("properties".to_owned(), json!({}));
        }
        plain::input(&mut schema);
        let published = write::schema(schema.as_value(), &self.declared(&schema));
        Ok(InputSchema { published, terms })
    }

    fn into_output(self) -> OutputSchema {
        let mut schema = (self.when_written)();
        schema.remove("title");
        let terms = SourcedSchema { schema: schema.clone().to_value(), origin: SchemaOrigin::Type };
        plain::output(&mut schema);
        OutputSchema { published: write::schema(schema.as_value(), &[]), terms }
    }

    /// The names of a struct's fields in the order of their declaration, as far as it can be known.
    ///
    /// schemars sorts properties, but lists what is required in the order of declaration; and when
    /// a struct is written, unlike when it is `read`, optional fields are required too.
    fn declared(&self, read: &schemars::Schema) -> Vec<String> {
        let properties = read.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        let required = required_of(read);
        if required.len() == properties {
            return required;
        }
        required_of(&(self.when_written)())
    }
}

fn reader() -> SchemaGenerator {
    settings().for_deserialize().into_generator()
}

fn writer() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

fn required_of(schema: &schemars::Schema) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
