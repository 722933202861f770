//! Tool schemas in the shapes of older revisions.
//!
//! Up to 2025-11-25 structured output is an object, so other values are wrapped in one. The schema
//! must agree: a schema that allows no objects is wrapped, one that allows only objects is kept,
//! and one that may allow both becomes "any object".

use bowline_types::json::{RawJson, Schema};
use bytes::Bytes;

use crate::members::Members;

/// The member that holds a value which is not an object.
pub(super) const RESULT: &str = "result";

/// How many references and alternatives are followed to find out what a schema allows.
const MAX_DEPTH: usize = 4;

/// Rewrites properties whose schemas are `true` or `false`, which older revisions do not allow.
/// `None` if there are none.
pub(super) fn plain_properties(schema: &Schema) -> Option<Schema> {
    let text = schema.as_str();
    if !text.contains("true") && !text.contains("false") {
        return None;
    }
    let members = cut(text)?;
    let properties = members.object("properties").ok()?;
    if !properties.iter().any(|(_, value)| matches!(value, "true" | "false")) {
        return None;
    }
    let plain = |value| match value {
        "true" => "{}",
        "false" => r#"{"not":{}}"#,
        schema => schema,
    };
    let properties = object(properties.iter().map(|(name, value)| (name, plain(value))));
    let replaced = members.iter().map(|(name, value)| match name {
        "properties" => (name, properties.as_str()),
        name => (name, value),
    });
    to_schema(object(replaced))
}

/// Makes an output schema one of objects. `None` if it is one already. It has to agree with
/// [`wrap_in_object`](super::tool::wrap_in_object): the client checks the one with the other.
pub(super) fn object_output(schema: &Schema) -> Option<Schema> {
    let members = cut(schema.as_str())?;
    match allowed(&members, &members, MAX_DEPTH) {
        Allowed::Objects if members.value("type") == Some(r#""object""#) => {
            plain_properties(schema)
        }
        Allowed::Objects => {
            let others = members.iter().filter(|(name, _)| *name != "type");
            let typed = to_schema(object([("type", r#""object""#)].into_iter().chain(others)))?;
            Some(plain_properties(&typed).unwrap_or(typed))
        }
        Allowed::NoObjects => wrapped(&members),
        Allowed::Both => to_schema(r#"{"type":"object"}"#.to_owned()),
    }
}

/// The values that a schema allows. Undecided counts as both, which is always safe: any object
/// passes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    Objects,
    NoObjects,
    /// Objects and others, or unknown.
    Both,
}

/// Which values a schema allows, as far as can be seen within `depth` steps. Bounded, because a
/// reference may lead back to itself.
fn allowed(schema: &Members, root: &Members, depth: usize) -> Allowed {
    if let Some(types) = schema.value("type") {
        let types: Vec<String> = match serde_json::from_str(types) {
            Ok(one) => vec![one],
            Err(_) => serde_json::from_str(types).unwrap_or_default(),
        };
        return match types.iter().filter(|name| *name == "object").count() {
            0 if types.is_empty() => Allowed::Both,
            0 => Allowed::NoObjects,
            count if count == types.len() => Allowed::Objects,
            _ => Allowed::Both,
        };
    }
    let Some(depth) = depth.checked_sub(1) else { return Allowed::Both };
    if let Ok(Some(reference)) = schema.parse::<String>("$ref") {
        return match definition(root, &reference) {
            Some(referred) => allowed(&referred, root, depth),
            None => Allowed::Both,
        };
    }
    let branches = ["oneOf", "anyOf"].into_iter().find_map(|name| schema.value(name));
    let branches = branches.and_then(|text| serde_json::from_str::<Vec<RawJson>>(text).ok());
    let mut seen = branches.into_iter().flatten().map(|branch| match cut(branch.as_str()) {
        Some(branch) => allowed(&branch, root, depth),
        None => Allowed::Both,
    });
    let Some(first) = seen.next() else { return Allowed::Both };
    if seen.all(|other| other == first) { first } else { Allowed::Both }
}

/// The target of a reference into the definitions of the schema.
fn definition(root: &Members, reference: &str) -> Option<Members> {
    let (place, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let definitions = root.object(place).ok()?;
    Members::cut(definitions.bytes(name)?).ok()
}

/// The schema of an object that holds the value in one member. Definitions stay at the root, so
/// that references still find them.
fn wrapped(members: &Members) -> Option<Schema> {
    let is_rooted = |name: &str| matches!(name, "$schema" | "$defs" | "definitions");
    let inner = object(members.iter().filter(|(name, _)| !is_rooted(name)));
    let properties = object([(RESULT, inner.as_str())]);
    let required = format!(r#"["{RESULT}"]"#);
    let outer = [
        ("type", r#""object""#),
        ("properties", properties.as_str()),
        ("required", required.as_str()),
    ];
    let rooted = members.iter().filter(|(name, _)| is_rooted(name));
    to_schema(follow(&object(outer.into_iter().chain(rooted))))
}

/// Rewrites references to the root, or to anything in it but definitions, to the new place. Works
/// on the text, without parsing the schema again.
fn follow(schema: &str) -> String {
    const KEY: &str = r#""$ref""#;
    let mut moved = String::with_capacity(schema.len() + 64);
    let mut rest = schema;
    while let Some(at) = rest.find(KEY) {
        let (before, after) = rest.split_at(at + KEY.len());
        moved.push_str(before);
        rest = after;
        let pointer = || after.trim_start().strip_prefix(':')?.trim_start().strip_prefix("\"#");
        let Some(pointer) = pointer() else { continue };
        moved.push_str(":\"#");
        rest = pointer;
        let to_definition = pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/");
        if !to_definition && pointer.starts_with(['/', '"']) {
            moved.push_str("/properties/");
            moved.push_str(RESULT);
        }
    }
    moved + rest
}

fn cut(text: &str) -> Option<Members> {
    Members::cut(Bytes::copy_from_slice(text.as_bytes())).ok()
}

/// Writes an object from names and the text of their values.
fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let member = |(name, value)| Some(format!("{}:{value}", serde_json::to_string(name).ok()?));
    let members: Vec<_> = members.into_iter().filter_map(member).collect();
    format!("{{{}}}", members.join(","))
}

fn to_schema(text: String) -> Option<Schema> {
    Schema::new(RawJson::from_text(text).ok()?).ok()
}
