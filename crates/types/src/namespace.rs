//! Names of several servers side by side: `namespace__name`.
//!
//! A host that has several servers, or a server that stands for others, needs names for their tools
//! and prompts that cannot collide, whatever the servers call them. Both parts are free of anything
//! that the grammar of tool names, or the stricter one of most models' interfaces, does not allow.

use std::fmt;

/// What stands between a namespace and a name in it.
pub const SEPARATOR: &str = "__";

/// The most characters of a namespace, so that most of those of a tool's name are left to the tool.
const LONGEST: usize = 32;

/// What the tools and prompts of one server among several have before their names.
///
/// No namespace holds or ends in what separates the two, so that the first `__` always ends it: the
/// same name in two namespaces is never the same.
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
    /// If it is not 1 to 32 characters out of `A–Z`, `a–z`, `0–9`, `-` and `_`, where `_` stands
    /// neither first nor last nor beside another.
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

    /// How a name in this namespace is written.
    pub fn qualify(&self, name: &str) -> String {
        format!("{}{SEPARATOR}{name}", self.0)
    }

    /// The two parts of a qualified name; `None` if it is not one.
    pub fn split(qualified: &str) -> Option<(&str, &str)> {
        qualified.split_once(SEPARATOR)
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that cannot be a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidNamespace {
    text: String,
    reason: &'static str,
}

impl InvalidNamespace {
    /// What is wrong with it.
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
        Some("only `A-Z a-z 0-9 - _` can stand in it")
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
