//! Reports what is wrong with a value, in words that a model can act on.

use std::error::Error;
use std::fmt;

use serde_json::Value;

use crate::instance::{InstanceLocation, describe};
use crate::node::Types;

/// The violations of a value, in reading order, up to a limit.
///
/// Its text has one line per violation.
///
/// The texts are meant to be sent: they quote at most the beginning of a value, and the number of
/// lines is bounded.
///
/// ```
/// use bowline_json_schema::Validator;
/// use serde_json::json;
///
/// let schema = json!({"properties": {"items": {"items": {"type": "number"}}}});
/// let validator = Validator::compile(&schema).unwrap();
/// let violations = validator.check("arguments", &json!({"items": [1, "abc"]})).unwrap_err();
/// let expected = r#"`arguments.items[1]`: expected a number, found the string "abc""#;
/// assert_eq!(violations.to_string(), expected);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    list: Vec<Violation>,
    is_truncated: bool,
    exceeds_limits: bool,
}

impl Violations {
    /// Sorts the violations and keeps the first `limit`.
    pub(crate) fn new(found: Vec<Violation>, limit: usize) -> Self {
        let is_truncated = found.len() > limit.max(1);
        let mut list: Vec<Violation> = Vec::new();
        for violation in found {
            let place = list
                .partition_point(|other| other.location.position <= violation.location.position);
            list.insert(place, violation);
            list.truncate(limit.max(1));
        }
        Self { list, is_truncated, exceeds_limits: false }
    }

    /// The value was too large or too deep to be checked to the end.
    pub(crate) fn stopped(violation: Violation) -> Self {
        Self { list: vec![violation], is_truncated: false, exceeds_limits: true }
    }

    /// Iterates in reading order of the value.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.list.iter()
    }

    /// Whether there are more violations than are listed.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Whether the check was given up because of [`SchemaLimits`](crate::SchemaLimits). Then the
    /// value is not known to be wrong, and not known to be right.
    pub fn exceeds_limits(&self) -> bool {
        self.exceeds_limits
    }
}

impl<'v> IntoIterator for &'v Violations {
    type Item = &'v Violation;
    type IntoIter = std::slice::Iter<'v, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            violation.fmt(f)?;
        }
        if self.is_truncated {
            f.write_str("\nand more")?;
        }
        Ok(())
    }
}

impl Error for Violations {}

/// One violation of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    location: InstanceLocation,
    reason: String,
    /// Kept beside the text, so that alternatives can be summarized.
    expected: Expected,
}

/// What was expected. Alternatives of `anyOf` and `oneOf` are told apart by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Types(Types),
    /// One of `values`, each written for a message, instead of `found`.
    Values {
        values: Vec<String>,
        found: String,
    },
    Other,
}

impl Expected {
    pub(crate) fn types(types: Types, found: &Value) -> (Self, String) {
        let reason = format!("expected {}, found {}", types.phrase(), describe(found));
        (Self::Types(types), reason)
    }

    pub(crate) fn values(values: Vec<String>, found: String) -> (Self, String) {
        let reason = format!("expected {}, found {found}", one_of(&values));
        (Self::Values { values, found }, reason)
    }
}

/// The most values in a message; more would hide the point.
pub(crate) const MOST_VALUES: usize = 24;

/// The values as a phrase: `"a"`, or `one of "a", "b"`.
fn one_of(values: &[String]) -> String {
    match values {
        [] => "nothing".to_owned(),
        [value] => value.clone(),
        [_, ..] if values.len() <= MOST_VALUES => format!("one of {}", values.join(", ")),
        _ => {
            let some: Vec<_> = values.iter().take(MOST_VALUES).map(String::as_str).collect();
            format!("one of {} or others", some.join(", "))
        }
    }
}

impl Violation {
    pub(crate) fn new(location: InstanceLocation, expected: Expected, reason: String) -> Self {
        Self { location, reason, expected }
    }

    /// Where the value is: `arguments.items[2].price`.
    pub fn path(&self) -> &str {
        &self.location.path
    }

    /// The same place as a JSON pointer into the value, without the name of the root:
    /// `/items/2/price`; empty for the whole value. A missing property is reported where it should
    /// be.
    pub fn pointer(&self) -> &str {
        &self.location.pointer
    }

    /// What is wrong with it: `expected a number, found the string "abc"`.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The types that were expected of the value at this position.
    pub(crate) fn types_at(&self, position: &[usize]) -> Option<Types> {
        match self.expected {
            Expected::Types(types) if self.location.position == position => Some(types),
            _ => None,
        }
    }

    /// The values that were expected.
    pub(crate) fn values(&self) -> Option<&[String]> {
        match &self.expected {
            Expected::Values { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The same violation, with these values allowed too. Used when several alternatives expect
    /// different values of one tag.
    pub(crate) fn or_values(mut self, others: &[String]) -> Self {
        if let Expected::Values { mut values, found } = self.expected {
            // Only as many values are compared as are listed.
            for other in others.iter().take((MOST_VALUES + 1).saturating_sub(values.len())) {
                if !values.contains(other) {
                    values.push(other.clone());
                }
            }
            (self.expected, self.reason) = Expected::values(values, found);
        }
        self
    }

    /// Puts the subject in front of the reason.
    pub(crate) fn about(mut self, subject: &str) -> Self {
        self.reason.insert_str(0, subject);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.location.path, self.reason)
    }
}
