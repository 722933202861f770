//! Completion: from a reference and the name of an argument to what completes it.

use std::sync::Arc;

use bowline_proto::request::Request;
use bowline_types::completion::{CompleteParams, Reference};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use super::{Routed, Router, not_offered, unknown};
use crate::discover::completes;
use crate::extract::Typing;
use crate::feature::completion::{self, Completer, Completers};
use crate::feature::run::Run;
use crate::feature::visible::View;

impl Router {
    pub(super) fn complete(&self, mut request: Request) -> Result<Routed, ErrorObject> {
        if !completes(&self.0.registry) {
            return Err(not_offered(Method::CompletionComplete));
        }
        let params = completion::read(&request)?;
        let Some(completer) = self.completer(&params, self.view(&request))? else {
            return completion::nothing(request.parts.revision).map(Routed::done);
        };
        request.parts.extensions.insert(Typing(Arc::new(params)));
        Ok(Routed::Complete(Run::start(completer, request, self.0.kit.clone())))
    }

    /// What completes an argument; `None` if nothing does.
    fn completer(
        &self,
        params: &CompleteParams,
        view: View<'_>,
    ) -> Result<Option<Arc<Completer>>, ErrorObject> {
        let argument = &params.argument.name;
        match &params.r#ref {
            Reference::Prompt(prompt) => {
                let prompts = self.0.registry.prompts();
                let entry = prompts.find(&prompt.name, view);
                let entry = entry.ok_or_else(|| unknown("prompt", &prompt.name))?;
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
                let entry = entry.ok_or_else(|| unknown("resource template", &resource.uri))?;
                choose(entry.reader.completers(), entry.reader.variables(), argument)
            }
            _ => Err(ErrorObject::invalid_params(
                "`ref.type`: expected `ref/prompt` or `ref/resource`",
            )),
        }
    }
}

fn choose(
    completers: &Completers,
    known: &[String],
    argument: &str,
) -> Result<Option<Arc<Completer>>, ErrorObject> {
    if !known.iter().any(|name| name == argument) {
        return Err(unknown("argument", argument));
    }
    Ok(completers.find(argument).cloned())
}
