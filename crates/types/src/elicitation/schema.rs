//! The small part of JSON Schema that forms are made of: flat, and each field a single value or a
//! choice.
//!
//! A form comes about in three ways: built by hand here, made from the schema of a Rust struct
//! ([`FormSchema::from_schema`]), or read from a peer. Fields keep the order in which they were
//! declared, because that is the order in which a person fills them in.

use serde_json::Number;

use crate::json::{Schema, open_enum};
use crate::ordered::Ordered;

mod answer;
mod format;
mod keywords;
mod read;
mod write;

pub use answer::InvalidAnswer;
pub use read::NotAForm;

/// The fields of a form, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormSchema {
    properties: Ordered<Field>,
    required: Vec<String>,
}

impl FormSchema {
    /// A form without fields: a question of yes or no.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that may be left out.
    #[must_use]
    pub fn with_optional(mut self, name: impl Into<String>, field: impl Into<Field>) -> Self {
        let name = name.into();
        self.required.retain(|required| *required != name);
        self.properties.set(name, field.into());
        self
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn with_required(mut self, name: impl Into<String>, field: impl Into<Field>) -> Self {
        let name = name.into();
        if !self.required.contains(&name) {
            self.required.push(name.clone());
        }
        self.properties.set(name, field.into());
        self
    }

    /// The fields with their names, to be changed in place.
    pub fn fields_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Field)> {
        self.properties.iter_mut()
    }

    /// The fields with their names, in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &Field)> {
        self.properties.iter()
    }

    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.properties.value(name)
    }

    /// The names of the fields that must be filled in.
    pub fn required(&self) -> impl ExactSizeIterator<Item = &str> {
        self.required.iter().map(String::as_str)
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its label.
    pub title: Option<String>,
    /// What is meant, for the person who fills it in.
    pub description: Option<String>,
    /// What can be filled in.
    pub kind: FieldKind,
}

impl Field {
    /// A field of a kind.
    pub fn new(kind: FieldKind) -> Self {
        Self { title: None, description: None, kind }
    }

    /// A whole number.
    pub fn integer(schema: NumberSchema) -> Self {
        Self::new(FieldKind::Integer(schema))
    }

    /// Any number.
    pub fn number(schema: NumberSchema) -> Self {
        Self::new(FieldKind::Number(schema))
    }

    /// Labels it.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what is meant.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// What can be filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// Text.
    String(StringSchema),
    /// Any number.
    Number(NumberSchema),
    /// A whole number.
    Integer(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several.
    Select(SelectSchema),
    /// Any of several (since 2025-11-25).
    MultiSelect(MultiSelectSchema),
    /// Something that forms do not allow, as a peer sent it. Nothing filled in here is checked.
    Other(Schema),
}

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringSchema {
    /// The fewest characters.
    pub min_length: Option<u64>,
    /// The most characters.
    pub max_length: Option<u64>,
    /// What the text looks like.
    pub format: Option<StringFormat>,
    /// What is filled in beforehand (since 2025-11-25).
    pub default: Option<String>,
}

open_enum! {
    /// What a text looks like.
    StringFormat {
        /// A mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day, such as `2026-07-28`.
        Date = "date",
        /// A moment, such as `2026-07-28T12:00:00Z`.
        DateTime = "date-time",
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wants at least so many characters.
    #[must_use]
    pub fn with_min_length(mut self, length: u64) -> Self {
        self.min_length = Some(length);
        self
    }

    /// Wants at most so many characters.
    #[must_use]
    pub fn with_max_length(mut self, length: u64) -> Self {
        self.max_length = Some(length);
        self
    }

    /// Says what the text looks like.
    #[must_use]
    pub fn with_format(mut self, format: StringFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Fills something in beforehand.
    #[must_use]
    pub fn with_default(mut self, text: impl Into<String>) -> Self {
        self.default = Some(text.into());
        self
    }
}

impl From<StringSchema> for Field {
    fn from(schema: StringSchema) -> Self {
        Self::new(FieldKind::String(schema))
    }
}

/// A number.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    /// The least.
    pub minimum: Option<Number>,
    /// The greatest.
    pub maximum: Option<Number>,
    /// What is filled in beforehand (since 2025-11-25).
    pub default: Option<Number>,
}

impl NumberSchema {
    /// Any number.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wants at least this.
    #[must_use]
    pub fn with_minimum(mut self, number: impl Into<Number>) -> Self {
        self.minimum = Some(number.into());
        self
    }

    /// Wants at most this.
    #[must_use]
    pub fn with_maximum(mut self, number: impl Into<Number>) -> Self {
        self.maximum = Some(number.into());
        self
    }

    /// Fills something in beforehand.
    #[must_use]
    pub fn with_default(mut self, number: impl Into<Number>) -> Self {
        self.default = Some(number.into());
        self
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanSchema {
    /// What is filled in beforehand.
    pub default: Option<bool>,
}

impl BooleanSchema {
    /// Yes or no, and nothing beforehand.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills something in beforehand.
    #[must_use]
    pub fn with_default(mut self, yes: bool) -> Self {
        self.default = Some(yes);
        self
    }
}

impl From<BooleanSchema> for Field {
    fn from(schema: BooleanSchema) -> Self {
        Self::new(FieldKind::Boolean(schema))
    }
}

/// One of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectSchema {
    /// What there is to choose from.
    pub options: Vec<SelectOption>,
    /// How titles of options stand on the wire.
    pub titles: TitleStyle,
    /// What is chosen beforehand (since 2025-11-25).
    pub default: Option<String>,
}

/// How titles of options stand on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TitleStyle {
    /// As `oneOf` with `const` and `title` (since 2025-11-25).
    #[default]
    OneOf,
    /// As `enum` with `enumNames`, the only way of 2025-06-18.
    EnumNames,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectOption {
    /// What the server gets.
    pub value: String,
    /// What the person sees; the value if there is none.
    pub title: Option<String>,
}

impl SelectSchema {
    /// Chooses from these.
    pub fn new(options: impl IntoIterator<Item = impl Into<SelectOption>>) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self { options, titles: TitleStyle::default(), default: None }
    }

    /// Chooses something beforehand.
    #[must_use]
    pub fn with_default(mut self, value: impl Into<String>) -> Self {
        self.default = Some(value.into());
        self
    }
}

impl From<SelectSchema> for Field {
    fn from(schema: SelectSchema) -> Self {
        Self::new(FieldKind::Select(schema))
    }
}

impl SelectOption {
    /// Something to choose, with a title to show.
    pub fn titled(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }

    /// What the person sees.
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

/// Any of several (since 2025-11-25).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiSelectSchema {
    /// What there is to choose from.
    pub options: Vec<SelectOption>,
    /// The fewest to choose.
    pub min_items: Option<u64>,
    /// The most to choose.
    pub max_items: Option<u64>,
    /// What is chosen beforehand.
    pub default: Option<Vec<String>>,
}

impl MultiSelectSchema {
    /// Chooses from these.
    pub fn new(options: impl IntoIterator<Item = impl Into<SelectOption>>) -> Self {
        Self { options: options.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Wants at least so many.
    #[must_use]
    pub fn with_min_items(mut self, count: u64) -> Self {
        self.min_items = Some(count);
        self
    }

    /// Wants at most so many.
    #[must_use]
    pub fn with_max_items(mut self, count: u64) -> Self {
        self.max_items = Some(count);
        self
    }

    /// Chooses something beforehand.
    #[must_use]
    pub fn with_default(mut self, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.default = Some(values.into_iter().map(Into::into).collect());
        self
    }
}

impl From<MultiSelectSchema> for Field {
    fn from(schema: MultiSelectSchema) -> Self {
        Self::new(FieldKind::MultiSelect(schema))
    }
}
