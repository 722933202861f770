//! Reads JSON from a peer into a type, with errors in plain words.
//!
//! Serde does the work, with two differences. A struct is read only from an object; derived code
//! would also take an array, by position. And an error names the member that is wrong and what was
//! expected there, not a column of the text and the name of a Rust type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny};

mod integers;
mod path;
mod strict;
mod words;

pub use integers::plain_integers;
use strict::{ErrorPath, Strict};

/// Reads JSON text as a type.
///
/// ```
/// use bowline_types::read::read;
/// use bowline_types::subscription::ListenParams;
///
/// let error = read::<ListenParams>(r#"{"notifications":[true]}"#).unwrap_err();
/// let expected = "`params.notifications`: expected an object, found an array";
/// assert_eq!(error.within("params").to_string(), expected);
/// ```
///
/// # Errors
///
/// If the text is not JSON, or does not have the shape of the type.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ReadError> {
    read_seed(PhantomData, text)
}

/// Reads JSON text as a type, and accepts integers spelled `1.0` or `1e3`, as JSON Schema does.
///
/// ```
/// use bowline_types::read::{read, read_owned};
///
/// assert_eq!(read_owned("[1.0, 1e3]"), Ok(vec![1_u32, 1000]));
/// assert!(read::<Vec<u32>>("[1.0]").is_err());
/// ```
///
/// # Errors
///
/// If the text is not JSON, or does not have the shape of the type.
pub fn read_owned<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    read(text).or_else(|error| match plain_integers(text) {
        // Only after a failure, because such integers are rare.
        Cow::Owned(plain) if error.is_json => read(&plain),
        _ => Err(error),
    })
}

/// Checks that bytes are UTF-8, as JSON must be.
///
/// # Errors
///
/// If they are not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, ReadError> {
    std::str::from_utf8(bytes).map_err(|error| not_text(&error))
}

/// The error for bytes that are not UTF-8.
#[cold]
pub fn not_text(error: &std::str::Utf8Error) -> ReadError {
    let reason = format!("not UTF-8 at byte {}", error.valid_up_to());
    ReadError { path: String::new(), reason, is_json: false }
}

/// Reads JSON text with a seed.
///
/// # Errors
///
/// If the text is not JSON, or does not have the shape that the seed wants.
pub fn read_seed<'a, S: DeserializeSeed<'a>>(
    seed: S,
    text: &'a str,
) -> Result<S::Value, ReadError> {
    let path = ErrorPath::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(Strict::new(&mut json, &path));
    let value = value.and_then(|value| json.end().map(|()| value));
    value.map_err(|error| ReadError::along(&error, text, &path.into_steps()))
}

/// The reason why a JSON text does not fit a type, and the path of the part that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    path: String,
    reason: String,
    is_json: bool,
}

impl ReadError {
    /// Puts an error of `serde_json` into plain words, given the text that was read.
    pub fn new(error: &serde_json::Error, text: &str) -> Self {
        Self::along(error, text, &[])
    }

    #[cold]
    fn along(error: &serde_json::Error, text: &str, steps: &[Option<usize>]) -> Self {
        // `serde_json` reports some wrong shapes as bad syntax, for example numbers out of range.
        let is_json = error.is_data() || serde_json::from_str::<IgnoredAny>(text).is_ok();
        let place = path::ErrorPosition::of(error, text);
        let reason = words::reason(error);
        let (path, reason) = if !is_json {
            (String::new(), format!("not JSON: {reason} {place}"))
        } else if let Some(member) = words::missing(&reason) {
            (path::join(&place.path(steps), &path::step(member)), "missing".to_owned())
        } else {
            (place.path(steps), words::plain(&reason))
        };
        Self { path, reason, is_json }
    }

    /// The path of the part that does not fit, as exact as is known: `messages[2].role`. Empty if
    /// it is the whole text.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong: `expected a string, found the number 7`.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether the text is JSON at all.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// Prefixes the path, for text that is part of a larger message at this path.
    #[must_use]
    pub fn within(mut self, path: &str) -> Self {
        self.path = path::join(path, &self.path);
        self
    }

    /// Prefixes the path, for text that is the member of this name in an object.
    #[must_use]
    pub fn at_member(self, name: &str) -> Self {
        self.within(&path::step(name))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests;
