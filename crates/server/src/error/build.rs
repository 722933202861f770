//! What can be wrong with a server before it serves.

use std::fmt;

/// What is wrong with a server or one of its features; found when it is built or the feature is
/// registered, never while a call runs.
///
/// The text names the feature and what to change. A program usually returns it from `main`.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    kind: Kind,
    message: String,
}

/// Only what callers have predicates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    MissingState,
    Duplicate,
    Other,
}

impl BuildError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { kind: Kind::Other, message: message.into() }
    }

    pub(crate) fn missing_state(who: &str, state: &str) -> Self {
        let message =
            format!("{who} needs `State<{state}>`, but `.state::<{state}>(..)` was never called");
        Self { kind: Kind::MissingState, message }
    }

    pub(crate) fn duplicate(message: String) -> Self {
        Self { kind: Kind::Duplicate, message }
    }

    /// Whether a handler needs state that the server was not given.
    pub fn is_missing_state(&self) -> bool {
        self.kind == Kind::MissingState
    }

    /// Whether a name or URI is taken.
    pub fn is_duplicate(&self) -> bool {
        self.kind == Kind::Duplicate
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for BuildError {
    /// The message, because that is what a `main` that returns the error prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}
