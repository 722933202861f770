//! Reads what a peer wrote as a type, and says in plain words where it does not fit.
//!
//! Serde does the work, with two differences. A struct is read from an object only: derived code
//! would take an array too, by position. And an error says which member is wrong and what was
//! expected there, instead of a column in a text that nobody sees and a type of ours.

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
use strict::{Strict, Trail};

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
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Misread> {
    read_seed(PhantomData, text)
}

/// Reads JSON text as a type, which takes whole numbers however they are spelled: `1.0` and `1e3` are
/// integers to JSON Schema, and so they are here.
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
pub fn read_owned<T: DeserializeOwned>(text: &str) -> Result<T, Misread> {
    read(text).or_else(|error| match plain_integers(text) {
        // Looked for only now, because hardly anybody writes integers like this.
        Cow::Owned(plain) if error.is_json => read(&plain),
        _ => Err(error),
    })
}

/// Takes bytes as text, which JSON is.
///
/// # Errors
///
/// If they are not UTF-8.
pub fn text(bytes: &[u8]) -> Result<&str, Misread> {
    std::str::from_utf8(bytes).map_err(|error| not_text(&error))
}

/// What to say of bytes that are not UTF-8.
#[cold]
pub fn not_text(error: &std::str::Utf8Error) -> Misread {
    let reason = format!("not UTF-8 at byte {}", error.valid_up_to());
    Misread { path: String::new(), reason, is_json: false }
}

/// Reads JSON text as whatever a seed makes of it.
///
/// # Errors
///
/// If the text is not JSON, or does not have the shape that the seed wants.
pub fn read_seed<'a, S: DeserializeSeed<'a>>(seed: S, text: &'a str) -> Result<S::Value, Misread> {
    let trail = Trail::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(Strict::new(&mut json, &trail));
    let value = value.and_then(|value| json.end().map(|()| value));
    value.map_err(|error| Misread::along(&error, text, &trail.into_steps()))
}

/// Why a text cannot be read as what was wanted, and which part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    path: String,
    reason: String,
    is_json: bool,
}

impl Misread {
    /// Puts an error of `serde_json` into words, given the text that was read.
    pub fn new(error: &serde_json::Error, text: &str) -> Self {
        Self::along(error, text, &[])
    }

    #[cold]
    fn along(error: &serde_json::Error, text: &str, steps: &[Option<usize>]) -> Self {
        // Some shapes are refused as if they were bad syntax, numbers out of range for one.
        let is_json = error.is_data() || serde_json::from_str::<IgnoredAny>(text).is_ok();
        let place = path::Place::of(error, text);
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

    /// Where the part that does not fit is, as far down as is known: `messages[2].role`. Empty if
    /// it is the whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it: `expected a string, found the number 7`.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether the text is JSON at all.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// The same, seen from something larger in which all that was read has this path.
    #[must_use]
    pub fn within(mut self, path: &str) -> Self {
        self.path = path::join(path, &self.path);
        self
    }

    /// The same, seen from an object of which all that was read is the member of this name.
    #[must_use]
    pub fn at_member(self, name: &str) -> Self {
        self.within(&path::step(name))
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl std::error::Error for Misread {}

#[cfg(test)]
mod tests;
