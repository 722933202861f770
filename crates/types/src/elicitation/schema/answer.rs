//! Checks the user's answers against the form.
//!
//! A server must not trust what a client sends back (ELIC-58), and clients write numbers and empty
//! fields in different ways. So an answer is checked and brought into one form before a handler
//! reads it.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::Number;

use super::{
    FieldKind, FormField, FormSchema, MultiSelectSchema, NumberSchema, SelectOption, SelectSchema,
    StringSchema, format,
};
use crate::json::{Object, RawJson};
use crate::ordered::Ordered;
use crate::text::counted;

/// Up to this integer, every integer has an exact float.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl FormSchema {
    /// Checks an answer, and normalizes it: whole numbers are written as `2`, not `2.0`, and fields
    /// with `null` are left out.
    ///
    /// Members that the form does not have are kept unchecked.
    ///
    /// # Errors
    ///
    /// Names every field that is missing or wrong, with the reason.
    pub fn check(&self, content: &Object) -> Result<Object, InvalidAnswer> {
        let filled: Ordered<RawJson> = content
            .parse()
            .map_err(|error| InvalidAnswer::new(vec![("content".to_owned(), error.to_string())]))?;
        let fields = self.fields_by_name();
        let mut problems = Vec::new();
        let mut checked = Vec::new();
        let mut names = HashSet::new();
        for (name, value) in filled.iter().filter(|(_, value)| !is_null(value)) {
            names.insert(name);
            match fields.get(name).map_or_else(|| Ok(value.clone()), |field| field.check(value)) {
                Ok(value) => checked.push((name.to_owned(), value)),
                Err(reason) => problems.push((name.to_owned(), reason)),
            }
        }
        for name in self.required().filter(|name| !names.contains(name)) {
            problems.push((name.to_owned(), "it is required but missing".to_owned()));
        }
        if problems.is_empty() { Ok(object(checked)) } else { Err(InvalidAnswer::new(problems)) }
    }

    /// Adds the defaults of fields without an answer, after the answered ones. A client may leave
    /// out what the user did not change (ELIC-22); the handler still sees a complete form.
    #[must_use]
    pub fn fill_defaults(&self, content: &Object) -> Object {
        let Ok(filled) = content.parse::<Ordered<RawJson>>() else { return content.clone() };
        let mut filled: Vec<_> = filled.into_iter().filter(|(_, value)| !is_null(value)).collect();
        let names: HashSet<_> = filled.iter().map(|(name, _)| name.clone()).collect();
        let open = self.fields().filter(|(name, _)| !names.contains(*name));
        filled.extend(open.filter_map(|(name, field)| Some((name.to_owned(), field.default()?))));
        object(filled)
    }

    /// An index of the fields, because a peer's form and answer may be of any length.
    fn fields_by_name(&self) -> HashMap<&str, &FormField> {
        self.fields().collect()
    }
}

fn object(members: Vec<(String, RawJson)>) -> Object {
    // Members with names always form an object.
    let json = RawJson::from_value(&Ordered::from_distinct(members)).unwrap_or_default();
    Object::new(json).unwrap_or_default()
}

fn is_null(value: &RawJson) -> bool {
    value.as_str() == "null"
}

impl FormField {
    /// Gives the value in normal form. The reason is a sentence for the user, about this field.
    fn check(&self, value: &RawJson) -> Result<RawJson, String> {
        match &self.kind {
            FieldKind::String(schema) => check_string(schema, value),
            FieldKind::Number(schema) => check_range(schema, &number(value, "a number")?),
            FieldKind::Integer(schema) => {
                let number = number(value, "a whole number")?;
                let whole = whole(&number);
                let whole = whole.ok_or_else(|| wrong("a whole number", value))?;
                check_range(schema, &whole)?;
                return Ok(RawJson::from_value(&whole).unwrap_or_else(|_| value.clone()));
            }
            FieldKind::Boolean(_) => match value.as_str() {
                "true" | "false" => Ok(()),
                _ => Err(wrong("`true` or `false`", value)),
            },
            FieldKind::Select(schema) => check_select(schema, value),
            FieldKind::MultiSelect(schema) => check_multi_select(schema, value),
            FieldKind::Other(_) => Ok(()),
        }?;
        Ok(value.clone())
    }

    /// The default of the field.
    fn default(&self) -> Option<RawJson> {
        let json = match &self.kind {
            FieldKind::String(schema) => RawJson::from_value(schema.default.as_ref()?),
            FieldKind::Number(schema) | FieldKind::Integer(schema) => {
                RawJson::from_value(schema.default.as_ref()?)
            }
            FieldKind::Boolean(schema) => RawJson::from_value(&schema.default?),
            FieldKind::Select(schema) => RawJson::from_value(schema.default.as_ref()?),
            FieldKind::MultiSelect(schema) => RawJson::from_value(schema.default.as_ref()?),
            FieldKind::Other(_) => return None,
        };
        json.ok()
    }
}

/// Checks length, in characters, and format.
fn check_string(schema: &StringSchema, value: &RawJson) -> Result<(), String> {
    let text: String = value.parse().map_err(|_| wrong("text", value))?;
    let length = text.chars().count() as u64;
    let characters = || counted(text.chars().count(), "character");
    if let Some(least) = schema.min_length.filter(|least| length < *least) {
        return Err(format!("it has {}, fewer than {least}", characters()));
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        return Err(format!("it has {}, more than {most}", characters()));
    }
    match &schema.format {
        Some(format) if !format::fits(format, &text) => {
            Err(format!("`{}` does not look like {}", shown(&text), format::describe(format)))
        }
        _ => Ok(()),
    }
}

fn check_range(schema: &NumberSchema, number: &Number) -> Result<(), String> {
    let is = |order, bound: &&Number| compare(number, bound) == Some(order);
    if let Some(least) = schema.minimum.as_ref().filter(|least| is(Ordering::Less, least)) {
        return Err(format!("{number} is less than {least}"));
    }
    if let Some(most) = schema.maximum.as_ref().filter(|most| is(Ordering::Greater, most)) {
        return Err(format!("{number} is more than {most}"));
    }
    Ok(())
}

fn check_select(schema: &SelectSchema, value: &RawJson) -> Result<(), String> {
    let text: String = value.parse().map_err(|_| wrong("text", value))?;
    check_option(&schema.options, &text)
}

fn check_multi_select(schema: &MultiSelectSchema, value: &RawJson) -> Result<(), String> {
    let chosen: Vec<String> = value.parse().map_err(|_| wrong("a list of texts", value))?;
    let count = chosen.len() as u64;
    let choices = || counted(chosen.len(), "choice");
    if let Some(least) = schema.min_items.filter(|least| count < *least) {
        return Err(format!("it has {}, fewer than {least}", choices()));
    }
    if let Some(most) = schema.max_items.filter(|most| count > *most) {
        return Err(format!("it has {}, more than {most}", choices()));
    }
    chosen.iter().try_for_each(|text| check_option(&schema.options, text))
}

/// The reason lists the options, since the value came from a program and not from a click.
fn check_option(options: &[SelectOption], text: &str) -> Result<(), String> {
    if options.iter().any(|option| option.value == text) {
        return Ok(());
    }
    let mut known: Vec<_> =
        options.iter().take(20).map(|option| format!("`{}`", shown(&option.value))).collect();
    if known.len() < options.len() {
        known.push("…".to_owned());
    }
    Err(format!("`{}` is none of {}", shown(text), known.join(", ")))
}

fn number(value: &RawJson, expected: &str) -> Result<Number, String> {
    value.parse().map_err(|_| wrong(expected, value))
}

/// The number as an integer, if it is one in any spelling.
fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
    Some(Number::from(float as i64))
}

/// Compares integers exactly, and all other numbers as floats.
fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn wrong(expected: &str, value: &RawJson) -> String {
    format!("expected {expected}, found `{}`", shown(value.as_str()))
}

/// The beginning of a text that the user or the peer wrote.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The error for an answer that does not fit its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAnswer {
    problems: Vec<(String, String)>,
}

impl InvalidAnswer {
    fn new(problems: Vec<(String, String)>) -> Self {
        Self { problems }
    }

    /// The fields that are missing or wrong, each with the reason.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.problems.iter().map(|(field, reason)| (field.as_str(), reason.as_str()))
    }
}

impl fmt::Display for InvalidAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (field, reason)) in self.problems().enumerate() {
            write!(f, "{}`{field}`: {reason}", if position == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidAnswer {}

#[cfg(test)]
mod tests;
