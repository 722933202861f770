//! Why a text cannot be read as what a handler wants.

use std::fmt;

use serde::de;

/// Why a text cannot be read, and which.
#[derive(Debug)]
pub(super) struct Misread {
    name: Option<String>,
    reason: String,
}

impl Misread {
    pub(super) fn expected(what: impl fmt::Display, found: &str) -> Self {
        let shown: String = found.chars().take(40).collect();
        de::Error::custom(format_args!("expected {what}, found {shown:?}"))
    }

    /// Says where it happened, unless that is known.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.name.get_or_insert_with(|| name.to_owned());
        self
    }

    /// In words, with the path of what is wrong.
    pub(super) fn describe(&self, root: &str) -> String {
        match &self.name {
            Some(name) => format!("`{root}.{name}`: {}", self.reason),
            None => format!("`{root}`: {}", self.reason),
        }
    }
}

impl de::Error for Misread {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { name: None, reason: message.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { name: Some(field.to_owned()), reason: "missing".to_owned() }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Misread {}
