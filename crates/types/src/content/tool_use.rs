//! Tool uses and tool results: content blocks that only sampling has (since 2025-11-25).

use std::ops::Not;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Content, WHAT};
use crate::json::{Object, RawJson};
use crate::member::{self, constant, even_null, or_default};
use crate::meta::Meta;

constant!(ToolUseType = "tool_use");
constant!(ToolResultType = "tool_result");

/// The model's request to call a tool (since 2025-11-25).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUseContent {
    r#type: ToolUseType,
    /// The id that the tool result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub input: Object,
    /// Further metadata. Clients keep it, because some models need it back.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ToolUseContent {
    /// A request to call a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Object) -> Self {
        let (id, name) = (id.into(), name.into());
        Self { r#type: ToolUseType, id, name, input, meta: Meta::new() }
    }
}

/// The result of a tool that the model called (since 2025-11-25).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    r#type: ToolResultType,
    /// The [`ToolUseContent::id`] that this answers.
    pub tool_use_id: String,
    /// The result for the model.
    #[serde(default, deserialize_with = "plain_blocks")]
    pub content: Vec<Content>,
    /// The result for programs. `null` is a value here.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<RawJson>,
    /// Whether the tool failed.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub is_error: bool,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ToolResultContent {
    /// A success with this content.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<Content>) -> Self {
        Self {
            r#type: ToolResultType,
            tool_use_id: tool_use_id.into(),
            content,
            structured_content: None,
            is_error: false,
            meta: Meta::new(),
        }
    }
}

/// Reads blocks of which none is a tool use or tool result.
fn plain_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Content>, D::Error> {
    let blocks = Option::<Vec<RawJson>>::deserialize(deserializer)?.unwrap_or_default();
    let read = |json: RawJson| Content::read_plain(&member::tag::<D::Error>(&json, WHAT)?, json);
    blocks.into_iter().map(read).collect()
}
