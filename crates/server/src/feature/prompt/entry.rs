//! A prompt that has been checked, as the registry keeps it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::prompt::{GetPromptParams, GetPromptResult, ListPromptsResult};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;

use super::{Prompt, check};
use crate::call::{Call, CallTarget, ServerShared};
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::feature::completion::Completers;
use crate::feature::set::FeatureEntry;
use crate::feature::visible::{Definition, Visibility};
use crate::run::{Callee, GRACE, Invocation, ScopeRules, invoke};
use crate::states::States;
use crate::text_arguments::{TextArguments, TextValidator};

/// A prompt that has been checked.
///
/// The registry makes it once, when a server registers the prompt. It refuses a prompt that is wrong
/// in itself, so a request for this one can fail only by a mistake of its caller.
pub(crate) struct PromptEntry {
    name: Arc<str>,
    prompt: Prompt,
    /// The names of its arguments.
    arguments: Arc<[String]>,
    /// What its arguments have to be, if that is more than their types.
    terms: Option<TextValidator>,
}

impl PromptEntry {
    /// Checks all of a prompt but its state.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the prompt.
    pub(crate) fn check(prompt: Prompt) -> Result<Self, BuildError> {
        if prompt.name().is_empty() {
            return Err(BuildError::new("a prompt has no name; give it one"));
        }
        let arguments: Arc<[String]> =
            prompt.definition.arguments.iter().map(|argument| argument.name.clone()).collect();
        let wrong = |reason: &str| BuildError::new(format!("prompt `{}` {reason}", prompt.name()));
        let completion = || prompt.core.completers.problem(&arguments);
        if let Some(problem) = prompt.core.problem.clone().or_else(completion) {
            return Err(wrong(&problem));
        }
        let terms = TextValidator::of(prompt.core.signature.input())
            .map_err(|error| wrong(&format!("has a schema that cannot be used: {error}")))?;
        Ok(Self { name: prompt.name().into(), prompt, arguments, terms })
    }

    /// Checks that all the state that the prompt needs is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(crate) fn check_states(&self, states: &States) -> Result<(), BuildError> {
        self.prompt.core.check_states(&self.label(), states)
    }

    /// Whether the prompt may send log messages.
    pub(crate) fn logs(&self) -> bool {
        self.prompt.core.logs()
    }

    pub(crate) fn completers(&self) -> &Completers {
        &self.prompt.core.completers
    }

    /// The names of the arguments.
    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Why the prompt cannot be offered over HTTP without authorization, if it cannot.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        self.prompt.core.needs_authorization(&self.label())
    }

    /// Asks for the prompt through its layers.
    pub(crate) fn invoke(
        self: &Arc<Self>,
        request: Request,
        shared: &Arc<ServerShared>,
    ) -> Invocation<Self> {
        invoke(self, self.prompt.core.route.as_ref(), request, shared)
    }

    /// The first argument that must be there and is not. Refused with -32602, before the handler
    /// runs (ERR-4).
    fn missing(&self, params: &GetPromptParams) -> Option<&str> {
        let mut required =
            self.prompt.definition.arguments.iter().filter(|argument| argument.required);
        let missing = required.find(|argument| !params.arguments.contains_key(&argument.name))?;
        Some(&missing.name)
    }
}

impl Callee for PromptEntry {
    type Output = GetPromptResult;

    fn label(&self) -> String {
        format!("prompt `{}`", self.name)
    }

    fn scopes(&self) -> Option<&ScopeRules> {
        Some(&self.prompt.core.scopes)
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        let refused = |reason: String| Err(ErrorObject::invalid_params(reason));
        let params: GetPromptParams =
            request.params.parse_all().map_err(|error| Err(ErrorObject::misread_params(error)))?;
        if let Some(name) = self.missing(&params) {
            let label = self.label();
            return Err(refused(format!("`arguments.{name}`: missing; the {label} requires it")));
        }
        let words = TextArguments::of_prompt(
            params.arguments.into_iter().collect(),
            self.arguments.clone(),
        );
        if let Some(Err(reason)) = self.terms.as_ref().map(|terms| terms.check(&words)) {
            return Err(refused(reason));
        }
        Ok(CallTarget::Other { name: self.name.clone(), arguments: words })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<GetPromptResult>> {
        (self.prompt.core.handler)(call)
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<GetPromptResult>) -> Response {
        let revision = call.parts().revision;
        let mut result = outcome.map_err(|error| error.into_error(revision))?;
        if let Err(reason) = check::messages(&result) {
            return self.fail(reason, revision);
        }
        if result.description.is_none() {
            result.description.clone_from(&self.prompt.definition.description);
        }
        Success::complete(result, revision)
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.label())))
    }

    fn grace(&self) -> Option<Duration> {
        self.prompt.core.signature.may_clean_up().then_some(GRACE)
    }
}

impl FeatureEntry for PromptEntry {
    const KIND: &'static str = "prompts";

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn definition(&self) -> Definition<'_> {
        Definition::Prompt(&self.prompt.definition)
    }

    fn visibility(&self) -> &Visibility {
        &self.prompt.core.visibility
    }

    fn scopes(&self) -> &ScopeRules {
        &self.prompt.core.scopes
    }

    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response {
        let prompts = items.iter().map(|entry| entry.prompt.definition.clone()).collect();
        let mut page = ListPromptsResult::new(prompts);
        page.next_cursor = next;
        Success::complete(page, revision)
    }
}

impl fmt::Debug for PromptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prompt.fmt(f)
    }
}
