//! Tools: their definitions, calls and results.

use std::ops::Not;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::content::{Content, join_text};
use crate::empty::NoParams;
use crate::implementation::{Icon, safe_icons};
use crate::invalid::invalid_value;
use crate::json::{Object, RawJson, Schema, open_enum};
use crate::member::{even_null, or_default};
use crate::meta::Meta;
use crate::page::list;
use crate::read::{ReadError, read};
use crate::rpc::{notification, request};
use crate::setters::setters;
use crate::task::TaskMetadata;

mod annotations;
mod plain;

pub use annotations::ToolAnnotations;

/// The definition of a tool, as `tools/list` sends it (`Tool` in the schema).
///
/// ```
/// use bowline_types::Schema;
/// use bowline_types::tool::{ToolAnnotations, ToolDefinition};
///
/// let tool = ToolDefinition::new("add", Schema::default())
///     .with_title("Add two numbers")
///     .with_annotations(ToolAnnotations::new().with_read_only(true));
/// assert_eq!(tool.display_name(), "Add two numbers");
/// assert!(!tool.hints().is_destructive());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name for programs; see [`check_name`].
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of the arguments, which are an object.
    pub input_schema: Schema,
    /// The schema of [`CallToolResult::structured_content`] (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Schema>,
    /// Hints about the effects of a call (since 2025-03-26). Read them through
    /// [`ToolDefinition::hints`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// How the tool may run (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// Icons to show (since 2025-11-25).
    #[serde(default, deserialize_with = "safe_icons", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ToolDefinition {
    /// A tool with its required members.
    pub fn new(name: impl Into<String>, input_schema: Schema) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            execution: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the tool does, for the model.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Sets the schema of the structured results.
        with_output_schema(schema: Schema) { output_schema = Some(schema) }

        /// Sets the hints about the effects of a call.
        with_annotations(annotations: ToolAnnotations) { annotations = Some(annotations) }

        /// Sets whether a call may run as a task.
        with_task_support(support: TaskSupport) {
            execution = Some(ToolExecution { task_support: Some(support) })
        }

        /// Adds an icon.
        with_icon(icon: Icon) { icons.push(icon) }
    }

    /// The name to show people: `title`, else `annotations.title`, else `name`.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// The hints about the effects of a call, with the defaults of the specification where the tool
    /// gives none. Do not rely on hints from an untrusted server.
    pub fn hints(&self) -> &ToolAnnotations {
        static NO_HINTS: ToolAnnotations = ToolAnnotations::new();
        self.annotations.as_ref().unwrap_or(&NO_HINTS)
    }

    /// Whether a call may run as a task of the core protocol (2025-11-25). Forbidden if the tool
    /// does not say.
    pub fn task_support(&self) -> TaskSupport {
        let declared = self.execution.as_ref().and_then(|execution| execution.task_support.clone());
        declared.unwrap_or(TaskSupport::Forbidden)
    }
}

/// How a tool may run (2025-11-25 only).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether a call may run as a task. Read it through [`ToolDefinition::task_support`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

open_enum! {
    /// Whether a call of a tool may run as a task of the core protocol (2025-11-25 only).
    TaskSupport {
        /// A call never runs as a task.
        Forbidden = "forbidden",
        /// A call runs as a task if the client asks for it.
        Optional = "optional",
        /// A call always runs as a task, so the client must ask for it.
        Required = "required",
    }
}

/// The longest tool name that every client must accept, in characters.
pub const MAX_TOOL_NAME: usize = 128;

/// Checks a tool name against the recommendation of the specification: 1 to 128 characters, each
/// one of `A–Z`, `a–z`, `0–9`, `_`, `-` and `.`.
///
/// # Errors
///
/// Says which rule is broken.
pub fn check_name(name: &str) -> Result<(), InvalidToolName> {
    let length = name.chars().count();
    let is_fine = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let reason = match name.chars().find(|c| !is_fine(c)) {
        Some(c) => format!("{c:?} is not one of `A-Z a-z 0-9 _ - .`"),
        None if length == 0 => "it is empty".to_owned(),
        None if length > MAX_TOOL_NAME => {
            format!("{length} characters are more than {MAX_TOOL_NAME}")
        }
        None => return Ok(()),
    };
    Err(InvalidToolName::new(name.chars().take(MAX_TOOL_NAME).collect::<String>(), reason))
}

invalid_value! {
    /// The error for a tool name that clients may refuse.
    InvalidToolName, "tool name"
}

list! {
    /// `tools/list`: the tools of a server, page by page.
    ListTools = ToolsList,
    /// One page of tools.
    ListToolsResult {
        /// The tools.
        tools: ToolDefinition
    }
}

request! {
    /// `tools/call`.
    CallTool = ToolsCall(CallToolParams) -> CallToolResult
}

/// The name and arguments of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallToolParams {
    /// The tool.
    pub name: String,
    /// The arguments, which must fit [`ToolDefinition::input_schema`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Object>,
    /// Asks to run the call as a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl CallToolParams {
    /// A call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None, task: None }
    }

    setters! {
        /// Sets the arguments.
        with_arguments(arguments: Object) { arguments = Some(arguments) }

        /// Asks to run the call as a task.
        with_task(task: TaskMetadata) { task = Some(task) }
    }
}

/// The result of a tool call: content for the model, and optionally a value for programs.
///
/// A tool that ran and failed has a result too, with [`is_error`](Self::is_error). Only a call that
/// could not run, such as one of an unknown tool, is answered with an
/// [`ErrorObject`](crate::ErrorObject).
///
/// ```
/// use bowline_types::CallToolResult;
///
/// let sums = CallToolResult::structured(&[3, 7]).unwrap();
/// assert_eq!(sums.text(), "[3,7]");
/// assert_eq!(sums.parse::<Vec<u8>>().unwrap(), [3, 7]);
///
/// let failure = CallToolResult::error("no city of this name; ask the user for the country");
/// assert!(failure.is_error);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// The result for the model.
    #[serde(default, deserialize_with = "or_default")]
    pub content: Vec<Content>,
    /// The result for programs: an object, or since 2026-07-28 any JSON value including `null`.
    #[serde(default, deserialize_with = "even_null", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<RawJson>,
    /// Whether the tool failed. The model still receives the content, and may try again.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Not::not")]
    pub is_error: bool,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CallToolResult {
    /// A successful result with these content blocks.
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// A successful result with one text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// A failed result, with a text for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::from_text(text) }
    }

    /// A successful result with structured content, and the same JSON as text for clients that do
    /// not read structured content.
    ///
    /// # Errors
    ///
    /// If the value cannot be written as JSON.
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let json = RawJson::from_value(value)?;
        Ok(Self { structured_content: Some(json.clone()), ..Self::from_text(json.as_str()) })
    }

    /// The text blocks, one per line. Empty if there are none.
    pub fn text(&self) -> String {
        join_text(&self.content)
    }

    /// Reads the structured content into a type. Without structured content, which older revisions
    /// do not have, the text blocks are read as JSON instead.
    ///
    /// # Errors
    ///
    /// If neither has the shape of the type. The error names the member that is wrong.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        match &self.structured_content {
            Some(json) => json.parse(),
            None => read(&self.text()),
        }
    }
}

impl From<String> for CallToolResult {
    fn from(text: String) -> Self {
        Self::from_text(text)
    }
}

impl From<&str> for CallToolResult {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

notification! {
    /// `notifications/tools/list_changed`.
    ToolListChanged = ToolsListChanged(NoParams)
}

#[cfg(test)]
mod tests;
