//! Writes a form as the JSON Schema that clients expect.
//!
//! Written by hand, because the shape of a field depends on the revision of the peer: choices with
//! titles are `oneOf` since 2025-11-25 and `enumNames` before, and a choice of several is an array.
//! Which of them is written was decided by projection.

use serde::{Serialize, Serializer};
use serde_json::Number;

use super::{
    FieldKind, FormField, FormSchema, SelectOption, SelectSchema, StringFormat, TitleStyle,
};
use crate::json::RawJson;
use crate::ordered::Ordered;

impl Serialize for FormSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Wire<'a> {
            r#type: &'static str,
            properties: &'a Ordered<FormField>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            required: &'a [String],
        }

        let wire =
            Wire { r#type: "object", properties: &self.properties, required: &self.required };
        wire.serialize(serializer)
    }
}

impl Serialize for FormField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = match &self.kind {
            FieldKind::String(schema) => Wire {
                min_length: schema.min_length,
                max_length: schema.max_length,
                format: schema.format.as_ref(),
                default: json(schema.default.as_ref()),
                ..self.wire("string")
            },
            FieldKind::Number(schema) | FieldKind::Integer(schema) => Wire {
                minimum: schema.minimum.as_ref(),
                maximum: schema.maximum.as_ref(),
                default: json(schema.default.as_ref()),
                ..self.wire(match self.kind {
                    FieldKind::Integer(_) => "integer",
                    _ => "number",
                })
            },
            FieldKind::Boolean(schema) => {
                Wire { default: json(schema.default.as_ref()), ..self.wire("boolean") }
            }
            FieldKind::Select(schema) => self.select(schema),
            FieldKind::MultiSelect(schema) => Wire {
                min_items: schema.min_items,
                max_items: schema.max_items,
                items: Some(items(&schema.options)),
                default: json(schema.default.as_ref()),
                ..self.wire("array")
            },
            FieldKind::Other(schema) => return schema.serialize(serializer),
        };
        wire.serialize(serializer)
    }
}

impl FormField {
    fn wire(&self, r#type: &'static str) -> Wire<'_> {
        Wire {
            r#type,
            title: self.title.as_deref(),
            description: self.description.as_deref(),
            ..Wire::default()
        }
    }

    /// Options without titles are a plain `enum` in every revision.
    fn select<'a>(&'a self, schema: &'a SelectSchema) -> Wire<'a> {
        let options = &schema.options;
        let wire = Wire { default: json(schema.default.as_ref()), ..self.wire("string") };
        match schema.titles {
            _ if !has_titles(options) => Wire { r#enum: Some(values(options)), ..wire },
            TitleStyle::OneOf => Wire { one_of: Some(titled(options)), ..wire },
            TitleStyle::EnumNames => Wire {
                r#enum: Some(values(options)),
                enum_names: Some(options.iter().map(SelectOption::display_name).collect()),
                ..wire
            },
        }
    }
}

/// The keywords of a field, in the order of the specification.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a StringFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<&'a Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enum_names: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Titled<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<ItemSchema<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<RawJson>,
}

#[derive(Serialize)]
struct Titled<'a> {
    r#const: &'a str,
    title: &'a str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemSchema<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Titled<'a>>>,
}

fn items(options: &[SelectOption]) -> ItemSchema<'_> {
    if has_titles(options) {
        ItemSchema { any_of: Some(titled(options)), ..ItemSchema::default() }
    } else {
        ItemSchema {
            r#type: Some("string"),
            r#enum: Some(values(options)),
            ..ItemSchema::default()
        }
    }
}

fn has_titles(options: &[SelectOption]) -> bool {
    options.iter().any(|option| option.title.is_some())
}

fn values(options: &[SelectOption]) -> Vec<&str> {
    options.iter().map(|option| option.value.as_str()).collect()
}

fn titled(options: &[SelectOption]) -> Vec<Titled<'_>> {
    let options = options.iter();
    options.map(|it| Titled { r#const: &it.value, title: it.display_name() }).collect()
}

/// A default as JSON. Text, numbers and booleans always have a JSON form.
fn json<T: Serialize>(default: Option<&T>) -> Option<RawJson> {
    default.and_then(|value| RawJson::from_value(value).ok())
}
