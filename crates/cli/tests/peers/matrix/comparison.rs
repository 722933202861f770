//! Reports of a client, place by place.

use std::fmt;

use serde_json::{Map, Value};

/// A place in two reports where they differ.
#[derive(Debug)]
pub(super) struct Difference {
    at: String,
    expected: Value,
    bridged: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, expected, bridged } = self;
        write!(f, "{at}\n  expected: {expected}\n  through the bridge: {bridged}")
    }
}

/// Compares two values, and notes the innermost places where they differ.
pub(super) fn differences(
    at: &str,
    expected: &Value,
    bridged: &Value,
    found: &mut Vec<Difference>,
) {
    match (expected, bridged) {
        (Value::Object(left), Value::Object(right)) => {
            let only_right = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(only_right) {
                differences(&format!("{at}/{key}"), &expected[key], &bridged[key], found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{at}/{index}"), left, right, found);
            }
        }
        _ if expected == bridged => {}
        _ => found.push(Difference {
            at: at.to_owned(),
            expected: expected.clone(),
            bridged: bridged.clone(),
        }),
    }
}

/// The same value with lists of things with names as objects, so that a missing one is a difference
/// of its own.
pub(super) fn named(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let name = |item: &Value| Some((item["name"].as_str()?.to_owned(), named(item)));
            let by_name = items.iter().map(name).collect::<Option<Map<_, _>>>();
            let by_name = by_name.filter(|by_name| !by_name.is_empty());
            by_name.map_or_else(|| items.iter().map(named).collect(), Value::Object)
        }
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), named(value))).collect()
        }
        other => other.clone(),
    }
}

/// Changes the values at a place, which has `*` for any step, and says whether that makes a
/// difference. `Null` is the value of what is absent.
pub(super) fn change(value: &mut Value, at: &[&str], to: &dyn Fn(&Value) -> Value) -> bool {
    let Some((step, rest)) = at.split_first() else {
        let changed = to(value);
        let is_different = changed != *value;
        *value = changed;
        return is_different;
    };
    match value {
        Value::Object(members) if *step == "*" => {
            members.values_mut().fold(false, |is, it| change(it, rest, to) | is)
        }
        Value::Object(members) => {
            let mut member = members.remove(*step).unwrap_or_default();
            let is_different = change(&mut member, rest, to);
            if !member.is_null() {
                members.insert((*step).to_owned(), member);
            }
            is_different
        }
        Value::Array(items) if *step == "*" => {
            items.iter_mut().fold(false, |is, it| change(it, rest, to) | is)
        }
        Value::Array(items) => {
            let item = step.parse().ok().and_then(|index: usize| items.get_mut(index));
            item.is_some_and(|item| change(item, rest, to))
        }
        _ => false,
    }
}
