//! Completion: suggestions for an argument while the user types it.

use bowline_proto::project::Project;
use bowline_types::completion::{Complete, CompleteParams, Completion, Reference};
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde::Deserialize;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::Result;
use crate::request;

impl Client {
    /// Asks for suggestions for an argument of a prompt or of a resource template.
    ///
    /// Call it when the user pauses, not with every key: requests are neither delayed nor cached
    /// here. Drop a call when the user types on; that cancels it. A server may return few
    /// suggestions or none.
    ///
    /// ```no_run
    /// use bowline_client::types::completion::Reference;
    ///
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// let frameworks = client
    ///     .complete(Reference::prompt("review"))
    ///     .argument("framework", "fla")
    ///     .context("language", "python")
    ///     .await?;
    /// println!("{}", frameworks.values().join(", "));
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete(&self, reference: Reference) -> CompletionBuilder<'_> {
        CompletionBuilder { client: self, reference }
    }
}

/// The prompt or template whose argument is to be completed; made by [`Client::complete`].
#[derive(Clone, Debug)]
#[must_use = "say which `argument` is being typed, and await that"]
pub struct CompletionBuilder<'a> {
    client: &'a Client,
    reference: Reference,
}

impl CompletionBuilder<'_> {
    /// Completes an argument from the text typed so far, when awaited.
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`](crate::Error). If the server does not
    /// support completion, [`Error::is_not_offered`](crate::Error::is_not_offered) is true.
    pub fn argument(
        self,
        name: impl Into<String>,
        typed: impl Into<String>,
    ) -> ClientCall<'static, Completion> {
        let mut params = CompleteParams::new(self.reference, name, typed);
        params.project(self.client.revision());
        let request = self.client.request::<Complete>(&params);
        let subject = Method::CompletionComplete.name().to_owned();
        ClientCall::new(self.client.link.clone(), subject, Ok(request), |_, result: &RawJson| {
            read(result)
        })
    }
}

impl ClientCall<'_, Completion> {
    /// Adds the value of another argument that was filled in before (since 2025-06-18; not sent to
    /// older servers).
    pub fn context(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if !self.revision().is_some_and(Revision::has_completion_context) {
            return self;
        }
        self.change_params(|params: &mut CompleteParams| {
            let context = params.context.get_or_insert_default();
            context.arguments.insert(name.into(), value.into());
        })
    }
}

/// Reads suggestions. A server without suggestions may omit `completion` or `values`.
fn read(result: &RawJson) -> Result<Completion> {
    #[derive(Deserialize)]
    struct Outer {
        completion: Option<RawJson>,
    }

    #[derive(Deserialize)]
    struct Inner {
        values: Option<RawJson>,
    }

    let subject = Method::CompletionComplete.name();
    let Outer { completion: Some(completion) } = request::read(subject, result)? else {
        return Ok(Completion::default());
    };
    match request::read(subject, &completion)? {
        Inner { values: None } => Ok(Completion::default()),
        Inner { values: Some(_) } => request::read(subject, &completion),
    }
}
