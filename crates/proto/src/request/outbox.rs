//! What a handler may say before its answer, and the way it takes.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::subscription::SubscriptionFilter;

use super::ExchangeId;

/// What a handler may say before its answer.
#[derive(Debug)]
pub enum Outgoing {
    /// How far the call has come. Dropped if the caller did not ask, or if it does not increase.
    Progress(ProgressUpdate),
    /// A log message. Dropped if the caller did not ask for its level.
    Log(LogMessageParams),
    /// A change that a subscription reports.
    Change(Change),
    /// A question to the client, where the era lets servers send requests.
    Ask(Question),
    /// The client should hang up and come back for the rest after a while. Dropped where it cannot
    /// (only streams over HTTP on 2025-11-25 have a place to come back to).
    Pause(Duration),
    /// What began with a question by URL is done, by the name of the question (2025-11-25). May be
    /// said after the call is over, because the user may take longer than the call.
    ElicitationComplete(String),
}

impl Outgoing {
    /// Whether it may be dropped when the client reads too slowly.
    pub fn is_droppable(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Log(_))
    }
}

/// How far a call has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressUpdate {
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

impl Change {
    /// Whether a filter asks for it. Parts of a resource are asked for with the whole.
    pub fn is_wanted_by(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Acknowledged(_) => false,
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource(uri) => {
                filter.resource_subscriptions.iter().any(|whole| is_part_of(uri, whole))
            }
        }
    }

    /// Whether a resource may read differently after it: because it changed itself, a part of it
    /// did, or what it is a part of.
    pub fn may_touch(&self, resource: &str) -> bool {
        match self {
            Self::Resource(uri) => is_part_of(uri, resource) || is_part_of(resource, uri),
            Self::Resources => true,
            Self::Acknowledged(_) | Self::Tools | Self::Prompts => false,
        }
    }
}

/// Whether a URI is another one or lies below it: who follows the other hears of its changes too.
pub fn is_part_of(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|part| part.is_empty() || part.starts_with('/') || whole.ends_with('/'))
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
pub struct Reply(Box<dyn FnOnce(Result<RawJson, QuestionError>) + Send>);

impl Reply {
    /// A reply that calls a function once.
    pub fn new(deliver: impl FnOnce(Result<RawJson, QuestionError>) + Send + 'static) -> Self {
        Self(Box::new(deliver))
    }

    /// Delivers the answer.
    pub fn deliver(self, answer: Result<RawJson, QuestionError>) {
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

/// How often another call may take the room that we waited for before we believe that nobody
/// listens: a closed outbox is always ready and never takes anything.
const PATIENCE: usize = 64;

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
        std::future::poll_fn(|cx| self.sink.poll_ready(self.exchange, cx)).await;
    }

    /// Says something that must not get lost, as soon as there is room.
    ///
    /// # Errors
    ///
    /// Gives it back if nobody listens any more.
    pub async fn say(&self, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut unsaid = outgoing;
        for _ in 0..PATIENCE {
            self.ready().await;
            match self.emit(unsaid) {
                Ok(()) => return Ok(()),
                Err(refused) => unsaid = refused,
            }
            let mut has_waited = false;
            std::future::poll_fn(|cx| {
                if std::mem::replace(&mut has_waited, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        Err(unsaid)
    }

    /// The connection that the call came by.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId(Arc::downgrade(&self.sink))
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.exchange).finish()
    }
}

/// Tells a connection from all others, without keeping it open.
#[derive(Clone)]
pub struct ConnectionId(Weak<dyn Sink>);

impl ConnectionId {
    /// Whether nobody can say anything on it any more.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Where the sink stands, or stood: nothing else can stand there as long as we remember it.
    fn address(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}

impl PartialEq for ConnectionId {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for ConnectionId {}

impl Hash for ConnectionId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnectionId").field(&self.address()).finish()
    }
}

/// Where outboxes lead; implemented by whatever drives the connection.
pub trait Sink: Send + Sync {
    /// Ready when [`emit`](Self::emit) would take something of this call, or when it never will
    /// again.
    fn poll_ready(&self, exchange: ExchangeId, cx: &mut Context<'_>) -> Poll<()>;

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
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        Err(outgoing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_resource_are_wanted_with_the_whole() {
        let filter = SubscriptionFilter::new().with_resource("file:///a").with_resource("b:/");
        let is_wanted = |uri: &str| Change::Resource(uri.to_owned()).is_wanted_by(&filter);
        for uri in ["file:///a", "file:///a/b", "b:/", "b:/c"] {
            assert!(is_wanted(uri), "{uri}");
        }
        for uri in ["file:///ab", "file:///", "b:", "c:/"] {
            assert!(!is_wanted(uri), "{uri}");
        }
    }

    #[test]
    fn a_resource_is_touched_by_its_parts_and_by_what_it_is_a_part_of() {
        let may_touch = |uri: &str| Change::Resource(uri.to_owned()).may_touch("file:///a/b");
        for uri in ["file:///a/b", "file:///a/b/c", "file:///a", "file:///"] {
            assert!(may_touch(uri), "{uri}");
        }
        assert!(!may_touch("file:///a/c"));
        assert!(Change::Resources.may_touch("file:///a/b"));
        assert!(!Change::Tools.may_touch("file:///a/b"));
    }
}
