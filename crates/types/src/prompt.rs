//! Prompts: messages that a server prepares for the user to choose.

use std::collections::BTreeMap;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::content::{Content, Role};
use crate::empty::NoParams;
use crate::implementation::{self, Icon};
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::page::list;
use crate::rpc::{Notice, Rpc};

/// A prompt that can be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name for programs.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it can be filled in with.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub arguments: Vec<PromptArgument>,
    /// Pictures to show for it (since 2025-11-25).
    #[serde(
        default,
        deserialize_with = "implementation::safe_icons",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Prompt {
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

    /// Gives it a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it is good for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The name to show people: `title`, else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Something a prompt can be filled in with; values are always text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name for programs.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What to fill in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the prompt makes no sense without it.
    #[serde(default, deserialize_with = "member::or_default", skip_serializing_if = "Not::not")]
    pub required: bool,
}

impl PromptArgument {
    /// An argument that may be left out.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }

    /// An argument that may not be left out.
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: true, ..Self::new(name) }
    }

    /// Gives it a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what to fill in.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The name to show people: `title`, else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

list! {
    /// Asks for the prompts of a server, page by page.
    ListPrompts = PromptsList,
    /// A page of prompts.
    ListPromptsResult {
        /// The prompts.
        prompts: Prompt
    }
}

/// Asks for the messages of a prompt.
pub enum GetPrompt {}

impl Rpc for GetPrompt {
    const METHOD: Method = Method::PromptsGet;
    type Params = GetPromptParams;
    type Result = GetPromptResult;
}

/// Which prompt is wanted, filled in with what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptParams {
    /// The prompt.
    pub name: String,
    /// Values for its arguments.
    #[serde(
        default,
        deserialize_with = "member::or_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub arguments: BTreeMap<String, String>,
}

impl GetPromptParams {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: BTreeMap::new() }
    }

    /// Fills in an argument.
    #[must_use]
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }
}

/// A prompt, filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, for the model.
    pub messages: Vec<PromptMessage>,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { description: None, messages, meta: Meta::new() }
    }

    /// Says what it is good for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl PromptMessage {
    /// A message of either side.
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

/// Tells that the list of prompts is not what it was.
pub enum PromptListChanged {}

impl Notice for PromptListChanged {
    const METHOD: Method = Method::PromptsListChanged;
    type Params = NoParams;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + for<'de> Deserialize<'de>>(text: &str) {
        let value: T = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }

    #[test]
    fn a_prompt_is_written_as_it_was_read() {
        round_trip::<ListPromptsResult>(
            r#"{"prompts":[{"name":"review","title":"Review","description":"d","arguments":[{"name":"code","title":"Code","description":"d","required":true},{"name":"style"}],"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}],"nextCursor":"2"}"#,
        );
    }

    #[test]
    fn unknown_members_are_ignored_and_null_is_absent() {
        let text = r#"{"name":"a","new":1,"arguments":null,"icons":null,"_meta":null}"#;
        assert_eq!(serde_json::from_str::<Prompt>(text).unwrap(), Prompt::new("a"));
        let text = r#"{"name":"a","required":null}"#;
        let argument: PromptArgument = serde_json::from_str(text).unwrap();
        assert!(!argument.required);
    }

    // spec: CONT-5
    #[test]
    fn prompts_and_arguments_are_shown_by_their_title_or_name() {
        assert_eq!(Prompt::new("a").display_name(), "a");
        assert_eq!(Prompt::new("a").with_title("A").display_name(), "A");
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
