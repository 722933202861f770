//! Completion: from a reference and the name of an argument to what completes it.
//!
//! The reference names a prompt or a template, by its name or by a URI that it made. The prompt
//! must be one that the caller sees and has the scopes for, since suggestions may tell something
//! about it.

use std::sync::Arc;

use bowline_proto::request::Request;
use bowline_types::completion::{CompleteParams, Reference};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use super::{Routed, Router, not_offered, unknown};
use crate::extract::CompletionInput;
use crate::feature::completion::{self, Completer, Completers};
use crate::feature::visible::CallerView;
use crate::run::{Callee as _, HandlerRun};

impl Router {
    /// An argument without a completer is answered with an empty list, because clients ask for
    /// every argument that the user types.
    pub(super) fn complete(&self, mut request: Request) -> Result<Routed, ErrorObject> {
        if !self.capabilities().supports_completions() {
            return Err(not_offered(Method::CompletionComplete));
        }
        let params = completion::read(&request)?;
        let completer = match self.completer(&params, self.view(&request)) {
            Ok(Some(completer)) => completer,
            Ok(None) => return completion::nothing(request.parts.revision).map(Routed::done),
            Err(NoCompleter::Refused(error)) => return Err(error),
            Err(NoCompleter::NotHere(error)) => {
                return self.pass_completion(request, params, error);
            }
        };
        request.parts.extensions.insert(CompletionInput(Arc::new(params)));
        Ok(Routed::later(HandlerRun::start(completer, request, self.0.shared.clone())))
    }

    /// What completes an argument; `None` if nothing does.
    fn completer(
        &self,
        params: &CompleteParams,
        view: CallerView<'_>,
    ) -> Result<Option<Arc<Completer>>, NoCompleter> {
        let argument = &params.argument.name;
        match &params.r#ref {
            Reference::Prompt(prompt) => {
                let prompts = self.0.registry.prompts();
                let entry = prompts.find(&prompt.name, view);
                let unknown = || NoCompleter::NotHere(unknown("prompt", &prompt.name));
                let entry = entry.ok_or_else(unknown)?;
                view.check(&**entry, || entry.label()).map_err(NoCompleter::Refused)?;
                choose(entry.completers(), entry.arguments(), argument)
            }
            Reference::Resource(resource) => {
                let templates = self.0.registry.templates();
                // Named by its text, or by a URI that it made.
                let entry = templates.find(&resource.uri, view).or_else(|| {
                    let mut families =
                        templates.iter().filter(|family| family.reader.is_at(&resource.uri));
                    families.find(|family| view.shows(&***family))
                });
                let unknown = || NoCompleter::NotHere(unknown("resource template", &resource.uri));
                let entry = entry.ok_or_else(unknown)?;
                view.check(&**entry, || entry.reader.label()).map_err(NoCompleter::Refused)?;
                choose(entry.reader.completers(), entry.reader.variables(), argument)
            }
            _ => Err(NoCompleter::NotHere(ErrorObject::invalid_params(
                "`ref.type`: expected `ref/prompt` or `ref/resource`",
            ))),
        }
    }
}

/// Why nothing completes an argument.
enum NoCompleter {
    /// The server itself does not have what the argument belongs to; a mounted one may.
    NotHere(ErrorObject),
    /// The argument does not exist, or the caller lacks a scope.
    Refused(ErrorObject),
}

/// An argument that does not exist is an error; one without a completer is not.
fn choose(
    completers: &Completers,
    known: &[String],
    argument: &str,
) -> Result<Option<Arc<Completer>>, NoCompleter> {
    if !known.iter().any(|name| name == argument) {
        return Err(NoCompleter::Refused(unknown("argument", argument)));
    }
    Ok(completers.find(argument).cloned())
}
