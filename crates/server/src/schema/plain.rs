//! Simplifies generated schemas, so that every client can read them.
//!
//! schemars writes schemas that are right and sometimes hard to read: Rust types as formats,
//! documented enums as `oneOf`, optional fields as "or null". Clients that turn schemas into the
//! format of a model's provider often support less. What is changed here means the same to a server
//! that reads arguments with serde.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value, json};

/// Simplifies a schema of arguments.
pub(super) fn input(schema: &mut Schema) {
    Plain { optional_may_be_null: false }.transform(schema);
}

/// Simplifies a schema of results. It keeps `null`, which results do contain.
pub(super) fn output(schema: &mut Schema) {
    Plain { optional_may_be_null: true }.transform(schema);
}

#[derive(Clone)]
struct Plain {
    optional_may_be_null: bool,
}

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(members) = schema.as_object_mut() else { return };
        drop_rust_format(members);
        choices_as_enum(members);
        if !self.optional_may_be_null {
            optional_without_null(members);
        }
    }
}

/// Removes formats that name Rust types, such as `uint32`; clients refuse what they do not know.
fn drop_rust_format(members: &mut Map<String, Value>) {
    let Some(format) = members.get("format").and_then(Value::as_str) else { return };
    let is_rust = matches!(format, "float" | "double")
        || format.strip_prefix('u').unwrap_or(format).strip_prefix("int").is_some_and(is_width);
    if is_rust {
        members.remove("format");
    }
}

fn is_width(text: &str) -> bool {
    text.is_empty() || text.chars().all(|c| c.is_ascii_digit())
}

/// Spells a `oneOf` of constants as an `enum`, and keeps what each constant means in the
/// description. Models read descriptions, so nothing is lost.
fn choices_as_enum(members: &mut Map<String, Value>) {
    let Some(choices) = members.get("oneOf").and_then(Value::as_array) else { return };
    let Some(choices) = choices.iter().map(choice).collect::<Option<Vec<_>>>() else { return };
    let types: Vec<_> = choices.iter().filter_map(|choice| choice.r#type.clone()).collect();
    let meanings: Vec<_> = choices.iter().filter_map(Choice::meaning).collect();
    let values: Vec<_> = choices.into_iter().flat_map(|choice| choice.values).collect();
    members.remove("oneOf");
    members.insert("enum".to_owned(), Value::Array(values));
    if let Some(r#type) = types.first().filter(|first| types.iter().all(|other| other == *first)) {
        members.insert("type".to_owned(), r#type.clone());
    }
    if !meanings.is_empty() {
        let described = members.get("description").and_then(Value::as_str);
        let before = described.map(|text| format!("{text}\n\n")).unwrap_or_default();
        members.insert("description".to_owned(), json!(before + &meanings.join("\n")));
    }
}

/// One alternative of a `oneOf` that only names values. A constant, or several with the same
/// meaning.
struct Choice {
    values: Vec<Value>,
    r#type: Option<Value>,
    description: Option<String>,
}

impl Choice {
    fn meaning(&self) -> Option<String> {
        let description = self.description.as_ref()?;
        let names: Vec<_> = self.values.iter().map(|value| format!("`{}`", spell(value))).collect();
        Some(format!("- {}: {description}", names.join(", ")))
    }
}

fn spell(value: &Value) -> String {
    value.as_str().map_or_else(|| serde_json::to_string(value).unwrap_or_default(), str::to_owned)
}

/// Reads an alternative; `None` if it has more keywords than those that name values.
fn choice(schema: &Value) -> Option<Choice> {
    let members = schema.as_object()?;
    let known = ["const", "enum", "type", "description"];
    if !members.keys().all(|key| known.contains(&key.as_str())) {
        return None;
    }
    let values = match (members.get("const"), members.get("enum")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(values)) => values.as_array()?.clone(),
        _ => return None,
    };
    let description = members.get("description").and_then(Value::as_str).map(str::to_owned);
    Some(Choice { values, r#type: members.get("type").cloned(), description })
}

/// Lets properties that may be left out be left out, instead of being `null`. A model that may send
/// `null` often does, although leaving the property out is meant.
fn optional_without_null(members: &mut Map<String, Value>) {
    let required: Vec<String> = match members.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
        _ = name;
        if let Some(property) = property.as_object_mut() {
            without_null(property);
        }
    }
}

fn without_null(property: &mut Map<String, Value>) {
    if property.get("default").is_some_and(Value::is_null) {
        property.remove("default");
    }
    if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".to_owned(), only);
        }
    }
    if let Some(values) = property.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    unwrap_nullable(property);
}

/// Replaces a choice between one schema and `null` by that schema. Keywords around the choice win.
fn unwrap_nullable(property: &mut Map<String, Value>) {
    let Some(alternatives) = property.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    alternatives.retain(|schema| schema.get("type").is_none_or(|name| name != "null"));
    let [only] = alternatives.as_mut_slice() else { return };
    let only = only.take();
    property.remove("anyOf");
    let Value::Object(only) = only else { return };
    for (key, value) in only {
        property.entry(key).or_insert(value);
    }
}
