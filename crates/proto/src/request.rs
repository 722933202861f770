//! The waist: what every transport brings and every service answers.
//!
//! A [`Request`] is one call with everything that concerns it, whatever era or transport it came
//! through. A service answers with a [`Response`], and may talk back meanwhile through the
//! [`Outbox`]. Everything that carries bytes stands on one side of
//! `tower_service::Service<Request, Response = Response, Error = Infallible>`, everything that does
//! work on the other.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_types::cache::CacheHint;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::id::ProgressToken;
use bowline_types::implementation::Implementation;
use bowline_types::input::{InputRequest, InputRequired, InputResponses};
use bowline_types::json::Json;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use bowline_types::tool::{CallToolResult, ListToolsResult};
use serde::Serialize;

use crate::members::Members;
use crate::wire::project::Project;

/// One call, on its way to whoever does the work.
#[derive(Debug)]
pub struct Request {
    /// Everything about the call but its params.
    pub parts: Parts,
    /// The members of `params`, unread but for `_meta` and the answers of earlier rounds.
    pub params: Members,
}

/// Everything about a call but its params.
#[derive(Debug)]
pub struct Parts {
    /// Our own number for this call; the id on the wire is only echoed.
    pub exchange: ExchangeId,
    /// What is asked.
    pub method: Method,
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// Who calls, and what it can do.
    pub client: Arc<Client>,
    /// `_meta` of the request, as it came.
    pub meta: Members,
    /// Given if the caller wants to hear of progress.
    pub progress: Option<ProgressToken>,
    /// The least severe log message that the caller wants to hear for this call.
    pub log_level: Option<LoggingLevel>,
    /// Answers and state that came back from an earlier round (2026-07-28).
    pub input: Option<Box<Input>>,
    /// On whose behalf the call is made.
    pub owner: Owner,
    /// The way to talk back while the call runs.
    pub outbox: Outbox,
    /// Whatever outer layers attach.
    pub extensions: Extensions,
}

/// Who calls: what a handshake told once, or each request tells anew.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Self-reported, for display and logs only.
    pub info: Option<Implementation>,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
}

/// What a retry brings back.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Answers by the keys of the questions.
    pub responses: InputResponses,
    /// The state that we sent along with the questions, as the client returns it: untrusted.
    pub state: Option<String>,
}

/// The number that a server gives a call when it arrives; unique per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// On whose behalf a call is made, as a verified credential says.
///
/// Everything that outlives a call (sessions, sealed state, tasks) is bound to its owner. All
/// callers without credentials share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner(Option<Arc<(String, String)>>);

impl Owner {
    /// A caller without credentials.
    pub fn anonymous() -> Self {
        Self(None)
    }

    /// A caller known to an issuer under a subject.
    pub fn known(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self(Some(Arc::new((issuer.into(), subject.into()))))
    }

    /// Issuer and subject, unless anonymous.
    pub fn identity(&self) -> Option<(&str, &str)> {
        self.0.as_deref().map(|(issuer, subject)| (issuer.as_str(), subject.as_str()))
    }
}

/// The answer to a call; the id is added on the way out.
pub type Response = Result<Success, ErrorObject>;

/// A result, serialized but not yet stamped with what its era demands.
#[derive(Clone, Debug)]
pub struct Success {
    /// The JSON object of the result, without `_meta`.
    pub(crate) body: Json,
    pub(crate) meta: Meta,
    pub(crate) kind: SuccessKind,
    pub(crate) cache: CacheHint,
}

/// What kind of result it is (`resultType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuccessKind {
    /// The call is done.
    Complete,
    /// The call wants answers first.
    InputRequired,
    /// The call goes on as a task.
    Task,
}

/// A result type that can be sent: it fits itself to a revision and gives up its `_meta`.
pub trait ResultBody: Serialize + Project {
    /// Takes `_meta` out, so that it can be joined with what the engine adds.
    fn take_meta(&mut self) -> Meta;
}

macro_rules! result_bodies {
    ($($result:ty),* $(,)?) => {
        $(impl ResultBody for $result {
            fn take_meta(&mut self) -> Meta {
                std::mem::take(&mut self.meta)
            }
        })*
    };
}

result_bodies!(CallToolResult, DiscoverResult, ListToolsResult);

impl Success {
    /// A finished result, fitted to the revision of the caller.
    ///
    /// # Errors
    ///
    /// If the result cannot be written as a JSON object, which is the fault of the handler.
    pub fn complete<T: ResultBody>(mut result: T, revision: Revision) -> Response {
        result.project(revision);
        let meta = result.take_meta();
        Self::write(&result, meta, SuccessKind::Complete)
    }

    /// Questions that the client must answer before the call goes on (2026-07-28).
    ///
    /// # Errors
    ///
    /// If the questions cannot be written as JSON.
    pub fn input_required(required: &InputRequired) -> Response {
        Self::write(required, Meta::new(), SuccessKind::InputRequired)
    }

    /// A finished result that is JSON already, fitted to the caller's revision by its maker.
    pub fn raw(body: Json, meta: Meta) -> Self {
        Self { body, meta, kind: SuccessKind::Complete, cache: CacheHint::default() }
    }

    /// An empty result.
    pub fn empty() -> Self {
        Self::raw(Json::empty_object(), Meta::new())
    }

    /// Says how long the result stays fresh, and for whom.
    #[must_use]
    pub fn with_cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// What kind of result it is.
    pub fn kind(&self) -> SuccessKind {
        self.kind
    }

    /// The JSON object of the result, without `_meta` and what the engine adds.
    pub fn body(&self) -> &Json {
        &self.body
    }

    fn write<T: Serialize>(result: &T, meta: Meta, kind: SuccessKind) -> Response {
        let unwritable =
            |error| ErrorObject::internal(format!("the result cannot be written: {error}"));
        let body = Json::from_value(result).map_err(unwritable)?;
        if !body.is_object() {
            return Err(ErrorObject::internal("the result is not a JSON object"));
        }
        Ok(Self { body, meta, kind, cache: CacheHint::default() })
    }
}

/// What a handler may say before its answer.
#[derive(Debug)]
pub enum Outgoing {
    /// How far the call has come. Dropped if the caller did not ask, or if it does not increase.
    Progress(Advance),
    /// A log message. Dropped if the caller did not ask for its level.
    Log(LogMessageParams),
    /// A change that a subscription reports.
    Change(Change),
    /// A question to the client, where the era lets servers send requests.
    Ask(Question),
}

impl Outgoing {
    /// Whether it may be dropped when the client reads too slowly.
    pub fn is_droppable(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Log(_))
    }
}

/// How far a call has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advance {
    /// Grows with each report.
    pub progress: f64,
    /// What `progress` will be in the end, if known.
    pub total: Option<f64>,
    /// A line for people.
    pub message: Option<String>,
}

/// A change that subscriptions report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The subscription stands; this is what it will report.
    Acknowledged(SubscriptionFilter),
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed.
    Resource(String),
}

/// A question to the client and where its answer goes.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub request: InputRequest,
    /// Called once with the answer, or with why there is none.
    pub reply: Reply,
}

/// Takes the answer to a [`Question`]. Dropped unanswered only if the whole connection is dropped.
pub struct Reply(Box<dyn FnOnce(Result<Json, QuestionError>) + Send>);

impl Reply {
    /// A reply that calls a function once.
    pub fn new(deliver: impl FnOnce(Result<Json, QuestionError>) + Send + 'static) -> Self {
        Self(Box::new(deliver))
    }

    /// Delivers the answer.
    pub fn deliver(self, answer: Result<Json, QuestionError>) {
        (self.0)(answer);
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionError {
    /// This caller cannot be asked: the transport has no way back, or the era has none.
    NoBackChannel,
    /// Too many questions are open on this connection.
    TooMany,
    /// The client did not answer in time.
    TimedOut,
    /// The connection closed first.
    Closed,
    /// The client answered with an error.
    Refused(ErrorObject),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBackChannel => f.write_str("the client cannot be asked on this connection"),
            Self::TooMany => f.write_str("too many questions are open on this connection"),
            Self::TimedOut => f.write_str("the client did not answer in time"),
            Self::Closed => f.write_str("the connection closed before the client answered"),
            Self::Refused(error) => write!(f, "the client answered with an error: {error}"),
        }
    }
}

impl std::error::Error for QuestionError {}

/// The way to talk back while a call runs; messages belong to that call and go where its answer
/// will go.
#[derive(Clone)]
pub struct Outbox {
    exchange: ExchangeId,
    sink: Arc<dyn Sink>,
}

impl Outbox {
    /// An outbox for one call.
    pub fn new(exchange: ExchangeId, sink: Arc<dyn Sink>) -> Self {
        Self { exchange, sink }
    }

    /// An outbox that nobody empties.
    pub fn closed() -> Self {
        Self::new(ExchangeId(0), Arc::new(Nowhere))
    }

    /// Says something if there is room. What may be dropped is dropped without a word.
    ///
    /// # Errors
    ///
    /// Gives back what could not be said because there is no room or nobody listens any more.
    pub fn emit(&self, outgoing: Outgoing) -> Result<(), Outgoing> {
        self.sink.emit(self.exchange, outgoing)
    }

    /// Waits until there is room, or nobody listens any more (then [`emit`](Self::emit) fails).
    pub async fn ready(&self) {
        std::future::poll_fn(|cx| self.sink.poll_ready(cx)).await;
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.exchange).finish()
    }
}

/// Where outboxes lead; implemented by whatever drives the connection.
pub trait Sink: Send + Sync {
    /// Ready when [`emit`](Self::emit) would take something, or when it never will again.
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Takes a message of a call, or gives it back.
    ///
    /// # Errors
    ///
    /// Gives the message back if there is no room or the connection is gone.
    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing>;
}

/// A sink for calls that nobody listens to.
struct Nowhere;

impl Sink for Nowhere {
    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        Err(outgoing)
    }
}

/// Attached to the `subscriptions/listen` that the engine makes on behalf of a legacy session: every
/// change of a resource is wanted, whatever the filter names. The session subscribes and
/// unsubscribes while the call stands, and the engine lets through what it wants.
#[derive(Clone, Copy, Debug)]
pub struct EveryResource;

/// Values by their type, attached by outer layers for inner ones.
#[derive(Default)]
pub struct Extensions(Option<Box<HashMap<TypeId, Box<dyn Any + Send + Sync>>>>);

impl Extensions {
    /// Attaches a value, and gives back the one of that type that was there.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        let map = self.0.get_or_insert_default();
        let old = map.insert(TypeId::of::<T>(), Box::new(value))?;
        old.downcast().ok().map(|value| *value)
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.as_ref().map_or(0, |map| map.len()))
    }
}
