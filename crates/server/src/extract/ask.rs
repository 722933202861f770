//! Asks the user, in every revision.
//!
//! Up to 2025-11-25 a question is a request to the client, and the handler waits for the answer
//! ([`legacy`]). Since 2026-07-28 the call is answered with the question, and when the client calls
//! again with the answer the handler runs again from the top ([`modern`]). Inside a task the handler
//! waits in every revision. Handlers cannot tell.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_types::elicitation::schema::FormSchema;
use bowline_types::error::code;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::read::ReadError;
use futures_core::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::answer::AnswerError;
use super::FromCall;
use crate::call::{Call, Roots, Rounds};
use crate::error::{AskError, Error, Result, Unsupported};
use crate::schema;
use crate::signature::HandlerSignature;

mod answer;
mod as_task;
pub(crate) mod form;
mod legacy;
mod modern;
mod sample;
mod ticket;
mod url;

pub use sample::{Sample, Sampled};
pub(crate) use ticket::ticket_admits;
pub(crate) use url::require_visits;

/// Asks the user for input while a tool runs.
///
/// On 2026-07-28 a handler that asks is dropped at its first unanswered question and runs again
/// from the top once the client has the answer; earlier answers are there at once. So:
///
/// * what a handler does before its last question happens again, unless it is wrapped in
///   [`once`](Self::once);
/// * questions are told apart by their order and their text, so ask the same ones in the same order;
/// * questions that are asked at the same time (`try_join!`) reach the user at the same time.
///
/// ```
/// use bowline_server::{Ask, Result};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip {
///     /// Where to
///     city: String,
///     nights: u8,
/// }
///
/// async fn book(ask: Ask) -> Result<String> {
///     let trip: Trip = ask.form("Where do you want to go?").await?;
///     let price = ask.once("price", || async { Ok::<_, std::io::Error>(80) }).await?;
///     let total = price * u32::from(trip.nights);
///     if !ask.confirm(format!("{} for {total} EUR, book it?", trip.city)).await? {
///         return Ok("Not booked".into());
///     }
///     Ok(format!("Booked {}", trip.city))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Ask {
    call: Call,
    /// How long a question that is asked as a task may wait; `None` asks without a task.
    as_task: Option<Duration>,
}

impl FromCall for Ask {
    fn describe(signature: &mut HandlerSignature) {
        signature.tells_callers_apart();
        signature.may_ask();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        // A task waits for its answers, so its handler runs once.
        if call.parts().revision.has_input_requests() && !call.is_in_task() {
            call.begin_rounds()?;
        }
        Ok(Self::of(call.clone()))
    }
}

impl Ask {
    /// Asks on behalf of a call.
    fn of(call: Call) -> Self {
        Self { call, as_task: None }
    }

    /// Asks questions to the user or the model as tasks, which the client may take this long to
    /// answer: for questions that can wait longer than
    /// [`Limits::question_timeout`](crate::Limits::question_timeout).
    ///
    /// Only clients of 2025-11-25 run tasks, and only those that declare it. Other clients are asked
    /// as always, and so are all of them inside a task of the server's own, where a question may
    /// wait anyway. A question whose future is dropped is withdrawn.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use bowline_server::{Ask, Result};
    ///
    /// async fn approve(ask: Ask) -> Result<&'static str> {
    ///     let ask = ask.as_task(Duration::from_secs(24 * 60 * 60));
    ///     let is_approved = ask.confirm("Release version 2.0?").await?;
    ///     Ok(if is_approved { "released" } else { "not released" })
    /// }
    /// ```
    #[must_use]
    pub fn as_task(&self, ttl: Duration) -> Self {
        Self { call: self.call.clone(), as_task: Some(ttl) }
    }

    /// Shows the user a form with the fields of a struct, and gives the struct filled in.
    ///
    /// The struct is flat: its fields are text, numbers, flags, choices (enums), lists of choices,
    /// and options of these. Never ask for secrets this way. Declare the type with
    /// [`Tool::asks`](crate::Tool::asks) to have it checked when the server is built; otherwise a
    /// nested struct fails the call.
    ///
    /// # Errors
    ///
    /// If the user declines or closes the form, or the client shows no forms.
    pub fn form<T>(&self, message: impl Into<String>) -> Asking<T>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        match form::of(&schema::form::<T>()) {
            Ok(form) => self.put_form(message.into(), form),
            Err(reason) => Asking::of(async { Err(AskError::Unaskable(reason)) }),
        }
    }

    /// Asks a question of yes or no. Declining to answer counts as no.
    ///
    /// # Errors
    ///
    /// If the user closes the question, or the client shows no forms.
    pub fn confirm(&self, message: impl Into<String>) -> Asking<bool> {
        let request = form::question(message.into(), form::yes_or_no());
        self.put(request, form::read_yes_or_no)
    }

    /// Does something once, however often the handler is run again, and gives its result each
    /// time.
    ///
    /// The result travels with the questions, sealed, and is kept under a key that no other step of
    /// the handler uses. A client that sends an old state again can have the step done again; where
    /// that would do harm, guard it with an identifier of your own. A step must not ask: nothing is
    /// sent to the client before it has ended.
    ///
    /// # Errors
    ///
    /// If the step fails, which is not recorded; or if its result cannot be written or read again.
    pub async fn once<T, E, F, Step>(&self, key: &str, step: F) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<Error>,
        F: FnOnce() -> Step,
        Step: Future<Output = Result<T, E>>,
    {
        let Some(rounds) = self.call.rounds() else {
            return step().await.map_err(Into::into);
        };
        let broken = |error: &dyn std::fmt::Display| {
            let message = format!("the result of the step `{key}` cannot be kept: {error}");
            Error::rpc(code::INTERNAL_ERROR, message)
        };
        if let Some(done) = rounds.step(key) {
            return done.parse().map_err(|error| broken(&error));
        }
        let running = rounds.begin_step();
        let result = step().await.map_err(Into::into)?;
        rounds.keep_step(key, RawJson::from_value(&result).map_err(|error| broken(&error))?);
        drop(running);
        Ok(result)
    }

    /// Asks for the client's roots: where in the file system it lets servers work. In one call the
    /// client is asked once.
    ///
    /// Roots change, so ask in each call, or register a handler with
    /// [`Server::on_roots_changed`](crate::Server::on_roots_changed). The specification deprecates
    /// this in favour of paths as arguments.
    ///
    /// # Errors
    ///
    /// If the client does not declare roots.
    pub fn roots(&self) -> Asking<Roots> {
        if let Some(roots) = self.call.known_roots().cloned() {
            return Asking::of(async { Ok(roots) });
        }
        let call = self.call.clone();
        self.put(InputRequest::ListRoots, move |answer| {
            let roots = Roots::of(answer.parse().map_err(|error| malformed_roots(&error))?);
            call.know_roots(roots.clone());
            Ok(roots)
        })
    }

    /// Asks with a form, and decodes the answer.
    pub(super) fn put_form<T>(&self, message: String, form: FormSchema) -> Asking<T>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let request = form::question(message, form.clone());
        self.put(request, move |answer| form::read(&form, answer))
    }

    /// Asks a question, and reads the answer with `read`.
    fn put<T: 'static>(
        &self,
        request: InputRequest,
        read: impl Fn(&RawJson) -> Result<T, AnswerError> + Send + 'static,
    ) -> Asking<T> {
        let (call, as_task) = (self.call.clone(), self.as_task);
        // Numbered now and not when first polled, so that the order is that of the code.
        let key = call.rounds().map(Rounds::next_key);
        Asking::of(async move {
            let required = request.required_capabilities();
            if let Some(lack) = Unsupported::by(call.parts(), &required) {
                return Err(AskError::Unsupported(Box::new(lack)));
            }
            // What was asked before a task began is answered; the rest is asked by the task.
            let is_answered = |key: &String| {
                call.rounds().is_some_and(|rounds| rounds.find(key, &request).1.is_some())
            };
            match key.filter(|key| !call.is_in_task() || is_answered(key)) {
                Some(key) => modern::ask(&call, key, request, read).await,
                None => legacy::ask(&call, request, as_task, read).await,
            }
        })
    }
}

fn malformed_roots(error: &ReadError) -> AnswerError {
    AnswerError::Refused(AskError::Malformed(format!("an answer to `roots/list`: {error}")))
}

/// A question that was asked: await it for the answer.
#[must_use = "the client is not asked unless this is awaited"]
pub struct Asking<T>(BoxFuture<'static, Result<T, AskError>>);

impl<T> Asking<T> {
    fn of(answer: impl Future<Output = Result<T, AskError>> + Send + 'static) -> Self {
        Self(Box::pin(answer))
    }
}

impl<T> Future for Asking<T> {
    type Output = Result<T, AskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for Asking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asking")
    }
}
