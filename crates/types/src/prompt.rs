//! Prompts: templates of messages that a server offers to users.

use std::collections::BTreeMap;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::content::{Content, Role};
use crate::empty::NoParams;
use crate::implementation::{Icon, safe_icons};
use crate::member::or_default;
use crate::meta::Meta;
use crate::page::list;
use crate::rpc::{notification, request};
use crate::setters::setters;

/// The definition of a prompt, as `prompts/list` sends it (`Prompt` in the schema).
///
/// ```
/// use bowline_types::prompt::{PromptArgument, PromptDefinition};
///
/// let review = PromptDefinition::new("review")
///     .with_title("Code review")
///     .with_argument(PromptArgument::required("language"))
///     .with_argument(PromptArgument::new("focus"));
/// assert_eq!(review.display_name(), "Code review");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptDefinition {
    /// The name for programs.
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the prompt is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments that it takes.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Icons to show (since 2025-11-25).
    #[serde(default, deserialize_with = "safe_icons", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl PromptDefinition {
    /// A prompt with a name and no arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the prompt is for.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Adds an argument.
        with_argument(argument: PromptArgument) { arguments.push(argument) }

        /// Adds an icon.
        with_icon(icon: Icon) { icons.push(icon) }
    }

    /// The name to show to people: `title`, or else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// An argument of a prompt. Its value is always text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name for programs.
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the value means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the client must send it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub required: bool,
}

impl PromptArgument {
    /// An optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }

    /// A required argument.
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: true, ..Self::new(name) }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the value means.
        with_description(description: impl Into<String>) { description = Some(description.into()) }
    }

    /// The name to show to people: `title`, or else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

list! {
    /// `prompts/list`: the prompts of a server, page by page.
    ListPrompts = PromptsList,
    /// One page of prompts.
    ListPromptsResult {
        /// The prompts.
        prompts: PromptDefinition
    }
}

request! {
    /// `prompts/get`: the messages of a prompt.
    GetPrompt = PromptsGet(GetPromptParams) -> GetPromptResult
}

/// The name of a prompt, and values for its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The name of the prompt.
    pub name: String,
    /// The values, by the name of the argument.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
}

impl GetPromptParams {
    /// A request without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: BTreeMap::new() }
    }

    setters! {
        /// Sets the value of an argument.
        with_argument(name: impl Into<String>, value: impl Into<String>) {
            arguments.insert(name.into(), value.into())
        }
    }
}

/// The messages of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What the prompt is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, for the model.
    pub messages: Vec<PromptMessage>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl GetPromptResult {
    /// A result with these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { description: None, messages, meta: Meta::new() }
    }

    setters! {
        /// Sets what the prompt is for.
        with_description(description: impl Into<String>) { description = Some(description.into()) }
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The author of the message.
    pub role: Role,
    /// The one content block of the message.
    pub content: Content,
}

impl PromptMessage {
    /// A message of either role.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { role, content: content.into() }
    }

    /// A message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

notification! {
    /// `notifications/prompts/list_changed`.
    PromptListChanged = PromptsListChanged(NoParams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    #[test]
    fn a_prompt_is_written_as_it_was_read() {
        round_trip::<ListPromptsResult>(
            r#"{"prompts":[{"name":"review","title":"Review","description":"d","arguments":[{"name":"code","title":"Code","description":"d","required":true},{"name":"style"}],"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}],"nextCursor":"2"}"#,
        );
    }

    #[test]
    fn unknown_members_are_ignored_and_null_is_absent() {
        let text = r#"{"name":"a","new":1,"arguments":null,"icons":null,"_meta":null}"#;
        assert_eq!(
            serde_json::from_str::<PromptDefinition>(text).unwrap(),
            PromptDefinition::new("a")
        );
        let text = r#"{"name":"a","required":null}"#;
        let argument: PromptArgument = serde_json::from_str(text).unwrap();
        assert!(!argument.required);
    }

    // spec: CONT-5
    #[test]
    fn prompts_and_arguments_are_shown_by_their_title_or_name() {
        assert_eq!(PromptDefinition::new("a").display_name(), "a");
        assert_eq!(PromptDefinition::new("a").with_title("A").display_name(), "A");
        assert_eq!(PromptArgument::new("a").display_name(), "a");
        assert_eq!(PromptArgument::new("a").with_title("A").display_name(), "A");
    }

    // spec: PRMT-7
    #[test]
    fn an_argument_that_is_not_text_is_named() {
        let read = crate::read::read::<GetPromptParams>;
        let good = read(r#"{"name":"a","arguments":{"x":"1"}}"#).unwrap();
        assert_eq!(good, GetPromptParams::new("a").with_argument("x", "1"));
        let error = read(r#"{"name":"a","arguments":{"x":"1","y":2}}"#).unwrap_err().to_string();
        assert_eq!(error, "`arguments.y`: expected a string, found the number 2");
    }

    // spec: PRMT-8, PRMT-12
    #[test]
    fn a_message_has_a_role_and_one_block_of_any_type() {
        round_trip::<GetPromptResult>(
            r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":{"type":"resource_link","uri":"a://b","name":"b"}}],"_meta":{"a":1}}"#,
        );
        let text = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
        let error = serde_json::from_str::<PromptMessage>(text).unwrap_err().to_string();
        assert!(error.contains("content block: expected an object"), "{error}");
    }

    #[test]
    fn a_result_without_messages_is_refused() {
        let error = serde_json::from_str::<GetPromptResult>("{}").unwrap_err().to_string();
        assert!(error.contains("missing field `messages`"), "{error}");
    }
}
