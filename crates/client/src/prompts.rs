//! Lists and fetches prompts.

use bowline_types::json::RawJson;
use bowline_types::prompt::{
    GetPrompt, GetPromptParams, GetPromptResult, ListPrompts, PromptDefinition,
};

use crate::call::ClientCall;
use crate::client::Client;
use crate::list::List;
use crate::request;

impl Client {
    /// The prompts that the server offers, for the user to choose from.
    pub fn prompts(&self) -> List<PromptDefinition> {
        List::new::<ListPrompts>(self.link.clone())
    }

    /// Fetches a prompt with its arguments filled in, when awaited.
    ///
    /// The messages come from the server or from its sources, which may not be trustworthy: show
    /// them to the user before a model gets them.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let review = client.prompt("review").argument("language", "rust").await?;
    /// for message in review.messages {
    ///     println!("{:?}: {:?}", message.role, message.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`](crate::Error). A server refuses a prompt
    /// that does not exist or lacks an argument; then
    /// [`Error::is_refused`](crate::Error::is_refused) is true.
    pub fn prompt(&self, name: impl Into<String>) -> ClientCall<'static, GetPromptResult> {
        let name = name.into();
        let request = self.request::<GetPrompt>(&GetPromptParams::new(&name));
        ClientCall::new(self.link.clone(), name, Ok(request), |name, result: &RawJson| {
            request::read(&name, result)
        })
    }
}

impl ClientCall<'_, GetPromptResult> {
    /// Fills in an argument. All values are strings.
    pub fn argument(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments([(name, value)])
    }

    /// Fills in several arguments: a map of them, or pairs.
    pub fn arguments<N: Into<String>, V: Into<String>>(
        self,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.change_params(|params: &mut GetPromptParams| {
            let pairs = arguments.into_iter().map(|(name, value)| (name.into(), value.into()));
            params.arguments.extend(pairs);
        })
    }
}
