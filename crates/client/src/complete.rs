//! Completion: how an argument that the user is typing may go on.

use bowline_proto::wire::project::Project;
use bowline_types::completion::{Complete, CompleteParams, Completion, Reference};
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde::Deserialize;

use crate::call::{self, Call};
use crate::client::Client;
use crate::error::Result;

impl Client {
    /// Asks how an argument of a prompt or of a resource template may go on.
    ///
    /// Call it when the user pauses, not with every key: nothing is held back or kept here, since
    /// only the application sees the keyboard. A call that is overtaken by the next key is dropped,
    /// and so cancelled. Suggestions may be few or missing; the user can always type on.
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
    pub fn complete(&self, reference: Reference) -> Completing<'_> {
        Completing { client: self, reference }
    }
}

/// What is to be completed, up to the argument.
#[derive(Clone, Debug)]
#[must_use = "say which `argument` is being typed, and await that"]
pub struct Completing<'a> {
    client: &'a Client,
    reference: Reference,
}

impl Completing<'_> {
    /// Completes an argument from what is typed so far, when awaited.
    ///
    /// # Errors
    ///
    /// If the call has no result: see the predicates of [`Error`](crate::Error). A server that
    /// completes nothing [does not offer](crate::Error::is_not_offered) it.
    pub fn argument(
        self,
        name: impl Into<String>,
        typed: impl Into<String>,
    ) -> Call<'static, Completion> {
        let mut params = CompleteParams::new(self.reference, name, typed);
        params.project(self.client.revision());
        let request = self.client.request::<Complete>(&params);
        let subject = Method::CompletionComplete.name().to_owned();
        Call::new(self.client.link.clone(), subject, Ok(request), |_, result: &RawJson| {
            read(result)
        })
    }
}

impl Call<'_, Completion> {
    /// Tells the value of another argument that was chosen before (since 2025-06-18; older servers
    /// are not told).
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

/// Reads suggestions. A server that has none may leave out where they would stand.
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
    let Outer { completion: Some(completion) } = call::read(subject, result)? else {
        return Ok(Completion::default());
    };
    match call::read(subject, &completion)? {
        Inner { values: None } => Ok(Completion::default()),
        Inner { values: Some(_) } => call::read(subject, &completion),
    }
}
