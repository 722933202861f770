//! Completers: handlers that suggest values for arguments of prompts and variables of templates.

use std::fmt;
use std::sync::Arc;

use bowline_proto::request::{Request, Response, Success};
use bowline_types::completion::{CompleteParams, CompleteResult, Completion};
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;

use crate::call::{Call, CallTarget};
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::extract::CompletionInput;
use crate::handler::{ErasedHandler, Handler, erase};
use crate::respond::IntoCompletion;
use crate::run::Callee;
use crate::signature::{HandlerSignature, Purpose};
use crate::states::States;
use crate::text_arguments::TextArguments;

/// The completers of one prompt or template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completers(Vec<Arc<Completer>>);

impl Completers {
    /// Sets the completer of an argument.
    pub(crate) fn insert<M, H>(&mut self, argument: String, handler: H)
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoCompletion + 'static,
    {
        let signature = HandlerSignature::of(&[H::describe]);
        let handler = erase(handler, |suggestions, _| suggestions.into_completion());
        self.0.retain(|other| other.argument != argument);
        self.0.push(Arc::new(Completer { argument, signature, handler }));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The completer of an argument.
    pub(crate) fn find(&self, argument: &str) -> Option<&Arc<Completer>> {
        self.0.iter().find(|completer| completer.argument == argument)
    }

    /// Whether any of them may send log messages.
    pub(crate) fn log(&self) -> bool {
        self.0.iter().any(|completer| completer.signature.logs())
    }

    /// Why one of them cannot be offered over HTTP without authorization, if one cannot.
    pub(crate) fn needs_authorization(&self, who: &str) -> Option<String> {
        let mut completers = self.0.iter();
        let found = completers.find(|completer| completer.signature.is_for_verified_callers())?;
        Some(format!("the {} of {who} takes `Claims`", found.label()))
    }

    /// What is wrong with them, for something that takes these arguments.
    pub(crate) fn problem(&self, known: &[String]) -> Option<String> {
        self.0.iter().find_map(|completer| completer.problem(known))
    }

    /// Checks that all the state that they need is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(crate) fn check_states(&self, who: &str, states: &States) -> Result<(), BuildError> {
        self.0.iter().try_for_each(|completer| {
            let who = format!("the {} of {who}", completer.label());
            completer.signature.check_states(&who, states)
        })
    }
}

/// Completes one argument. It gets the values that the user has chosen for other arguments, where
/// the revision sends them.
pub(crate) struct Completer {
    argument: String,
    signature: HandlerSignature,
    handler: ErasedHandler<Completion>,
}

impl Completer {
    fn problem(&self, known: &[String]) -> Option<String> {
        let argument = &self.argument;
        if !known.contains(argument) {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            return Some(match known.as_slice() {
                [] => format!("completes `{argument}`, but takes nothing"),
                _ => format!("completes `{argument}`, but takes only {}", known.join(", ")),
            });
        }
        let problem = self.signature.problem(Purpose::Completion)?;
        Some(format!("completes `{argument}` with a handler that {problem}"))
    }
}

impl Callee for Completer {
    type Output = Completion;

    fn label(&self) -> String {
        format!("completion of `{}`", self.argument)
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        let Some(CompletionInput(params)) = request.parts.extensions.get() else {
            return Err(self.fail("the params are lost".to_owned(), request.parts.revision));
        };
        let chosen = params.chosen().collect();
        let arguments = TextArguments::of_prompt(chosen, Arc::default());
        Ok(CallTarget::Other { name: self.argument.as_str().into(), arguments })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<Completion>> {
        (self.handler)(call)
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<Completion>) -> Response {
        let revision = call.parts().revision;
        let completion = outcome.map_err(|error| error.into_error(revision))?;
        Success::complete(CompleteResult::new(completion), revision)
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.label())))
    }
}

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Completer").field(&self.argument).finish()
    }
}

/// Reads what is to be completed.
///
/// # Errors
///
/// Says what is missing or has another shape.
pub(crate) fn read(request: &Request) -> Result<CompleteParams, ErrorObject> {
    request.params.parse_all().map_err(ErrorObject::misread_params)
}

/// The answer where there is nothing to suggest. It says that there is no more, so a client does
/// not ask again while the user types.
pub(crate) fn nothing(revision: Revision) -> Response {
    let completion = Completion::new::<String>([]).with_total(0).with_more(false);
    Success::complete(CompleteResult::new(completion), revision)
}
