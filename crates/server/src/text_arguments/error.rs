//! Why a text cannot be read as the type that a handler takes.

use std::fmt;

use bowline_types::read;
use serde::de;

/// Why a text cannot be read, and which. The text that callers see names the argument and what was
/// expected, with at most forty characters of what came.
#[derive(Debug)]
pub(super) struct TextError {
    name: Option<String>,
    /// What is wrong within the text, if it is JSON.
    inner: Option<read::ReadError>,
    reason: String,
}

impl TextError {
    pub(super) fn expected(what: impl fmt::Display, found: &str) -> Self {
        let shown: String = found.chars().take(40).collect();
        de::Error::custom(format_args!("expected {what}, found {shown:?}"))
    }

    /// Adds the name of the argument, unless it is known.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.name.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same for a part of a text that is JSON.
    pub(super) fn within(inner: read::ReadError) -> Self {
        Self { name: None, inner: Some(inner), reason: String::new() }
    }

    /// The message, with the path of the argument.
    pub(super) fn describe(self, root: &str) -> String {
        let path = match &self.name {
            Some(name) => format!("{root}.{name}"),
            None => root.to_owned(),
        };
        match self.inner {
            Some(inner) => inner.within(&path).to_string(),
            None => format!("`{path}`: {}", self.reason),
        }
    }
}

impl de::Error for TextError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { name: None, inner: None, reason: message.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { name: Some(field.to_owned()), inner: None, reason: "missing".to_owned() }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            Some(inner) => inner.fmt(f),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for TextError {}
