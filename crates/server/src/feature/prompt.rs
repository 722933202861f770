//! Prompts: messages that a server prepares for the user to choose.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bowline_proto::request::{Parts, Request, Response};
use bowline_types::implementation::Icon;
use bowline_types::prompt::{self as wire, GetPromptResult, PromptArgument};
use serde::Serialize;
use tower_layer::Layer;
use tower_service::Service;

use super::completion::Completers;
use super::invoke::innermost;
use super::visible::Visibility;
use crate::error::BoxError;
use crate::extract::Typed;
use crate::handler::{ErasedHandler, Handler, erase};
use crate::layer::{Fault, Route};
use crate::respond::{IntoCompletion, IntoPromptResult};
use crate::signature::{Purpose, Signature};

mod arguments;
mod check;
mod entry;

pub(crate) use entry::PromptEntry;

/// A function that prepares messages for the user to choose.
///
/// Its arguments come from the function's [`Args`](crate::Args): their names, what the comments say
/// of them, and which may be left out. On the wire they are texts, and are read as whatever the
/// fields are.
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
    signature: Arc<Signature>,
    handler: ErasedHandler<GetPromptResult>,
    /// The layers around the handler, if there are any.
    route: Option<Route>,
    visibility: Visibility,
    completers: Completers,
    /// What was found wrong while the prompt was described; told when it is registered.
    problem: Option<String>,
}

/// Something that is a prompt by itself: what `#[prompt]` makes of a function.
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
    /// A prompt with a name, made by a function.
    pub fn new<M, H>(name: impl Into<String>, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoPromptResult + 'static,
    {
        let mut signature = Signature::default();
        H::describe(&mut signature);
        let mut definition = wire::PromptDefinition::new(name);
        definition.arguments = arguments::of(&signature);
        Self {
            definition,
            problem: signature.problem(Purpose::Prompt),
            signature: Arc::new(signature),
            handler: erase(handler, |result, _| result.into_prompt_result()),
            route: None,
            visibility: Visibility::default(),
            completers: Completers::default(),
        }
    }

    /// Says what the prompt is good for.
    #[must_use]
    pub fn describe(mut self, text: impl Into<String>) -> Self {
        self.definition.description = Some(text.into());
        self
    }

    /// Names the prompt for people.
    #[must_use]
    pub fn title(mut self, text: impl Into<String>) -> Self {
        self.definition.title = Some(text.into());
        self
    }

    /// Adds a picture to show for the prompt.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// Adds something to the `_meta` of the prompt's definition.
    #[must_use]
    pub fn meta<T: Serialize + ?Sized>(mut self, key: &str, value: &T) -> Self {
        if let Err(error) = self.definition.meta.set(key, value) {
            self.problem = Some(error.to_string());
        }
        self
    }

    /// Declares an argument, or says more of one that the handler takes.
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
        self.completers.insert(argument.into(), handler);
        self
    }

    /// Hides the prompt from callers for whom the test fails: they neither find it in the list nor
    /// can ask for it. Said more than once, all tests have to pass.
    #[must_use]
    pub fn visible(mut self, test: impl Fn(&Parts) -> bool + Send + Sync + 'static) -> Self {
        self.visibility.limit(test);
        self
    }

    /// Wraps a tower layer around the calls of this prompt; the last one added is the outermost. An
    /// error of the layer is told to the client as an internal error.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<Route>,
        L::Service: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        <L::Service as Service<Request>>::Error: Into<BoxError>,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        let inner = self.route.take().unwrap_or_else(|| innermost::<PromptEntry>(Fault::Server));
        self.route = Some(Route::new(layer.layer(inner), Fault::Server));
        self
    }

    /// The name of the prompt.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// What clients are told about the prompt.
    pub fn definition(&self) -> &wire::PromptDefinition {
        &self.definition
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prompt").field(&self.definition).finish()
    }
}
