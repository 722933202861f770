//! Which names may become attributes.
//!
//! A peer can call a tool by any name. If each of them became an attribute of a metric, the metric
//! would grow without end. So a name counts only after it was answered with a result, which a server
//! gives for registered tools and prompts alone, and only so many names count.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// A set of values that were answered with a result.
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

    /// Adds a value, and says whether it is in the set now.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_names_count() {
        let known = Known::<String>::new(2);
        assert!(!known.has("a"));
        assert!(known.add("a".into()) && known.add("b".into()));
        assert!(!known.add("c".into()), "a third name counts");
        assert!(known.add("a".into()) && known.has("b") && !known.has("c"));
    }
}
