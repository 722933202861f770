//! Which scopes a caller needs for a feature.
//!
//! Lists leave out a feature whose required scopes the caller lacks. They keep one that only needs a
//! step-up, so that the client learns of it and can ask the user for more. Calling either without its
//! scopes is refused with an error that names all of them.

use bowline_proto::request::{Access, Parts};
use bowline_types::error::ErrorObject;

/// The scopes that a feature needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeRules {
    /// Without these the feature is not listed.
    required: Vec<String>,
    /// Without these it is listed all the same.
    step_up: Vec<String>,
}

impl ScopeRules {
    /// Requires scopes, written with spaces between them.
    ///
    /// # Errors
    ///
    /// If one of them is no scope.
    pub(crate) fn require(&mut self, scopes: &str) -> Result<(), String> {
        self.required.extend(parse(scopes)?);
        Ok(())
    }

    /// Requires scopes for calls, but not for lists.
    ///
    /// # Errors
    ///
    /// If one of them is no scope.
    pub(crate) fn step_up(&mut self, scopes: &str) -> Result<(), String> {
        self.step_up.extend(parse(scopes)?);
        Ok(())
    }

    /// Whether there are any.
    pub(crate) fn is_empty(&self) -> bool {
        self.required.is_empty() && self.step_up.is_empty()
    }

    /// Whether some callers do not find the feature in the list.
    pub(crate) fn hides(&self) -> bool {
        !self.required.is_empty()
    }

    /// Whether the list of this caller has the feature.
    pub(crate) fn lists(&self, parts: &Parts) -> bool {
        has_all(&parts.access, &self.required)
    }

    /// Whether this caller may use the feature.
    pub(crate) fn admits(&self, parts: &Parts) -> bool {
        has_all(&parts.access, &self.required) && has_all(&parts.access, &self.step_up)
    }

    /// Refuses a caller that may not use the feature, which `label` names.
    ///
    /// # Errors
    ///
    /// If the caller lacks a scope.
    pub(crate) fn check(
        &self,
        parts: &Parts,
        label: impl FnOnce() -> String,
    ) -> Result<(), ErrorObject> {
        if self.admits(parts) { Ok(()) } else { Err(self.refusal(&label())) }
    }

    #[cold]
    fn refusal(&self, label: &str) -> ErrorObject {
        let mut needed: Vec<&str> = Vec::new();
        for scope in self.required.iter().chain(&self.step_up) {
            if !needed.contains(&scope.as_str()) {
                needed.push(scope);
            }
        }
        let (noun, list) = match needed.as_slice() {
            [scope] => ("scope", format!("`{scope}`")),
            scopes => ("scopes", format!("`{}`", scopes.join("`, `"))),
        };
        let message = format!("the {label} needs the {noun} {list}, which were not all granted");
        ErrorObject::insufficient_scope(message, needed)
    }
}

fn has_all(access: &Access, scopes: &[String]) -> bool {
    scopes.iter().all(|scope| access.has(scope))
}

/// Cuts a list of scopes at its spaces.
fn parse(scopes: &str) -> Result<Vec<String>, String> {
    let words: Vec<&str> = scopes.split(' ').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Err("names an empty scope".to_owned());
    }
    match words.iter().find(|word| !word.bytes().all(is_scope_byte)) {
        Some(word) => {
            Err(format!("names a scope with characters that no scope may have: {word:?}"))
        }
        None => Ok(words.into_iter().map(str::to_owned).collect()),
    }
}

/// Whether a scope may have this byte ([RFC 6749, 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)).
fn is_scope_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')
}
