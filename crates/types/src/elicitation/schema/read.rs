//! Makes a form from a JSON Schema: a peer's, or that of a Rust struct.
//!
//! A peer's fields are read as far as forms allow; any other field is kept as it is. A struct of
//! our own must become a form completely, or the error names the field that cannot be asked.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::keywords::{Definitions, FormKeywords};
use super::{
    BooleanSchema, FieldKind, FormField, FormSchema, MultiSelectSchema, NumberSchema, SelectOption,
    SelectSchema, StringFormat, StringSchema, TitleStyle,
};
use crate::json::{RawJson, Schema};
use crate::member::or_default;
use crate::ordered::Ordered;

impl FormSchema {
    /// Makes a form from the schema of a struct with plain fields, as schemars generates it.
    ///
    /// References are followed, `Option` fields become optional, enums become choices, and lists of
    /// enums become multiple choices. Keywords that forms do not have, such as `pattern`, are
    /// dropped; reading the answer into the struct checks them.
    ///
    /// # Errors
    ///
    /// Names the first field that a form cannot ask, and the reason: for example a nested object or
    /// a list of free text.
    pub fn from_schema(schema: &Schema) -> Result<Self, NotAForm> {
        let whole = |reason| NotAForm { field: None, reason };
        let definitions: Definitions =
            schema.parse().map_err(|error| whole(format!("its schema cannot be read: {error}")))?;
        let root = FormKeywords::resolve(schema.as_json(), &definitions).map_err(whole)?;
        if root.types.single().is_some_and(|it| it != "object") || root.properties.is_none() {
            return Err(whole("it is not an object with named fields".to_owned()));
        }
        let mut properties = Ordered::default();
        for (name, schema) in root.properties.unwrap_or_default() {
            let field = FormKeywords::resolve(&schema, &definitions)
                .and_then(|keywords| FormField::from_keywords(keywords, &definitions))
                .map_err(|reason| NotAForm { field: Some(name.clone()), reason })?;
            properties.set(name, field);
        }
        Ok(Self { properties, required: root.required })
    }
}

/// The error for a schema that is not a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAForm {
    field: Option<String>,
    reason: String,
}

impl NotAForm {
    /// The field that a form cannot ask. `None` if the reason is the schema as a whole.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl fmt::Display for NotAForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "field `{field}` cannot be asked in a form: {}", self.reason),
            None => write!(f, "no form can be made of this type: {}", self.reason),
        }
    }
}

impl std::error::Error for NotAForm {}

impl<'de> Deserialize<'de> for FormSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default)]
            r#type: Option<String>,
            #[serde(default, deserialize_with = "or_default")]
            properties: Ordered<FormField>,
            #[serde(default, deserialize_with = "or_default")]
            required: Vec<String>,
        }

        let Wire { r#type, properties, required } = Wire::deserialize(deserializer)?;
        match r#type {
            Some(other) if other != "object" => {
                Err(D::Error::custom(format_args!("a form has the type `object`, not `{other}`")))
            }
            _ => Ok(Self { properties, required }),
        }
    }
}

/// A client shows the fields that it understands, and passes on the others as they are.
impl<'de> Deserialize<'de> for FormField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let schema = Schema::deserialize(deserializer)?;
        let definitions = Definitions::default();
        let field = FormKeywords::resolve(schema.as_json(), &definitions)
            .and_then(|keywords| Self::from_keywords(keywords, &definitions));
        Ok(field.unwrap_or_else(|_| Self::new(FieldKind::Other(schema))))
    }
}

impl FormField {
    /// The reason of a failure is a fragment that follows the name of the field.
    fn from_keywords(keywords: FormKeywords, definitions: &Definitions) -> Result<Self, String> {
        let kind = match keywords.types.single() {
            Some("string") => text(&keywords)?,
            Some("number") => FieldKind::Number(number(&keywords)),
            Some("integer") => FieldKind::Integer(number(&keywords)),
            Some("boolean") => FieldKind::Boolean(BooleanSchema { default: default(&keywords) }),
            Some("array") => FieldKind::MultiSelect(multi_select(&keywords, definitions)?),
            Some("object") => return Err("it is an object, and forms are flat".to_owned()),
            None if keywords.types.is_empty() => {
                let options = options(&keywords)?;
                FieldKind::Select(select(&keywords, options.ok_or("it has no type")?))
            }
            _ => return Err(format!("it has the type {}", keywords.types.display())),
        };
        Ok(Self { title: keywords.title, description: keywords.description, kind })
    }
}

/// A text with fixed values is a choice.
fn text(keywords: &FormKeywords) -> Result<FieldKind, String> {
    if let Some(options) = options(keywords)? {
        return Ok(FieldKind::Select(select(keywords, options)));
    }
    // Clients refuse a form with formats that forms do not have, so those are dropped.
    let format = keywords.format.clone().map(StringFormat::from);
    Ok(FieldKind::String(StringSchema {
        min_length: keywords.min_length,
        max_length: keywords.max_length,
        format: format.filter(|format| !matches!(format, StringFormat::Other(_))),
        default: default(keywords),
    }))
}

fn number(keywords: &FormKeywords) -> NumberSchema {
    NumberSchema {
        minimum: keywords.minimum.clone(),
        maximum: keywords.maximum.clone(),
        default: default(keywords),
    }
}

fn select(keywords: &FormKeywords, options: Vec<SelectOption>) -> SelectSchema {
    let titles =
        if keywords.enum_names.is_some() { TitleStyle::EnumNames } else { TitleStyle::OneOf };
    SelectSchema { options, titles, default: default(keywords) }
}

/// Forms have lists of fixed choices only (ELIC-21).
fn multi_select(
    keywords: &FormKeywords,
    definitions: &Definitions,
) -> Result<MultiSelectSchema, String> {
    let unknown = || "it is a list, and forms allow only lists of fixed choices".to_owned();
    let items = keywords.items.as_ref().ok_or_else(unknown)?;
    let items = FormKeywords::resolve(items, definitions).map_err(|_| unknown())?;
    if items.types.single().is_some_and(|it| it != "string") {
        return Err(unknown());
    }
    Ok(MultiSelectSchema {
        options: options(&items)?.ok_or_else(unknown)?,
        min_items: keywords.min_items,
        max_items: keywords.max_items,
        default: default(keywords),
    })
}

/// The options of a choice. `None` if the schema is not a choice.
fn options(keywords: &FormKeywords) -> Result<Option<Vec<SelectOption>>, String> {
    if let Some(values) = &keywords.values {
        let names = keywords.enum_names.as_deref().unwrap_or_default();
        return plain_options(values, names).map(Some);
    }
    if let Some(constant) = &keywords.constant {
        return plain_options(std::slice::from_ref(constant), &[]).map(Some);
    }
    let Some(alternatives) = keywords.one_of.as_ref().or(keywords.any_of.as_ref()) else {
        return Ok(None);
    };
    let mut options = Vec::new();
    for alternative in alternatives {
        options.extend(alternative_options(alternative)?);
    }
    Ok(Some(options))
}

/// The options of one alternative of `oneOf` or `anyOf`: a `const` with a title, or an `enum`.
fn alternative_options(alternative: &RawJson) -> Result<Vec<SelectOption>, String> {
    let keywords: FormKeywords =
        alternative.parse().map_err(|_| "its alternatives are no fixed choices".to_owned())?;
    if keywords.types.single().is_some_and(|it| it != "string") {
        return Err("its alternatives are not all text".to_owned());
    }
    if let Some(values) = &keywords.values {
        return plain_options(values, &[]);
    }
    let Some(constant) = &keywords.constant else {
        return Err("its alternatives are no fixed choices".to_owned());
    };
    let mut options = plain_options(std::slice::from_ref(constant), &[])?;
    for option in &mut options {
        option.title = keywords.title.clone().or_else(|| keywords.description.clone());
    }
    Ok(options)
}

/// Options from bare values, with their names as far as there are any.
fn plain_options(values: &[RawJson], names: &[String]) -> Result<Vec<SelectOption>, String> {
    let mut names = names.iter().cloned();
    let values = values.iter().filter(|value| value.as_str() != "null");
    let option = |value: &RawJson| {
        let not_text = |_| format!("`{value}` is among its choices and is not text");
        Ok(SelectOption { value: value.parse().map_err(not_text)?, title: names.next() })
    };
    values.map(option).collect()
}

/// The default. `None` if its type is not that of the field.
fn default<T: serde::de::DeserializeOwned>(keywords: &FormKeywords) -> Option<T> {
    keywords.default.as_ref()?.parse().ok()
}

#[cfg(test)]
mod tests;
