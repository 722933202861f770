//! Namespaces that keep the names of several servers apart: `namespace__name`.
//!
//! A host with several servers, or a server that mounts others, needs tool and prompt names that
//! cannot collide. Namespaces use only characters that tool names, and the stricter function names
//! of most model APIs, allow.

use std::fmt;

/// Separates a namespace from a name.
pub const SEPARATOR: &str = "__";

/// The most characters of a namespace. The rest of the 128 characters of a tool name is for the
/// tool.
const LONGEST: usize = 32;

/// The prefix for the names of one server's tools and prompts.
///
/// A namespace neither contains `__` nor ends with `_`, so the first `__` always ends it, and equal
/// names in two namespaces stay different.
///
/// ```
/// use bowline_types::namespace::Namespace;
///
/// let git = Namespace::new("git").unwrap();
/// assert_eq!(git.qualify("status"), "git__status");
/// assert_eq!(Namespace::split("git__status"), Some(("git", "status")));
/// assert!(Namespace::new("not__this").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(String);

impl Namespace {
    /// Checks the text of a namespace.
    ///
    /// # Errors
    ///
    /// If it is not 1 to 32 characters out of `A–Z`, `a–z`, `0–9`, `-` and `_`, or if it begins or
    /// ends with `_` or contains `__`.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidNamespace> {
        let text = text.into();
        match problem(&text) {
            None => Ok(Self(text)),
            Some(reason) => {
                Err(InvalidNamespace { text: text.chars().take(LONGEST).collect(), reason })
            }
        }
    }

    /// The text of the namespace.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Puts a name into this namespace.
    pub fn qualify(&self, name: &str) -> String {
        format!("{}{SEPARATOR}{name}", self.0)
    }

    /// Splits a qualified name into namespace and name. `None` if it has no namespace.
    pub fn split(qualified: &str) -> Option<(&str, &str)> {
        qualified.split_once(SEPARATOR)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error for a text that is not a valid namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidNamespace {
    text: String,
    reason: &'static str,
}

impl InvalidNamespace {
    /// The rule that the text breaks.
    pub fn reason(&self) -> &'static str {
        self.reason
    }
}

impl fmt::Display for InvalidNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace `{}`: {}", self.text, self.reason)
    }
}

impl std::error::Error for InvalidNamespace {}

fn problem(text: &str) -> Option<&'static str> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if text.is_empty() {
        Some("it is empty")
    } else if !text.bytes().all(is_fine) {
        Some("only `A-Z a-z 0-9 - _` are allowed")
    } else if text.len() > LONGEST {
        Some("it has more than 32 characters")
    } else if text.contains(SEPARATOR) || text.starts_with('_') || text.ends_with('_') {
        Some("a `_` stands between two other characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::check_name;

    // spec: TOOL-24
    #[test]
    fn a_qualified_name_leads_back_to_its_parts() {
        let namespaces = ["a", "a-b", "a_b", "A", "a-"];
        let names = ["b", "_b", "__b", "b__c", "_", "a_b", ""];
        let mut seen = std::collections::BTreeSet::new();
        for namespace in namespaces {
            for name in names {
                let qualified = Namespace::new(namespace).unwrap().qualify(name);
                assert_eq!(Namespace::split(&qualified), Some((namespace, name)));
                assert_eq!(check_name(&qualified), Ok(()));
                assert!(seen.insert(qualified));
            }
        }
    }

    // spec: TOOL-24
    #[test]
    fn a_name_that_could_be_taken_for_another_is_refused() {
        for text in ["", "_", "a_", "_a", "a__b", "a.b", "a b", "é", &"a".repeat(33)] {
            assert!(Namespace::new(text).is_err(), "{text}");
        }
    }
}
