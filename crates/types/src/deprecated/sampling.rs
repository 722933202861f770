//! Sampling: a server asks the client's model. Call a model provider instead.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::content::{Content, Role};
use crate::json::{Object, RawJson, open_enum};
use crate::member::{optional_number, or_default};
use crate::meta::Meta;
use crate::rpc::request;
use crate::setters::setters;
use crate::task::TaskMetadata;
use crate::tool::ToolDefinition;

mod balance;

pub use balance::{UnbalancedToolUse, check_tool_results};

request! {
    /// `sampling/createMessage`.
    CreateMessage = SamplingCreateMessage(CreateMessageParams) -> CreateMessageResult
}

/// A request to the model. The client may ignore everything but `messages` and `max_tokens`.
///
/// ```
/// use bowline_types::deprecated::sampling::{CreateMessageParams, ModelPreferences, SamplingMessage};
///
/// let fast = ModelPreferences::new().with_hint("haiku").with_speed_priority(1.0);
/// let request = CreateMessageParams::new([SamplingMessage::user("Summarize this log: …")], 200)
///     .with_system_prompt("Answer in one sentence.")
///     .with_model_preferences(fast);
/// assert!(request.required_capabilities().supports_sampling());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The model that the server prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// The system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The context to add. Anything but `none` is deprecated since 2025-11-25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// The temperature of the model.
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens of the answer.
    pub max_tokens: u64,
    /// Texts that end the answer.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Parameters for the model's provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// The tools that the model may call (since 2025-11-25).
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may or must call tools (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Asks to run the request as a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl CreateMessageParams {
    /// Asks for the next message of a conversation, of at most `max_tokens` tokens.
    pub fn new(messages: impl IntoIterator<Item = SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            model_preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            max_tokens,
            stop_sequences: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
            task: None,
        }
    }

    setters! {
        /// Sets the model that the server prefers.
        with_model_preferences(preferences: ModelPreferences) {
            model_preferences = Some(preferences)
        }

        /// Sets the system prompt.
        with_system_prompt(prompt: impl Into<String>) { system_prompt = Some(prompt.into()) }

        /// Sets the temperature of the model.
        with_temperature(temperature: f64) { temperature = Some(temperature) }

        /// Adds a text that ends the answer.
        with_stop_sequence(text: impl Into<String>) { stop_sequences.push(text.into()) }

        /// Adds a tool that the model may call.
        with_tool(tool: ToolDefinition) { tools.push(tool) }

        /// Sets whether the model may or must call tools.
        with_tool_choice(choice: ToolChoice) { tool_choice = Some(choice) }
    }

    /// The capabilities that a client needs for this request.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let required = ClientCapabilities::new().with_sampling();
        if self.tools.is_empty() && self.tool_choice.is_none() {
            required
        } else {
            required.with_sampling_tools()
        }
    }
}

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// The author of the message.
    pub role: Role,
    /// The content blocks. A single block is written without an array, as every revision allows.
    #[serde(with = "one_or_many")]
    pub content: Vec<Content>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl SamplingMessage {
    /// A message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, vec![content.into()])
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, vec![content.into()])
    }

    /// A message of either role.
    pub fn new(role: Role, content: Vec<Content>) -> Self {
        Self { role, content, meta: Meta::new() }
    }
}

/// The model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The author; always the assistant.
    pub role: Role,
    /// The content blocks. A single block is written without an array.
    #[serde(with = "one_or_many")]
    pub content: Vec<Content>,
    /// The name of the model.
    pub model: String,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CreateMessageResult {
    /// An answer with one block.
    pub fn new(model: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![content.into()],
            model: model.into(),
            stop_reason: None,
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets why the model stopped.
        with_stop_reason(reason: StopReason) { stop_reason = Some(reason) }
    }
}

/// The model that a server prefers: names first, then priorities from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names. The first one that fits wins.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// The importance of a low price.
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// The importance of speed.
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// The importance of the model's abilities.
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// No preferences.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Adds a name or a part of one, less preferred than those before.
        with_hint(name: impl Into<String>) { hints.push(ModelHint { name: Some(name.into()) }) }

        /// Sets the importance of a low price, clamped to 0 to 1.
        with_cost_priority(priority: f64) { cost_priority = Some(priority.clamp(0.0, 1.0)) }

        /// Sets the importance of speed, clamped to 0 to 1.
        with_speed_priority(priority: f64) { speed_priority = Some(priority.clamp(0.0, 1.0)) }

        /// Sets the importance of the model's abilities, clamped to 0 to 1.
        with_intelligence_priority(priority: f64) {
            intelligence_priority = Some(priority.clamp(0.0, 1.0))
        }
    }
}

/// A model that a server prefers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name or a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Whether the model may or must call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChoice {
    /// The mode. `None` means [`ToolChoiceMode::Auto`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

impl ToolChoice {
    /// A choice with this mode.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

open_enum! {
    /// Whether the model may or must call tools.
    ToolChoiceMode {
        /// The model may call tools.
        Auto = "auto",
        /// The model must call at least one tool.
        Required = "required",
        /// The model must not call tools.
        None = "none",
    }
}

open_enum! {
    /// The context that the client adds.
    IncludeContext {
        /// No context.
        None = "none",
        /// The context of the server that asks (deprecated since 2025-11-25).
        ThisServer = "thisServer",
        /// The context of all servers (deprecated since 2025-11-25).
        AllServers = "allServers",
    }
}

open_enum! {
    /// Why a model stopped. Providers may send other values.
    StopReason {
        /// The answer is complete.
        EndTurn = "endTurn",
        /// The answer reached a stop sequence.
        StopSequence = "stopSequence",
        /// The answer reached the limit of tokens.
        MaxTokens = "maxTokens",
        /// The model calls tools (since 2025-11-25).
        ToolUse = "toolUse",
    }
}

/// Serde functions for content that is one block or an array of blocks.
mod one_or_many {
    use super::{Content, Deserialize, Deserializer, RawJson, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        blocks: &[Content],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match blocks {
            [block] => block.serialize(serializer),
            blocks => blocks.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Content>, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        let blocks = if json.as_str().starts_with('[') {
            json.parse()
        } else {
            json.parse().map(|block| vec![block])
        };
        blocks.map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
