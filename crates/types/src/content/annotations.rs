//! For whom a thing is, and how much it matters.

use serde::{Deserialize, Serialize};

use crate::json::open_enum;
use crate::member;

/// For whom a thing is and how much it matters: hints, never rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Who is meant to see it; empty means that nothing was said.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub audience: Vec<Role>,
    /// From 0, entirely optional, to 1, effectively required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub priority: Option<f64>,
    /// When it last changed, as ISO 8601 text (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// Annotations that say nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds somebody who is meant to see it.
    #[must_use]
    pub fn with_audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }

    /// Says how much it matters; values outside of 0 to 1 are moved to the nearer end.
    #[must_use]
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = Some(priority.clamp(0.0, 1.0)).filter(|priority| !priority.is_nan());
        self
    }

    /// Says when it last changed, as ISO 8601 text such as `2026-07-28T12:00:00Z`.
    #[must_use]
    pub fn with_last_modified(mut self, when: impl Into<String>) -> Self {
        self.last_modified = Some(when.into());
        self
    }
}

open_enum! {
    /// Who speaks, or who is spoken to.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
