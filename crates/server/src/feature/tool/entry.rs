//! A tool that has been checked, as the registry keeps it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::members::Members;
use bowline_proto::mirror::x_mcp_header::{self, MirroredParam};
use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::ext::apps::ToolUi;
use bowline_types::id::Cursor;
use bowline_types::revision::Revision;
use bowline_types::tool::{CallToolResult, ListToolsResult, check_name};
use bytes::Bytes;
use futures_core::future::BoxFuture;

use super::Tool;
use super::task::TaskNeed;
use crate::call::{Call, CallTarget, ServerShared};
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::feature::set::FeatureEntry;
use crate::feature::visible::{Definition, Visibility};
use crate::run::{Callee, Invocation, ScopeRules, invoke};
use crate::signature::FirstQuestion;
use crate::states::States;
use crate::tool_response::{tool_error, tool_response};
use crate::tool_validator::ToolValidator;

/// A tool that has been checked. Made once, when the tool is registered: schemas are compiled and
/// marks of headers are read then, not at a call.
pub(crate) struct ToolEntry {
    tool: Tool,
    validator: Arc<ToolValidator>,
    /// Arguments that HTTP repeats in headers.
    mirrored: Vec<MirroredParam>,
}

impl ToolEntry {
    /// Checks everything except the state that the tool needs.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the tool.
    pub(crate) fn check(mut tool: Tool) -> Result<Self, BuildError> {
        check_name(tool.name()).map_err(|error| BuildError::new(error.to_string()))?;
        let view = tool.check_view();
        let build_error =
            |reason: &str| BuildError::new(format!("tool `{}` {reason}", tool.name()));
        if let Some(problem) = &tool.core.problem {
            return Err(build_error(problem));
        }
        view.map_err(|problem| build_error(&problem))?;
        let validator = ToolValidator::new(tool.name(), &tool.input, tool.output.as_ref())
            .map_err(|error| build_error(&format!("has a schema that cannot be used: {error}")))?;
        let mirrored = x_mcp_header::mirrored(&tool.definition.input_schema).map_err(|error| {
            build_error(&format!("has an invalid header mark on an argument: {error}"))
        })?;
        Ok(Self { tool, validator: Arc::new(validator), mirrored })
    }

    /// Checks that all the state that the tool needs is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(crate) fn check_states(&self, states: &States) -> Result<(), BuildError> {
        self.tool.core.check_states(&self.label(), states)
    }

    /// Why the tool cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        self.tool.core.needs_authorization(&self.label())
    }

    /// Whether the tool may send log messages.
    pub(crate) fn logs(&self) -> bool {
        self.tool.core.logs()
    }

    /// Checks headers that repeat arguments. Proxies route by these headers, so they must be equal to
    /// the arguments.
    ///
    /// # Errors
    ///
    /// Names the header that differs.
    fn check_headers(&self, request: &Request, arguments: &Bytes) -> Result<(), ErrorObject> {
        let Some(headers) = request.parts.headers.as_ref().filter(|_| !self.mirrored.is_empty())
        else {
            return Ok(());
        };
        // Unreadable arguments are refused later.
        let arguments = Members::cut(arguments.clone()).unwrap_or_default();
        headers.check(&self.mirrored, &arguments)
    }

    /// Whether calls of the tool become tasks; `None` if they never do.
    pub(crate) fn task_need(&self) -> Option<TaskNeed> {
        self.tool.task
    }

    /// What the definition says of views.
    pub(crate) fn ui(&self) -> Option<&ToolUi> {
        self.tool.ui.as_ref()
    }

    /// Whether a second call with the same arguments changes nothing more.
    pub(crate) fn is_idempotent(&self) -> bool {
        let hints = self.tool.definition.annotations.as_ref();
        hints.is_some_and(|hints| hints.idempotent_hint == Some(true))
    }

    /// What the tool asks before its handler runs.
    pub(crate) fn questions(&self) -> &[FirstQuestion] {
        self.tool.core.signature.first_questions()
    }

    /// Calls the tool through its layers.
    pub(crate) fn invoke(
        self: &Arc<Self>,
        request: Request,
        shared: &Arc<ServerShared>,
    ) -> Invocation<Self> {
        invoke(self, self.tool.core.route.as_ref(), request, shared)
    }
}

impl Callee for ToolEntry {
    type Output = CallToolResult;

    fn label(&self) -> String {
        format!("tool `{}`", self.validator.name())
    }

    fn scopes(&self) -> Option<&ScopeRules> {
        Some(&self.tool.core.scopes)
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        // `map_err(Err)` makes a refusal into a `Response`, which is a `Result`.
        let arguments = arguments(&request.params).map_err(Err)?;
        self.check_headers(request, &arguments).map_err(Err)?;
        if let Err(reason) = self.validator.check_arguments(&arguments) {
            return Err(self.fail(reason, request.parts.revision));
        }
        Ok(CallTarget::Tool { validator: self.validator.clone(), arguments })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<CallToolResult>> {
        (self.tool.core.handler)(call)
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<CallToolResult>) -> Response {
        let revision = call.parts().revision;
        let result = match outcome {
            Ok(result) => result,
            Err(error) => return error.into_tool_response(revision),
        };
        if !result.is_error {
            let output = result.structured_content.as_ref();
            let checked = self.validator.check_output(output);
            checked.and_then(|()| self.tool.check_content(&result)).map_err(|reason| {
                ErrorObject::internal(format!("the {} failed: {reason}", self.label()))
            })?;
        }
        tool_response(result, revision)
    }

    fn fail(&self, reason: String, revision: Revision) -> Response {
        tool_error(reason, revision)
    }

    fn grace(&self) -> Option<Duration> {
        self.tool.core.signature.may_clean_up().then_some(self.tool.grace)
    }
}

impl FeatureEntry for ToolEntry {
    const KIND: &'static str = "tools";

    fn name(&self) -> &Arc<str> {
        self.validator.name()
    }

    fn definition(&self) -> Definition<'_> {
        Definition::Tool(&self.tool.definition)
    }

    fn visibility(&self) -> &Visibility {
        &self.tool.core.visibility
    }

    fn scopes(&self) -> &ScopeRules {
        &self.tool.core.scopes
    }

    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response {
        let tools = items.iter().map(|entry| entry.tool.definition.clone()).collect();
        let mut page = ListToolsResult::new(tools);
        page.next_cursor = next;
        Success::complete(page, revision)
    }
}

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

/// The arguments of a call; missing or `null` counts as `{}`.
fn arguments(params: &Members) -> Result<Bytes, ErrorObject> {
    match params.bytes("arguments") {
        None => Ok(Bytes::from_static(b"{}")),
        Some(text) if &*text == b"null" => Ok(Bytes::from_static(b"{}")),
        Some(text) if text.starts_with(b"{") => Ok(text),
        Some(_) => Err(ErrorObject::invalid_params("`arguments`: expected an object")),
    }
}
