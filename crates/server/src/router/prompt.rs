//! Prompts: from a name to the prompt that makes the messages.

use bowline_proto::request::Request;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use super::{Routed, Router, name, not_offered};

impl Router {
    /// A name that is not its own goes to the mounted servers, as for tools.
    pub(super) fn get_prompt(&self, request: Request) -> Result<Routed, ErrorObject> {
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
