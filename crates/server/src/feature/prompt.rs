//! Prompts: messages that a server prepares for the user to choose.

use std::fmt;
use std::future::Future;

use bowline_types::prompt::{self as wire, GetPromptResult, PromptArgument};

use super::core::{FeatureCore, common_setters};
use crate::extract::Typed;
use crate::handler::{Handler, erase};
use crate::layer::Fault;
use crate::respond::{IntoCompletion, IntoPromptResult};
use crate::signature::{HandlerSignature, Purpose};

mod arguments;
mod check;
mod entry;

pub(crate) use entry::PromptEntry;

/// A function that prepares messages for the user to choose.
///
/// Its arguments are the fields of the function's [`Args`](crate::Args): doc comments are their
/// descriptions, and `Option` fields may be left out. The protocol sends arguments as text; the text
/// is read as the type of the field.
///
/// ```
/// use bowline_server::{Args, Prompt, starting_with};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Review {
///     /// The language that the code is written in
///     language: String,
///     /// How many lines a function may have
///     lines: Option<u32>,
/// }
///
/// async fn review(Args(Review { language, lines }): Args<Review>) -> String {
///     let lines = lines.unwrap_or(40);
///     format!("Review this {language} code. Find functions of more than {lines} lines.")
/// }
///
/// let prompt = Prompt::new("review", review)
///     .describe("Review code")
///     .complete("language", |typed| async move { starting_with(typed, ["go", "rust"]) });
/// ```
#[derive(Clone)]
pub struct Prompt {
    definition: wire::PromptDefinition,
    core: FeatureCore<GetPromptResult>,
}

/// A type that stands for one prompt. `#[prompt]` writes one for a function; `prompts![..]` uses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "not a prompt",
    note = "put `#[prompt]` on the function"
)]
pub trait PromptFn {
    /// The prompt.
    fn prompt() -> Prompt;
}

impl Prompt {
    /// A prompt with a name, whose messages a function makes.
    pub fn new<M, H>(name: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoPromptResult + 'static,
    {
        let signature = HandlerSignature::of(&[H::describe]);
        let mut definition = wire::PromptDefinition::new(name);
        definition.arguments = arguments::of(&signature);
        let handler = erase(handler, |result, _| result.into_prompt_result());
        let core = FeatureCore::new(signature, handler, Purpose::Prompt);
        Self { definition, core }
    }

    common_setters! {
        "prompt",
        describe: "Says what the prompt is good for.",
        hidden: "they do not find it in the list, and getting it fails as if it did not exist.",
        callee: PromptEntry, fault: Fault::Server,
        layer_error: "An error of the layer is sent to the client as an internal error."
    }

    /// Declares an argument, or replaces the description of one that the handler takes.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        let arguments = &mut self.definition.arguments;
        match arguments.iter_mut().find(|known| known.name == argument.name) {
            Some(known) => *known = argument,
            None => arguments.push(argument),
        }
        self
    }

    /// Suggests values for an argument, from what the user has typed so far.
    /// [`starting_with`](crate::starting_with) and [`resembling`](crate::resembling) help.
    #[must_use]
    pub fn complete<F, Suggestions>(self, argument: impl Into<String>, function: F) -> Self
    where
        F: Fn(Typed) -> Suggestions + Clone + Send + Sync + 'static,
        Suggestions: Future + Send + 'static,
        Suggestions::Output: IntoCompletion + 'static,
    {
        self.complete_with(argument, function)
    }

    /// Suggests values for an argument by a handler, which can take [`Typed`], state, the values
    /// chosen before as [`Args`](crate::Args), and whatever else handlers take.
    #[must_use]
    pub fn complete_with<M, H>(mut self, argument: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoCompletion + 'static,
    {
        self.core.completers.insert(argument.into(), handler);
        self
    }

    /// The name of the prompt.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The definition that clients get in `prompts/list`.
    pub fn definition(&self) -> &wire::PromptDefinition {
        &self.definition
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prompt").field(&self.definition).finish()
    }
}
