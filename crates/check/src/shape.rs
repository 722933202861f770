//! Which members the messages of servers have, in each revision, and what is wrong with a message.
//!
//! The table is `shape/fields.txt`. A value is compared with a type of the table; each difference is a
//! [`ShapeFault`] with the type in which it stands, because that decides which rule is broken.

mod block;
mod table;

use bowline_types::revision::Revision;
use serde_json::Value;

use self::table::{Field, Kind, Presence};

/// One difference between a value and the type that it should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeFault {
    /// The type of the table in which the difference stands, such as `Tool`.
    pub owner: &'static str,
    /// The place in the message, such as `result.tools[0].name`.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

/// Compares a value with a type of the table.
pub(crate) fn faults(
    revision: Revision,
    name: &'static str,
    place: &str,
    value: &Value,
) -> Vec<ShapeFault> {
    let mut check = Check { revision, faults: Vec::new() };
    check.object(name, place, value);
    check.faults
}

/// Whether the table has a type of this name.
pub(crate) fn type_named(name: &str) -> Option<&'static str> {
    table::named(name).map(|(name, _)| name)
}

/// More differences than these in one message are not reported.
const MOST: usize = 8;

/// A comparison that is going on.
struct Check {
    revision: Revision,
    faults: Vec<ShapeFault>,
}

impl Check {
    fn fault(&mut self, owner: &'static str, place: &str, reason: String) {
        if self.faults.len() < MOST {
            self.faults.push(ShapeFault { owner, place: place.to_owned(), reason });
        }
    }

    /// Compares an object with a named type, member by member.
    fn object(&mut self, name: &str, place: &str, value: &Value) {
        let Some((owner, fields)) = table::named(name) else { return };
        if !value.is_object() {
            return self.fault(owner, place, format!("is {}, not an object", kind_of(value)));
        }
        for field in fields {
            self.member(owner, field, place, value);
        }
    }

    fn member(&mut self, owner: &'static str, field: &Field, place: &str, value: &Value) {
        let presence = field.presence(self.revision);
        let inner = format!("{place}.{}", field.name);
        match (presence, value.get(&field.name)) {
            (Presence::Undefined, _) | (Presence::Optional, None) => {}
            (Presence::Required, None) => self.fault(owner, &inner, "is missing".to_owned()),
            (_, Some(member)) => self.value(owner, &field.kind, &inner, member),
        }
    }

    fn value(&mut self, owner: &'static str, kind: &Kind, place: &str, value: &Value) {
        match kind {
            Kind::Named(name) => self.named(owner, name, place, value),
            Kind::List(item) => match value.as_array() {
                Some(items) => {
                    for (index, inner) in items.iter().enumerate() {
                        self.value(owner, item, &format!("{place}[{index}]"), inner);
                    }
                }
                None => self.fault(owner, place, format!("is {}, not an array", kind_of(value))),
            },
            Kind::Map(item) => match value.as_object() {
                Some(members) => {
                    for (key, inner) in members {
                        self.value(owner, item, &format!("{place}.{key}"), inner);
                    }
                }
                None => self.fault(owner, place, format!("is {}, not an object", kind_of(value))),
            },
            Kind::Word(_) | Kind::Simple(_) | Kind::Either(_) => {
                if !is_simple(kind, value) {
                    self.fault(owner, place, format!("is {}, not {kind}", shown(value)));
                }
            }
        }
    }

    /// Types whose kinds depend on another member, and all others of the table.
    fn named(&mut self, owner: &'static str, name: &str, place: &str, value: &Value) {
        match name {
            "ContentBlock" => self.block(block::CONTENT, place, value),
            "SamplingContent" => {
                match value.as_array().filter(|_| self.revision.has_sampling_tools()) {
                    Some(blocks) => {
                        for (index, inner) in blocks.iter().enumerate() {
                            self.block(block::SAMPLING, &format!("{place}[{index}]"), inner);
                        }
                    }
                    None => self.block(block::SAMPLING, place, value),
                }
            }
            "ResourceContents" => self.contents(place, value),
            "Role" => {
                if !matches!(value.as_str(), Some("user" | "assistant")) {
                    self.fault(owner, place, format!("is {}, not a role", shown(value)));
                }
            }
            "Priority" => {
                if !value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)) {
                    self.fault(owner, place, format!("is {}, not from 0 to 1", shown(value)));
                }
            }
            _ => self.object(name, place, value),
        }
    }

    fn block(&mut self, kinds: &'static [block::BlockKind], place: &str, value: &Value) {
        let word = value.get("type").and_then(Value::as_str).unwrap_or_default();
        match kinds.iter().find(|kind| kind.word == word && (kind.exists)(self.revision)) {
            Some(kind) => self.object(kind.name, place, value),
            None => {
                let reason = format!("no content of type `{word}` exists in {}", self.revision);
                self.fault("ContentBlock", place, reason);
            }
        }
    }

    /// Contents of a resource have either text or binary data.
    fn contents(&mut self, place: &str, value: &Value) {
        match (value.get("text").is_some(), value.get("blob").is_some()) {
            (true, true) => {
                self.fault("ResourceContents", place, "has both `text` and `blob`".to_owned());
            }
            (false, false) => {
                self.fault("ResourceContents", place, "has neither `text` nor `blob`".to_owned());
            }
            (true, false) => self.object("TextResourceContents", place, value),
            (false, true) => self.object("BlobResourceContents", place, value),
        }
    }
}

fn is_simple(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Word(word) => value.as_str() == Some(word),
        Kind::Either(kinds) => kinds.iter().any(|kind| is_simple(kind, value)),
        Kind::Simple(name) => match name.as_str() {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64() || is_whole(value),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => true,
        },
        Kind::Named(_) | Kind::List(_) | Kind::Map(_) => false,
    }
}

/// `1.0` is an integer in JSON Schema.
fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A short value itself, or what kind it is.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 40 { format!("`{text}`") } else { kind_of(value).to_owned() }
}

#[cfg(test)]
mod tests;
