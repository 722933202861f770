//! What the types of a handler's parameters and result declare about it.
//!
//! Every extractor and every result type adds its part when the handler is registered. From this
//! come the schemas that clients see, the capabilities that the server declares, and the check
//! that no state is missing: all of it once, none of it per call.

use std::any::{TypeId, type_name};
use std::fmt;

use futures_core::future::BoxFuture;
use schemars::JsonSchema;

use crate::call::Call;
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::schema::{self, InputSchema, OutputSchema};
use crate::states::States;

/// What the types of a handler's parameters and result declare about it: schemas, state, logging.
/// Extractors of your own add to it in [`FromCall::describe`](crate::extract::FromCall::describe).
#[derive(Debug, Default)]
pub struct HandlerSignature {
    input: Option<InputSchema>,
    output: Option<OutputSchema>,
    states: Vec<NeededState>,
    logs: bool,
    may_clean_up: bool,
    asks: bool,
    tells_callers_apart: bool,
    needs_claims: bool,
    /// How many variables of a template are taken by their place.
    variables: usize,
    media_type: Option<&'static str>,
    /// An extractor, and the only purpose that it serves.
    belonging: Option<(&'static str, Purpose)>,
    problem: Option<String>,
    first_questions: Vec<FirstQuestion>,
}

/// Asks what an extractor wants to know before the handler runs.
pub(crate) type FirstQuestion = fn(Call) -> BoxFuture<'static, HandlerResult<()>>;

/// What a handler can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Tool,
    Prompt,
    Resource,
    Completion,
    Notification,
    Extension,
}

/// A type of state that a handler takes.
#[derive(Clone, Copy, Debug)]
struct NeededState {
    id: TypeId,
    name: &'static str,
}

impl HandlerSignature {
    /// The signature that these functions describe, each a part of it.
    pub(crate) fn of(parts: &[fn(&mut Self)]) -> Self {
        let mut signature = Self::default();
        parts.iter().for_each(|describe| describe(&mut signature));
        signature
    }

    /// The handler takes the arguments of its calls as this type.
    pub fn takes_arguments<T: JsonSchema>(&mut self) {
        if self.input.is_some() {
            self.problem = Some("takes `Args` twice; put all arguments into one struct".to_owned());
        }
        match schema::input::<T>() {
            Ok(input) => self.input = Some(input),
            Err(reason) => {
                let name = type_name::<T>();
                self.problem = Some(format!("takes `Args<{name}>`, but {reason}"));
            }
        }
    }

    /// The handler gives results of this type to programs.
    pub fn gives_output<T: JsonSchema>(&mut self) {
        self.output = Some(schema::output::<T>());
    }

    /// The handler needs this state, which the server must have been given.
    pub fn needs_state<T: 'static>(&mut self) {
        self.states.push(NeededState { id: TypeId::of::<T>(), name: type_name::<T>() });
    }

    /// The handler may send log messages.
    pub fn may_log(&mut self) {
        self.logs = true;
    }

    /// The handler goes on for a while after its call was cancelled, to clean up.
    pub fn may_linger(&mut self) {
        self.may_clean_up = true;
    }

    /// The handler may ask the user or the client.
    pub(crate) fn may_ask(&mut self) {
        self.asks = true;
    }

    /// The handler may answer one caller otherwise than another, so a cached answer must not be shown
    /// to other callers. Assumed of every extractor that does not
    /// [describe](crate::extract::FromCall::describe) itself.
    pub fn tells_callers_apart(&mut self) {
        self.tells_callers_apart = true;
    }

    /// The handler fails without the [`Claims`](crate::extract::Claims) of its caller, so its server
    /// is served over HTTP only with authorization.
    pub fn needs_claims(&mut self) {
        self.needs_claims = true;
    }

    /// The handler reads resources of this media type, unless the resource sets another.
    pub fn gives_media_type(&mut self, media_type: &'static str) {
        self.media_type = Some(media_type);
    }

    /// The handler takes a variable of its template by its place.
    pub(crate) fn takes_variable(&mut self) {
        self.variables += 1;
    }

    /// The handler takes something that only calls of one kind have.
    pub(crate) fn belongs_to(&mut self, purpose: Purpose, extractor: &'static str) {
        self.belonging = Some((extractor, purpose));
    }

    /// The handler takes something that the user is asked for before it runs.
    pub(crate) fn asks_first(&mut self, question: FirstQuestion) {
        self.first_questions.push(question);
    }

    pub(crate) fn first_questions(&self) -> &[FirstQuestion] {
        &self.first_questions
    }

    /// The handler cannot work as it is.
    pub(crate) fn mistake(&mut self, reason: String) {
        self.problem = Some(reason);
    }

    pub(crate) fn input(&self) -> Option<&InputSchema> {
        self.input.as_ref()
    }

    /// Takes the schemas of arguments and results out.
    pub(crate) fn take_schemas(&mut self) -> (Option<InputSchema>, Option<OutputSchema>) {
        (self.input.take(), self.output.take())
    }

    /// Checks that all the state that the handler needs is there.
    ///
    /// # Errors
    ///
    /// Names who needs it, and the state that is missing.
    pub(crate) fn check_states(&self, who: &str, states: &States) -> Result<(), BuildError> {
        match self.states.iter().find(|state| !states.contains(state.id)) {
            None => Ok(()),
            Some(state) => Err(BuildError::missing_state(who, state.name)),
        }
    }

    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    pub(crate) fn logs(&self) -> bool {
        self.logs
    }

    pub(crate) fn may_clean_up(&self) -> bool {
        self.may_clean_up
    }

    pub(crate) fn is_for_verified_callers(&self) -> bool {
        self.needs_claims
    }

    pub(crate) fn may_tell_callers_apart(&self) -> bool {
        self.tells_callers_apart
    }

    pub(crate) fn variables(&self) -> usize {
        self.variables
    }

    pub(crate) fn media_type(&self) -> Option<&'static str> {
        self.media_type
    }

    /// What is wrong with the handler as such, or for what it is to serve.
    pub(crate) fn problem(&self, purpose: Purpose) -> Option<String> {
        let (extractor, needed) = self.belonging.unwrap_or(("", purpose));
        if needed != purpose {
            return Some(format!("takes `{extractor}`, which only {needed} has"));
        }
        self.problem.clone()
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "a tool",
            Self::Prompt => "a prompt",
            Self::Resource => "a resource",
            Self::Completion => "the completion of an argument",
            Self::Notification => "the handler of a notification",
            Self::Extension => "a method or notification of an extension",
        })
    }
}
