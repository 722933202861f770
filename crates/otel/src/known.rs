//! Which names may become attributes.
//!
//! A client can call a tool by any name, and a server can list any name. If each of them became an
//! attribute of a metric, the metric would grow without bound. So a name is recorded only if a list of
//! the server contained it, it is short, and it has no hidden characters; and the number of names is
//! limited.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use bowline_types::hidden::has_hidden;
use bowline_types::method::Method;
use bowline_types::read::read;
use serde::Deserialize;

/// The longest name that counts, in bytes: the longest that the specification recommends for a tool,
/// behind the namespace of a gateway.
const LONGEST_NAME: usize = 192;

/// A set of a limited number of values.
pub(crate) struct Known<T> {
    values: RwLock<HashSet<T>>,
    most: usize,
}

impl<T: Eq + Hash> Known<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { values: RwLock::default(), most }
    }

    pub(crate) fn has<Q>(&self, value: &Q) -> bool
    where
        T: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.values.read().unwrap_or_else(PoisonError::into_inner).contains(value)
    }

    /// Adds a value, and returns whether it is in the set now.
    pub(crate) fn add(&self, value: T) -> bool {
        if self.has(&value) {
            return true;
        }
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= self.most && !values.contains(&value) {
            return false;
        }
        values.insert(value);
        true
    }
}

impl Known<String> {
    /// Adds the names of a list of tools or prompts. Results of other methods are ignored.
    pub(crate) fn add_listed(&self, method: Method, result: &str) {
        let items = match method {
            Method::ToolsList => read::<ToolList>(result).map(|it| it.tools),
            Method::PromptsList => read::<PromptList>(result).map(|it| it.prompts),
            _ => return,
        };
        for Item { name } in items.unwrap_or_default() {
            if is_presentable(&name) {
                self.add(name);
            }
        }
    }
}

/// Whether a name may be an attribute: it is short, and has only characters that a reader sees.
pub(crate) fn is_presentable(name: &str) -> bool {
    name.len() <= LONGEST_NAME && !has_hidden(name)
}

#[derive(Deserialize)]
struct ToolList {
    tools: Vec<Item>,
}

#[derive(Deserialize)]
struct PromptList {
    prompts: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limited_number_of_names_counts() {
        let known = Known::<String>::new(2);
        assert!(!known.has("a"));
        assert!(known.add("a".into()) && known.add("b".into()));
        assert!(!known.add("c".into()), "a third name counts");
        assert!(known.add("a".into()) && known.has("b") && !known.has("c"));
    }

    #[test]
    fn a_long_name_and_one_that_a_reader_does_not_see_whole_do_not_count() {
        assert!(is_presentable("git__git_status") && is_presentable(&"a".repeat(LONGEST_NAME)));
        assert!(!is_presentable(&"a".repeat(LONGEST_NAME + 1)));
        for name in ["\u{1b}[2J", "a\nb", "a\u{202e}b", "ad\u{200b}min", "admin\u{fe0f}"] {
            assert!(!is_presentable(name), "{name:?}");
        }
    }
}
