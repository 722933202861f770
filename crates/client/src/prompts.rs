//! Listing prompts, and filling them in.

use bowline_types::json::RawJson;
use bowline_types::prompt::{
    GetPrompt, GetPromptParams, GetPromptResult, ListPrompts, PromptDefinition,
};

use crate::call::{self, Call};
use crate::client::Client;
use crate::list::List;

impl Client {
    /// The prompts that the server offers, for the user to choose from.
    pub fn prompts(&self) -> List<PromptDefinition> {
        List::new::<ListPrompts>(self.link.clone())
    }

    /// Has a prompt filled in, when awaited.
    ///
    /// What the messages say comes from the server and from whoever it had it from: show it to the
    /// user before a model gets it.
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
    /// If the call has no result: see the predicates of [`Error`](crate::Error). A prompt that does
    /// not exist, or lacks an argument, is [refused](crate::Error::is_refused).
    pub fn prompt(&self, name: impl Into<String>) -> Call<'static, GetPromptResult> {
        let name = name.into();
        let request = self.request::<GetPrompt>(&GetPromptParams::new(&name));
        Call::new(self.link.clone(), name, Ok(request), |name, result: &RawJson| {
            call::read(&name, result)
        })
    }
}

impl Call<'_, GetPromptResult> {
    /// Fills in an argument. Values are text, whatever they mean.
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
