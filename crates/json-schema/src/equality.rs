//! Decides when two JSON values are the same value, as JSON Schema defines it.
//!
//! `serde_json` distinguishes `1` from `1.0`; JSON Schema does not. The order of members does not
//! matter to either. `const`, `enum` and `uniqueItems` use this.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use serde_json::{Map, Value};

use crate::number::Number;

/// Whether two values are equal as JSON Schema defines it.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Number::of(left) == Number::of(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(name, left)| right.get(name).is_some_and(|right| equal(left, right));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}

/// The members of an object, sorted by name. serde_json may keep them in the order of the text.
pub(crate) fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// Finds the first item that equals an earlier one, as `(earlier, later)`.
///
/// The caller has bounded the depth of the items with [`measure`].
pub(crate) fn first_repetition(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen = HashSet::with_capacity(items.len());
    let later = items.iter().position(|item| !seen.insert(Same(item)))?;
    let repeated = items.get(later)?;
    let earlier = items.iter().position(|item| equal(item, repeated))?;
    Some((earlier, later))
}

/// The cost of walking through a value once: one per value in it and one per 256 bytes of text.
///
/// `None` when it nests deeper than `depth`; the walk goes no deeper than that.
pub(crate) fn measure(value: &Value, depth: usize) -> Option<usize> {
    let inner = || depth.checked_sub(1);
    match value {
        Value::String(text) => Some(1 + text.len() / 256),
        Value::Array(items) => {
            let depth = inner()?;
            items.iter().try_fold(1, |sum, item| Some(sum + measure(item, depth)?))
        }
        Value::Object(members) => {
            let depth = inner()?;
            members.iter().try_fold(1, |sum, (name, value)| {
                Some(sum + name.len() / 256 + measure(value, depth)?)
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(1),
    }
}

/// A value that hashes and compares as JSON Schema defines it.
struct Same<'v>(&'v Value);

impl PartialEq for Same<'_> {
    fn eq(&self, other: &Self) -> bool {
        equal(self.0, other.0)
    }
}

impl Eq for Same<'_> {}

impl Hash for Same<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self.0).hash(state);
        match self.0 {
            Value::Null => {}
            Value::Bool(flag) => flag.hash(state),
            Value::Number(number) => Number::of(number).hash(state),
            Value::String(text) => text.hash(state),
            Value::Array(items) => items.iter().for_each(|item| Same(item).hash(state)),
            Value::Object(members) => {
                for (name, value) in sorted(members) {
                    name.hash(state);
                    Same(value).hash(state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spelling_and_order_do_not_make_a_difference() {
        assert!(equal(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!equal(&json!([false]), &json!([0])));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
    }

    #[test]
    fn a_repetition_is_found_with_both_places() {
        let items = [json!(1), json!({"a": 1, "b": 2}), json!("1"), json!({"b": 2.0, "a": 1.0})];
        assert_eq!(first_repetition(&items), Some((1, 3)));
        assert_eq!(first_repetition(&items[..3]), None);
    }

    #[test]
    fn measuring_stops_at_the_depth() {
        assert_eq!(measure(&json!([[1], "x"]), 2), Some(4));
        assert_eq!(measure(&json!([[1], "x"]), 1), None);
    }
}
