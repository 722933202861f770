//! Remembers which items or members of a value were evaluated, for `unevaluatedItems` and
//! `unevaluatedProperties`.
//!
//! An array has a mark for each item, an object one for each member in the order of the value. Most
//! schemas have no `unevaluated…` keyword, so most checks keep no marks.

use serde_json::Value;

/// A mark for each item or member, kept only if a keyword needs them. Made by the schema that has
/// the keyword and passed down to those that it applies to the same value.
pub(crate) enum EvaluatedParts {
    Unwanted,
    Wanted(Vec<bool>),
}

impl EvaluatedParts {
    /// Blank marks for the items or members of a value.
    pub(crate) fn of(value: &Value) -> Self {
        Self::Wanted(match value {
            Value::Array(items) => vec![false; items.len()],
            Value::Object(members) => vec![false; members.len()],
            _ => Vec::new(),
        })
    }

    /// Blank marks for the same value; unwanted if these are.
    pub(crate) fn blank(&self) -> Self {
        match self {
            Self::Unwanted => Self::Unwanted,
            Self::Wanted(marks) => Self::Wanted(vec![false; marks.len()]),
        }
    }

    /// Does nothing if marks are not wanted.
    pub(crate) fn mark(&mut self, position: usize) {
        if let Self::Wanted(marks) = self
            && let Some(mark) = marks.get_mut(position)
        {
            *mark = true;
        }
    }

    pub(crate) fn mark_all(&mut self) {
        if let Self::Wanted(marks) = self {
            marks.fill(true);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if let (Self::Wanted(marks), Self::Wanted(others)) = (self, other) {
            for (mark, other) in marks.iter_mut().zip(others) {
                *mark |= other;
            }
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        matches!(self, Self::Wanted(_))
    }

    pub(crate) fn is_marked(&self, position: usize) -> bool {
        matches!(self, Self::Wanted(marks) if marks.get(position) == Some(&true))
    }

    /// The steps for making and merging these marks.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Unwanted => 0,
            Self::Wanted(marks) => marks.len() / 16,
        }
    }
}
