//! Tools: what a server can do for a model, how it is called and what comes back.

use std::fmt;
use std::ops::Not;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::content::{Content, join_text};
use crate::empty::NoParams;
use crate::implementation::{self, Icon};
use crate::json::{Json, Object, Schema, open_enum};
use crate::legacy::task::TaskMetadata;
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::page::list;
use crate::read::{Misread, read};
use crate::rpc::{Notice, Rpc};

mod annotations;
mod plain;

pub use annotations::ToolAnnotations;

/// Something a model can call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Its name for programs; see [`check_name`].
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its arguments look like; the root is an object.
    pub input_schema: Schema,
    /// What [`CallToolResult::structured_content`] looks like (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Schema>,
    /// What calling it may do to the world (since 2025-03-26). Read it through [`Tool::hints`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// How it may be run (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
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

impl Tool {
    /// A tool with a name and the schema of its arguments.
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

    /// Gives it a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Tells the model what it does.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says what its structured results look like.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Schema) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Says what calling it may do to the world.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Says whether it may run as a task.
    #[must_use]
    pub fn with_task_support(mut self, support: TaskSupport) -> Self {
        self.execution = Some(ToolExecution { task_support: Some(support) });
        self
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The name to show people: `title`, else `annotations.title`, else `name`.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// What calling it may do to the world, with the defaults of the specification for a tool
    /// that does not say. Only hints: a server that is not trusted may say anything.
    pub fn hints(&self) -> &ToolAnnotations {
        static UNSAID: ToolAnnotations = ToolAnnotations::new();
        self.annotations.as_ref().unwrap_or(&UNSAID)
    }

    /// Whether it may run as a task of the core protocol (2025-11-25); unsaid means forbidden.
    pub fn task_support(&self) -> TaskSupport {
        let said = self.execution.as_ref().and_then(|execution| execution.task_support.clone());
        said.unwrap_or(TaskSupport::Forbidden)
    }
}

/// How a tool may be run (2025-11-25 only).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether calls may become tasks. Read it through [`Tool::task_support`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

open_enum! {
    /// Whether calls of a tool may become tasks of the core protocol (2025-11-25 only).
    TaskSupport {
        /// They never do.
        Forbidden = "forbidden",
        /// They do when the caller asks for it.
        Optional = "optional",
        /// They always do, so the caller must ask for it.
        Required = "required",
    }
}

/// The longest tool name that clients are told to expect.
pub const MAX_TOOL_NAME: usize = 128;

/// Checks a tool name against what clients are told to expect: 1 to 128 characters out of
/// `A–Z`, `a–z`, `0–9`, `_`, `-` and `.`.
///
/// # Errors
///
/// Says which rule the name breaks.
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
    Err(InvalidToolName { name: name.chars().take(MAX_TOOL_NAME).collect(), reason })
}

/// A tool name that clients may refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidToolName {
    name: String,
    reason: String,
}

impl fmt::Display for InvalidToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool name `{}`: {}", self.name, self.reason)
    }
}

impl std::error::Error for InvalidToolName {}

list! {
    /// Asks for the tools of a server, page by page.
    ListTools = ToolsList,
    /// A page of tools.
    ListToolsResult {
        /// The tools.
        tools: Tool
    }
}

/// Calls a tool.
pub enum CallTool {}

impl Rpc for CallTool {
    const METHOD: Method = Method::ToolsCall;
    type Params = CallToolParams;
    type Result = CallToolResult;
}

/// Which tool to call, with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallToolParams {
    /// The tool.
    pub name: String,
    /// Its arguments, as [`Tool::input_schema`] wants them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Object>,
    /// Asks for a task (2025-11-25 only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl CallToolParams {
    /// A call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: None, task: None }
    }

    /// Adds the arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Object) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Asks for a task.
    #[must_use]
    pub fn with_task(mut self, task: TaskMetadata) -> Self {
        self.task = Some(task);
        self
    }
}

/// What a tool returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// What it said, for the model.
    #[serde(default, deserialize_with = "member::or_default")]
    pub content: Vec<Content>,
    /// What it said, for programs: an object, or since 2026-07-28 any JSON, `null` included.
    #[serde(
        default,
        deserialize_with = "member::even_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Json>,
    /// Whether the tool failed. The model sees the content all the same, and may try again.
    #[serde(default, deserialize_with = "member::or_default", skip_serializing_if = "Not::not")]
    pub is_error: bool,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CallToolResult {
    /// A success that says these blocks.
    pub fn new(content: Vec<Content>) -> Self {
        Self { content, ..Self::default() }
    }

    /// A success that says one text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// A failure that the model is told about.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::from_text(text) }
    }

    /// A success for programs, with the same JSON as text for everybody else.
    ///
    /// # Errors
    ///
    /// If the value cannot be JSON.
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let json = Json::from_value(value)?;
        Ok(Self { structured_content: Some(json.clone()), ..Self::from_text(json.as_str()) })
    }

    /// The text blocks, one per line; empty if there is no text.
    pub fn text(&self) -> String {
        join_text(&self.content)
    }

    /// Reads the structured content as a type. A peer that sent none, because its revision has
    /// none, is expected to have sent the same JSON as text.
    ///
    /// # Errors
    ///
    /// If what was sent does not have the shape of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Misread> {
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

/// Tells that the list of tools is not what it was.
pub enum ToolListChanged {}

impl Notice for ToolListChanged {
    const METHOD: Method = Method::ToolsListChanged;
    type Params = NoParams;
}

#[cfg(test)]
mod tests;
