//! Hints about the effects of a tool call.

use serde::{Deserialize, Serialize};

use crate::setters::setters;

/// Hints of a server about the effects of a tool call.
///
/// The `is_…` methods apply the defaults of the specification, which assume the worst. The hints come
/// from the server: do not base a decision about safety on those of a server that you do not trust.
///
/// ```
/// use bowline_types::tool::ToolAnnotations;
///
/// let none = ToolAnnotations::new();
/// assert!(none.is_destructive() && none.is_open_world() && !none.is_read_only());
/// assert!(!ToolAnnotations::new().with_read_only(true).is_destructive());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The name for people. [`ToolDefinition::title`](super::ToolDefinition::title) takes
    /// precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A call changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// A call may delete or overwrite, not only add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// A call reaches things outside of the server, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Annotations without any hint.
    pub const fn new() -> Self {
        Self {
            title: None,
            read_only_hint: None,
            destructive_hint: None,
            idempotent_hint: None,
            open_world_hint: None,
        }
    }

    setters! {
        /// Sets whether a call changes nothing.
        with_read_only(hint: bool) { read_only_hint = Some(hint) }

        /// Sets whether a call may delete or overwrite.
        with_destructive(hint: bool) { destructive_hint = Some(hint) }

        /// Sets whether a second call with the same arguments has no further effect.
        with_idempotent(hint: bool) { idempotent_hint = Some(hint) }

        /// Sets whether a call reaches things outside of the server.
        with_open_world(hint: bool) { open_world_hint = Some(hint) }
    }

    /// Whether a call changes nothing. No, unless the hint says so.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether a call may delete or overwrite. Yes, unless a hint says otherwise or the tool is
    /// read-only.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether a second call with the same arguments has no further effect. No, unless a hint says
    /// so or the tool is read-only.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether a call reaches things outside of the server. Yes, unless the hint says otherwise.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}
