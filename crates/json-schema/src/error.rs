//! Why a schema cannot be used.

use std::error::Error;
use std::fmt;

/// A schema that cannot be compiled, with the place of the problem and what to do about it.
///
/// ```
/// use bowline_json_schema::Validator;
/// use serde_json::json;
///
/// let error = Validator::compile(&json!({"properties": {"age": {"type": "int"}}})).unwrap_err();
/// assert_eq!(error.pointer(), "/properties/age/type");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    kind: Kind,
    pointer: String,
    message: String,
}

/// The kinds of problems that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Invalid,
    Dialect,
    External,
    Limits,
    Pattern,
}

impl SchemaError {
    pub(crate) fn new(kind: Kind, pointer: String, message: impl Into<String>) -> Self {
        Self { kind, pointer, message: message.into() }
    }

    /// The JSON pointer of the offending part of the schema; empty for the whole of it.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Whether the schema declares an unsupported dialect, or different dialects in its parts.
    pub fn is_unsupported_dialect(&self) -> bool {
        self.kind == Kind::Dialect
    }

    /// Whether the schema refers to something outside of itself, which is never fetched.
    pub fn is_external_reference(&self) -> bool {
        self.kind == Kind::External
    }

    /// Whether a regular expression is not valid, or cannot be run in linear time.
    pub fn is_pattern_error(&self) -> bool {
        self.kind == Kind::Pattern
    }

    /// Whether the schema is larger or deeper than its [`SchemaLimits`](crate::SchemaLimits) allow.
    pub fn exceeds_limits(&self) -> bool {
        self.kind == Kind::Limits
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "schema at `#{}`: {}", self.pointer, self.message)
    }
}

impl Error for SchemaError {}
