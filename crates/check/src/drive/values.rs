//! Arguments that fit a schema, as far as that is simple.

use serde_json::{Map, Value, json};

/// How deep schemas are followed.
const DEPTH: usize = 4;

/// A value for a schema: the simplest that its keywords allow. `None` if they are not understood.
pub(super) fn fitting(schema: &Value) -> Option<Value> {
    value(schema, schema, DEPTH)
}

fn value(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return value(root, root.pointer(target.strip_prefix('#')?)?, depth);
    }
    for name in ["const", "default"] {
        if let Some(value) = schema.get(name) {
            return Some(value.clone());
        }
    }
    for name in ["enum", "examples"] {
        if let Some(first) = schema.get(name).and_then(|it| it.get(0)) {
            return Some(first.clone());
        }
    }
    for name in ["anyOf", "oneOf"] {
        if let Some(first) = schema.get(name).and_then(|it| it.get(0)) {
            return value(root, first, depth);
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first()?.as_str()?,
        Some(kind) => kind.as_str()?,
        None if schema.get("properties").is_some() => "object",
        None => return Some(json!("a")),
    };
    match kind {
        "object" => object(root, schema, depth),
        "array" => Some(json!([])),
        "string" => {
            let length = schema.get("minLength").and_then(Value::as_u64).unwrap_or(1).min(1000);
            Some(json!("a".repeat(usize::try_from(length).unwrap_or(1).max(1))))
        }
        "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
        "boolean" => Some(json!(false)),
        _ => Some(Value::Null),
    }
}

fn object(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut members = Map::new();
    for name in required.filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|it| it.get(name)).unwrap_or(&Value::Null);
        members.insert(name.to_owned(), value(root, property, depth).unwrap_or(json!("a")));
    }
    Some(Value::Object(members))
}
