//! Asking the client's model. Call a model provider instead.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::ClientCapabilities;
use crate::content::{Content, Role};
use crate::json::{Json, Object, open_enum};
use crate::legacy::task::TaskMetadata;
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::rpc::Rpc;
use crate::tool::Tool;

mod balance;

pub use balance::{UnbalancedToolUse, check_tool_results};

/// `sampling/createMessage`.
pub enum CreateMessage {}

impl Rpc for CreateMessage {
    const METHOD: Method = Method::SamplingCreateMessage;
    type Params = CreateMessageParams;
    type Result = CreateMessageResult;
}

/// What to ask the model. Everything but `messages` and `max_tokens` is a wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model to prefer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// What to tell the model before the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Which context to add; anything but `none` is deprecated since 2025-11-25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// How freely to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub temperature: Option<f64>,
    /// The most tokens to answer with.
    pub max_tokens: u64,
    /// Texts that end the answer.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub stop_sequences: Vec<String>,
    /// Anything more for the model's provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Object>,
    /// Tools that the model may wish to call (since 2025-11-25).
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub tools: Vec<Tool>,
    /// Whether the model may or must wish to call tools (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Asks for a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl CreateMessageParams {
    /// Asks for an answer to a conversation, in at most so many tokens.
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

    /// Says which model to prefer.
    #[must_use]
    pub fn with_model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Says what to tell the model before the conversation.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Says how freely to answer.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text that ends the answer.
    #[must_use]
    pub fn with_stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.push(text.into());
        self
    }

    /// Adds a tool that the model may wish to call.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Says whether the model may or must wish to call tools.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// What a client must declare to be asked this.
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let required = ClientCapabilities::new().with_sampling();
        if self.tools.is_empty() && self.tool_choice.is_none() {
            required
        } else {
            required.with_sampling_tools()
        }
    }
}

/// One turn of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Whose turn it is.
    pub role: Role,
    /// What is said. A single block stands on the wire without an array, as every revision allows.
    #[serde(with = "one_or_many")]
    pub content: Vec<Content>,
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl SamplingMessage {
    /// The user says this.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, vec![content.into()])
    }

    /// The model says this.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, vec![content.into()])
    }

    /// Somebody says this.
    pub fn new(role: Role, content: Vec<Content>) -> Self {
        Self { role, content, meta: Meta::new() }
    }
}

/// What the model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Whose turn it is; the assistant's.
    pub role: Role,
    /// What is said. A single block stands on the wire without an array.
    #[serde(with = "one_or_many")]
    pub content: Vec<Content>,
    /// The model that said it.
    pub model: String,
    /// Why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CreateMessageResult {
    /// A model said this.
    pub fn new(model: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![content.into()],
            model: model.into(),
            stop_reason: None,
            meta: Meta::new(),
        }
    }

    /// Says why it stopped.
    #[must_use]
    pub fn with_stop_reason(mut self, reason: StopReason) -> Self {
        self.stop_reason = Some(reason);
        self
    }
}

/// Which model to prefer: names first, then what matters, each from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names; the first that fits wins.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub hints: Vec<ModelHint>,
    /// How much the price matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub cost_priority: Option<f64>,
    /// How much the speed matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub speed_priority: Option<f64>,
    /// How much the ability matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// No preference.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name or a part of one, less preferred than those before.
    #[must_use]
    pub fn with_hint(mut self, name: impl Into<String>) -> Self {
        self.hints.push(ModelHint { name: Some(name.into()) });
        self
    }

    /// Says how much the price matters, held between 0 and 1.
    #[must_use]
    pub fn with_cost_priority(mut self, priority: f64) -> Self {
        self.cost_priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Says how much the speed matters, held between 0 and 1.
    #[must_use]
    pub fn with_speed_priority(mut self, priority: f64) -> Self {
        self.speed_priority = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Says how much the ability matters, held between 0 and 1.
    #[must_use]
    pub fn with_intelligence_priority(mut self, priority: f64) -> Self {
        self.intelligence_priority = Some(priority.clamp(0.0, 1.0));
        self
    }
}

/// A model to prefer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// Its name or a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Whether the model may or must wish to call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Which of the three; none given means that it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

impl ToolChoice {
    /// Chooses.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

open_enum! {
    /// Whether the model may or must wish to call tools.
    ToolChoiceMode {
        /// It may.
        Auto = "auto",
        /// It must, at least once.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

open_enum! {
    /// Which context the client is to add.
    IncludeContext {
        /// None.
        None = "none",
        /// That of the server that asks (deprecated since 2025-11-25).
        ThisServer = "thisServer",
        /// That of all servers (deprecated since 2025-11-25).
        AllServers = "allServers",
    }
}

open_enum! {
    /// Why a model stopped. Providers have words of their own.
    StopReason {
        /// It had said everything.
        EndTurn = "endTurn",
        /// It came upon one of the texts that end the answer.
        StopSequence = "stopSequence",
        /// It had no tokens left.
        MaxTokens = "maxTokens",
        /// It wishes to call tools (since 2025-11-25).
        ToolUse = "toolUse",
    }
}

/// Content that is one block or an array of blocks.
mod one_or_many {
    use super::{Content, Deserialize, Deserializer, Json, Serialize, Serializer};

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
        let json = Json::deserialize(deserializer)?;
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
