//! What is served beside tools, and prompts: from a name to the prompt that makes the messages.

use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use super::{Routed, Router, name, not_offered};

impl Router {
    /// Serves a request that concerns a prompt, a resource or completion.
    pub(super) fn serve_feature(&self, request: Request) -> Result<Routed, ErrorObject> {
        match request.parts.method {
            Method::PromptsGet => self.get_prompt(request),
            Method::ResourcesRead => self.read_resource(request),
            Method::ResourcesSubscribe => self.subscribe(request),
            Method::CompletionComplete => self.complete(request),
            method => Err(not_offered(method)),
        }
    }

    /// Lists prompts, resources or templates of the server itself.
    pub(super) fn list_feature(&self, request: &Request) -> Response {
        match request.parts.method {
            Method::PromptsList => self.list_prompts(request),
            Method::ResourcesList => self.list_resources(request),
            Method::ResourcesTemplatesList => self.list_templates(request),
            method => Err(not_offered(method)),
        }
    }

    /// A name that is not its own goes to the mounted servers, as for tools.
    fn get_prompt(&self, request: Request) -> Result<Routed, ErrorObject> {
        let prompts = self.0.registry.prompts();
        if !prompts.is_offered() && !self.capabilities().supports_prompts() {
            return Err(not_offered(Method::PromptsGet));
        }
        let name = name(&request, "prompt")?;
        match prompts.find(&name, self.view(&request)) {
            Some(prompt) => Ok(Routed::later(prompt.invoke(request, &self.0.shared))),
            None => {
                let name = name.into_owned();
                self.pass_by_name(request, "prompt", &name)
            }
        }
    }
}
