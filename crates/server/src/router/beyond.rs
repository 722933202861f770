//! What a server does that offers more than tools: it serves resources, prompts and completion.

use bowline_proto::request::{Parts, Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use super::resource::Sight;
use super::{Routed, Router, name, not_offered};

/// Serves what is no tool.
///
/// It is reached through the registry alone, which knows of it once there is a resource, a prompt
/// or a mounted server, so that a server of tools does not carry it.
pub(crate) trait BeyondTools {
    /// Serves a request that concerns a resource, a prompt or completion.
    fn serve(&self, request: Request) -> Result<Routed, ErrorObject>;

    /// Lists resources, families of them, or prompts, of the server itself.
    fn list(&self, request: &Request) -> Response;

    /// Whether a caller sees the resource at a URI.
    fn sight(&self, uri: &str, parts: &Parts) -> Sight;
}

impl Router {
    /// What serves a method that is not about tools.
    ///
    /// # Errors
    ///
    /// If there is nothing but tools.
    pub(super) fn beyond_tools(&self, method: Method) -> Result<&dyn BeyondTools, ErrorObject> {
        self.0.registry.beyond_tools().map(|of| of(self)).ok_or_else(|| not_offered(method))
    }

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

impl BeyondTools for Router {
    fn serve(&self, request: Request) -> Result<Routed, ErrorObject> {
        match request.parts.method {
            Method::PromptsGet => self.get_prompt(request),
            Method::ResourcesRead => self.read_resource(request),
            Method::ResourcesSubscribe => self.subscribe(request),
            Method::CompletionComplete => self.complete(request),
            method => Err(not_offered(method)),
        }
    }

    fn list(&self, request: &Request) -> Response {
        match request.parts.method {
            Method::PromptsList => self.list_prompts(request),
            Method::ResourcesList => self.list_resources(request),
            Method::ResourcesTemplatesList => self.list_templates(request),
            method => Err(not_offered(method)),
        }
    }

    fn sight(&self, uri: &str, parts: &Parts) -> Sight {
        self.look_for(uri, parts)
    }
}
