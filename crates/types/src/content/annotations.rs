//! Annotations: audience, priority and time of change of a block or resource.

use serde::{Deserialize, Serialize};

use crate::json::open_enum;
use crate::member::{optional_number, or_default};
use crate::setters::setters;

/// Hints about the audience and the importance of a block or resource. A host may ignore them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Who should see it. Empty if the sender did not specify it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// The importance, from 0 (entirely optional) to 1 (effectively required).
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// The time of the last change, as ISO 8601 text (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// Annotations without any member.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Adds a role that should see it.
        with_audience(role: Role) { audience.push(role) }

        /// Sets the importance. Values outside of 0 to 1 are clamped; NaN is left out.
        with_priority(priority: f64) {
            priority = Some(priority.clamp(0.0, 1.0)).filter(|priority| !priority.is_nan())
        }

        /// Sets the time of the last change, as ISO 8601 text such as `2026-07-28T12:00:00Z`.
        with_last_modified(when: impl Into<String>) { last_modified = Some(when.into()) }
    }
}

open_enum! {
    /// The author of a message, or its audience.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
