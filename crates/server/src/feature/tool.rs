//! Tools: a function, and its definition for clients.

use std::fmt;
use std::time::Duration;

use bowline_types::ext::apps::ToolUi;
use bowline_types::tool::{self as wire, CallToolResult, ToolAnnotations};
use serde::Serialize;

use super::core::{FeatureCore, common_setters};
use crate::handler::{Handler, erase};
use crate::layer::Fault;
use crate::respond::IntoToolResult;
use crate::run::GRACE;
use crate::schema;
use crate::signature::{HandlerSignature, Purpose};
use crate::tool_validator::SourcedSchema;

mod entry;
mod task;
mod view;

pub(crate) use entry::ToolEntry;
pub(crate) use task::TaskNeed;

/// A function that a model can call.
///
/// The schemas of arguments and results come from the function's parameters and result type. The
/// methods here add the rest of the definition, layers, and which callers see the tool.
///
/// ```
/// use bowline_server::{Args, Json, Tool};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Sum {
///     sum: i64,
/// }
///
/// async fn add(Args(add): Args<Add>) -> Json<Sum> {
///     Json(Sum { sum: add.a + add.b })
/// }
///
/// let tool = Tool::new("add", add).describe("Add two numbers").read_only();
/// ```
#[derive(Clone)]
pub struct Tool {
    definition: wire::ToolDefinition,
    core: FeatureCore<CallToolResult>,
    /// What arguments are checked against.
    input: SourcedSchema,
    /// What results are checked against.
    output: Option<SourcedSchema>,
    grace: Duration,
    /// How calls become tasks, if they may.
    task: Option<TaskNeed>,
    /// What the definition says of views; read when the tool is checked.
    ui: Option<ToolUi>,
}

/// A type that stands for one tool. `#[tool]` writes one for a function; `tools![..]` uses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "put `#[tool]` on the function"
)]
pub trait ToolFn {
    /// The tool.
    fn tool() -> Tool;
}

impl Tool {
    /// A tool with a name, served by a function.
    ///
    /// Names hold 1 to 128 characters out of `A-Z a-z 0-9 _ - .`; that is checked when the tool is
    /// registered.
    pub fn new<M, H>(name: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoToolResult + 'static,
    {
        let mut signature = HandlerSignature::of(&[H::describe, H::Output::describe]);
        let (input, output) = signature.take_schemas();
        let input = input.unwrap_or_else(schema::no_arguments);
        let (seen, checked) = output.map(|output| (output.published, output.terms)).unzip();
        let mut definition = wire::ToolDefinition::new(name, input.published);
        definition.output_schema = seen;
        let handler = erase(handler, |result, _| result.into_tool_result());
        Self {
            definition,
            input: input.terms,
            output: checked,
            core: FeatureCore::new(signature, handler, Purpose::Tool),
            grace: GRACE,
            task: None,
            ui: None,
        }
    }

    common_setters! {
        "tool",
        describe: "Tells the model what the tool does and when to use it.",
        hidden: "they do not find it in the list, and calling it fails as if it did not exist.",
        callee: ToolEntry, fault: Fault::Tool,
        layer_error: "An error of the layer is reported to the model, like one of the handler."
    }

    /// Declares that the tool changes nothing (`readOnlyHint`).
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint(|hints| hints.read_only_hint = Some(true))
    }

    /// Declares that the tool may delete or overwrite (`destructiveHint`).
    #[must_use]
    pub fn destructive(self) -> Self {
        self.hint(|hints| hints.destructive_hint = Some(true))
    }

    /// Declares that the tool only adds and never deletes or overwrites (`destructiveHint: false`).
    #[must_use]
    pub fn additive(self) -> Self {
        self.hint(|hints| hints.destructive_hint = Some(false))
    }

    /// Declares that a second call with the same arguments changes nothing more (`idempotentHint`).
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(true))
    }

    /// Declares that the tool works only on the server's own data (`openWorldHint: false`).
    #[must_use]
    pub fn closed_world(self) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(false))
    }

    /// Replaces the schema of the arguments by one written by hand, which clients see word for
    /// word. Arguments are checked against all of it before they are decoded.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Serialize) -> Self {
        match schema::by_hand(&schema) {
            Ok((published, terms)) => {
                (self.definition.input_schema, self.input) = (published, terms);
            }
            Err(reason) => self.core.problem = Some(format!("has a bad input schema: {reason}")),
        }
        self
    }

    /// Replaces the schema of the structured results by one written by hand. Results are checked
    /// against all of it before they are sent.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Serialize) -> Self {
        match schema::by_hand(&schema) {
            Ok((published, terms)) => {
                (self.definition.output_schema, self.output) = (Some(published), Some(terms));
            }
            Err(reason) => self.core.problem = Some(format!("has a bad output schema: {reason}")),
        }
        self
    }

    /// Sets how long the handler may go on after a cancellation, if it takes
    /// [`Cancel`](crate::Cancel). Five seconds by default.
    #[must_use]
    pub fn grace(mut self, duration: Duration) -> Self {
        self.grace = duration;
        self
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The definition that clients get in `tools/list`.
    pub fn definition(&self) -> &wire::ToolDefinition {
        &self.definition
    }

    fn hint(mut self, change: impl FnOnce(&mut ToolAnnotations)) -> Self {
        change(self.definition.annotations.get_or_insert_default());
        self
    }
}

impl From<Tool> for wire::ToolDefinition {
    /// The definition that clients get in `tools/list`.
    fn from(tool: Tool) -> Self {
        tool.definition
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.definition).finish()
    }
}
