//! The schema of a form: a small part of JSON Schema. It is flat, and each field is a single value
//! or a choice.
//!
//! A form is built with the methods here, made from the schema of a Rust struct
//! ([`FormSchema::from_schema`]), or read from a peer. Fields keep their order, because the user
//! fills them in in that order.

use serde_json::Number;

use crate::json::{Schema, open_enum};
use crate::ordered::Ordered;
use crate::setters::setters;

mod answer;
mod format;
mod keywords;
mod read;
mod write;

pub use answer::InvalidAnswer;
pub use read::NotAForm;

/// The fields of a form, in order.
///
/// ```
/// use bowline_types::elicitation::schema::{FormSchema, SelectSchema, StringSchema};
/// use bowline_types::{Object, RawJson};
///
/// let form = FormSchema::new()
///     .with_required("city", StringSchema::new().with_max_length(80))
///     .with_optional("class", SelectSchema::new(["first", "second"]));
/// let answer = RawJson::from_text(r#"{"city":"Oslo","class":"third"}"#).unwrap();
/// let error = form.check(&Object::new(answer).unwrap()).unwrap_err();
/// assert_eq!(error.problems().count(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormSchema {
    properties: Ordered<FormField>,
    required: Vec<String>,
}

impl FormSchema {
    /// A form without fields, to ask for consent only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that the user may leave empty.
    #[must_use]
    pub fn with_optional(mut self, name: impl Into<String>, field: impl Into<FormField>) -> Self {
        let name = name.into();
        self.required.retain(|required| *required != name);
        self.properties.set(name, field.into());
        self
    }

    /// Adds a field that the user must fill in.
    #[must_use]
    pub fn with_required(mut self, name: impl Into<String>, field: impl Into<FormField>) -> Self {
        let name = name.into();
        if !self.required.contains(&name) {
            self.required.push(name.clone());
        }
        self.properties.set(name, field.into());
        self
    }

    /// The fields with their names, mutable.
    pub fn fields_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut FormField)> {
        self.properties.iter_mut()
    }

    /// The fields with their names, in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &FormField)> {
        self.properties.iter()
    }

    /// The field with this name.
    pub fn field(&self, name: &str) -> Option<&FormField> {
        self.properties.value(name)
    }

    /// The names of the fields that the user must fill in.
    pub fn required(&self) -> impl ExactSizeIterator<Item = &str> {
        self.required.iter().map(String::as_str)
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// The label.
    pub title: Option<String>,
    /// What the field means, for the user.
    pub description: Option<String>,
    /// The kind of value.
    pub kind: FieldKind,
}

impl FormField {
    /// A field without label and description.
    pub fn new(kind: FieldKind) -> Self {
        Self { title: None, description: None, kind }
    }

    /// A field for a whole number.
    pub fn integer(schema: NumberSchema) -> Self {
        Self::new(FieldKind::Integer(schema))
    }

    /// A field for any number.
    pub fn number(schema: NumberSchema) -> Self {
        Self::new(FieldKind::Number(schema))
    }

    setters! {
        /// Sets the label.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the field means.
        with_description(description: impl Into<String>) { description = Some(description.into()) }
    }
}

/// The kind of value of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    String(StringSchema),
    /// Any number.
    Number(NumberSchema),
    /// A whole number.
    Integer(NumberSchema),
    /// A boolean.
    Boolean(BooleanSchema),
    /// One of several options.
    Select(SelectSchema),
    /// Any number of several options (since 2025-11-25).
    MultiSelect(MultiSelectSchema),
    /// A schema that forms do not allow, as a peer sent it. Its answers are not checked.
    Other(Schema),
}

/// A text field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringSchema {
    /// The least number of characters.
    pub min_length: Option<u64>,
    /// The greatest number of characters.
    pub max_length: Option<u64>,
    /// The format of the text.
    pub format: Option<StringFormat>,
    /// The value that the client fills in first (since 2025-11-25).
    pub default: Option<String>,
}

open_enum! {
    /// The format of a text.
    StringFormat {
        /// An email address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date, such as `2026-07-28`.
        Date = "date",
        /// A date with time and offset, such as `2026-07-28T12:00:00Z`.
        DateTime = "date-time",
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the least number of characters.
        with_min_length(length: u64) { min_length = Some(length) }

        /// Sets the greatest number of characters.
        with_max_length(length: u64) { max_length = Some(length) }

        /// Sets the format.
        with_format(format: StringFormat) { format = Some(format) }

        /// Sets the value that the client fills in first.
        with_default(text: impl Into<String>) { default = Some(text.into()) }
    }
}

impl From<StringSchema> for FormField {
    fn from(schema: StringSchema) -> Self {
        Self::new(FieldKind::String(schema))
    }
}

/// A number field.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    /// The least value.
    pub minimum: Option<Number>,
    /// The greatest value.
    pub maximum: Option<Number>,
    /// The value that the client fills in first (since 2025-11-25).
    pub default: Option<Number>,
}

impl NumberSchema {
    /// Any number.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the least value.
        with_minimum(number: impl Into<Number>) { minimum = Some(number.into()) }

        /// Sets the greatest value.
        with_maximum(number: impl Into<Number>) { maximum = Some(number.into()) }

        /// Sets the value that the client fills in first.
        with_default(number: impl Into<Number>) { default = Some(number.into()) }
    }
}

/// A boolean field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanSchema {
    /// The value that the client fills in first.
    pub default: Option<bool>,
}

impl BooleanSchema {
    /// A field without a default.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the value that the client fills in first.
        with_default(yes: bool) { default = Some(yes) }
    }
}

impl From<BooleanSchema> for FormField {
    fn from(schema: BooleanSchema) -> Self {
        Self::new(FieldKind::Boolean(schema))
    }
}

/// A field with one of several options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectSchema {
    /// The options.
    pub options: Vec<SelectOption>,
    /// How the titles of the options are written.
    pub titles: TitleStyle,
    /// The option that the client selects first (since 2025-11-25).
    pub default: Option<String>,
}

/// How the titles of options are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TitleStyle {
    /// As `oneOf` with `const` and `title` (since 2025-11-25).
    #[default]
    OneOf,
    /// As `enum` with `enumNames`; the only way in 2025-06-18.
    EnumNames,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectOption {
    /// The value in the answer.
    pub value: String,
    /// The text that the user sees, if it differs from the value.
    pub title: Option<String>,
}

impl SelectSchema {
    /// A choice among these options.
    pub fn new(options: impl IntoIterator<Item = impl Into<SelectOption>>) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self { options, titles: TitleStyle::default(), default: None }
    }

    setters! {
        /// Sets the option that the client selects first.
        with_default(value: impl Into<String>) { default = Some(value.into()) }
    }
}

impl From<SelectSchema> for FormField {
    fn from(schema: SelectSchema) -> Self {
        Self::new(FieldKind::Select(schema))
    }
}

impl SelectOption {
    /// An option with a text for the user.
    pub fn titled(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }

    /// The text that the user sees.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

impl From<&str> for SelectOption {
    fn from(value: &str) -> Self {
        Self { value: value.to_owned(), title: None }
    }
}

impl From<String> for SelectOption {
    fn from(value: String) -> Self {
        Self { value, title: None }
    }
}

/// A field with any number of several options (since 2025-11-25).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiSelectSchema {
    /// The options.
    pub options: Vec<SelectOption>,
    /// The least number of selected options.
    pub min_items: Option<u64>,
    /// The greatest number of selected options.
    pub max_items: Option<u64>,
    /// The options that the client selects first.
    pub default: Option<Vec<String>>,
}

impl MultiSelectSchema {
    /// A choice among these options.
    pub fn new(options: impl IntoIterator<Item = impl Into<SelectOption>>) -> Self {
        Self { options: options.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    setters! {
        /// Sets the least number of selected options.
        with_min_items(count: u64) { min_items = Some(count) }

        /// Sets the greatest number of selected options.
        with_max_items(count: u64) { max_items = Some(count) }

        /// Sets the options that the client selects first.
        with_default(values: impl IntoIterator<Item = impl Into<String>>) {
            default = Some(values.into_iter().map(Into::into).collect())
        }
    }
}

impl From<MultiSelectSchema> for FormField {
    fn from(schema: MultiSelectSchema) -> Self {
        Self::new(FieldKind::MultiSelect(schema))
    }
}
