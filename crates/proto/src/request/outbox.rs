//! Messages that a handler sends before its answer, and the handle that takes them.
//!
//! A handler never writes to a socket. It hands messages to its [`Outbox`], which passes them to
//! the [`Sink`] of the driver. The driver gives them to the connection, and the connection decides
//! whether and how they go out: in which era, on which stream, or not at all.
//!
//! Room is bounded. A handler that sends more than the client reads has to wait
//! ([`Outbox::ready`]), or loses progress and logs, which the protocol allows to be lost.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::TaskIdParams;
use bowline_types::id::ProgressToken;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::legacy::task::{CoreTask, RelatedTask};
use bowline_types::method::{CustomMethod, Method};
use bowline_types::subscription::SubscriptionFilter;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::ExchangeId;
use crate::splice;
use crate::sync::poll_once;

/// A message that a handler sends before its answer. The same for both eras. What an era does not
/// have is dropped, or fails as the variant says, where the message is written.
#[derive(Debug)]
pub enum Outgoing {
    /// How far the call is. Dropped if the caller did not ask for progress, or if it does not
    /// increase.
    Progress(ProgressUpdate),
    /// A log message. Dropped if the caller did not ask for its level.
    Log(LogMessageParams),
    /// A change that a subscription reports.
    Change(ReportedChange),
    /// A question to the client, in revisions where servers send requests.
    Ask(OutgoingQuestion),
    /// The question with this ticket is not asked any more. The client gets a cancellation.
    Withdraw(QuestionTicket),
    /// A notification of an extension that the client declared. Boxed, because it is rare.
    Notification(Box<ExtensionNotification>),
    /// The client should close the stream and reconnect for the rest later. Dropped where it
    /// cannot: only HTTP streams of 2025-11-25 can be resumed without being broken.
    Pause(Duration),
    /// The user has finished what an elicitation by URL began; holds the name of the elicitation
    /// (2025-11-25). May be sent after the call has ended, because the user may take longer than
    /// the call.
    ElicitationComplete(String),
    /// News of the task that the call became (2025-11-25). May be sent after the call has ended,
    /// because the task goes on. Boxed, because it is rare.
    Task(Box<TaskNotification>),
}

impl Outgoing {
    /// Whether the message may be dropped when the client reads too slowly. No client may depend on
    /// news of a task (TASK-48).
    pub fn is_droppable(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Log(_) | Self::Task(_))
    }
}

/// News of a task of 2025-11-25. Dropped in other revisions.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskNotification {
    /// The status of the task changed.
    Status(CoreTask),
    /// How far the task is. The sender takes care that the values grow (PROG-4), and that none
    /// comes after the task has ended (PROG-12).
    Progress {
        /// The task.
        task: RelatedTask,
        /// The token of the request that created the task (PROG-11).
        token: ProgressToken,
        /// How far it is.
        update: ProgressUpdate,
    },
    /// A notification of an extension, which the handler of the task sends.
    Extension {
        /// The task.
        task: RelatedTask,
        /// The notification.
        message: ExtensionNotification,
    },
}

/// How far a call is. Values that do not grow are dropped, because the protocol demands growing
/// ones (PROG-4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressUpdate {
    /// The progress so far. It must grow with each report.
    pub progress: f64,
    /// What `progress` will be in the end, if known.
    pub total: Option<f64>,
    /// A line of text for people.
    pub message: Option<String>,
}

/// A change that subscriptions report. Reported by a service that serves `subscriptions/listen`:
/// first [`Acknowledged`](Self::Acknowledged) (SUB-3), then the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedChange {
    /// The subscription is open. Holds the changes that it will report.
    Acknowledged(SubscriptionFilter),
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed.
    Resource(String),
    /// A task changed (the tasks extension of 2026-07-28).
    Task {
        /// The id of the task.
        id: String,
        /// The whole task, as `tasks/get` gives it (XTASK-35).
        task: RawJson,
    },
}

impl ReportedChange {
    /// Whether a filter asks for this change. A filter that names a resource also asks for its
    /// parts. A server must send nothing that the filter did not ask for (SUB-2).
    pub fn is_wanted_by(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Acknowledged(_) => false,
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource(uri) => {
                filter.resource_subscriptions.iter().any(|whole| is_part_of(uri, whole))
            }
            Self::Task { id, .. } => filter.task_ids.contains(id),
        }
    }

    /// Whether reading this resource may give something new after the change: the resource changed
    /// itself, or a part of it, or a resource that it is a part of. Decides which stored results a
    /// client drops.
    pub fn may_touch(&self, resource: &str) -> bool {
        match self {
            Self::Resource(uri) => is_part_of(uri, resource) || is_part_of(resource, uri),
            Self::Resources => true,
            Self::Acknowledged(_) | Self::Tools | Self::Prompts | Self::Task { .. } => false,
        }
    }
}

/// Whether a URI is `whole` or lies below it. A subscriber of `whole` gets its changes too.
///
/// ```
/// use bowline_proto::request::is_part_of;
///
/// assert!(is_part_of("file:///notes/today", "file:///notes"));
/// assert!(!is_part_of("file:///notes-old", "file:///notes"));
/// ```
pub fn is_part_of(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole)
        .is_some_and(|part| part.is_empty() || part.starts_with('/') || whole.ends_with('/'))
}

/// A notification of an extension, which a handler sends to its caller.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtensionNotification {
    /// The method, which the program registered.
    pub method: CustomMethod,
    /// The params.
    pub params: Object,
}

impl ExtensionNotification {
    /// The message for the wire.
    pub fn frame(&self) -> Bytes {
        splice::notification(Method::Custom(self.method), self.params.as_str())
    }
}

/// A question to the client, with the function that takes the answer.
///
/// Only sessions (up to 2025-11-25) send it as a request. On 2026-07-28 the server layer answers
/// the round with questions instead (MRTR-1).
#[derive(Debug)]
pub struct OutgoingQuestion {
    /// The question.
    pub request: InputRequest,
    /// Takes the answer, or the reason why there is none.
    pub reply: Reply,
    /// The task that asks, if it is not the call itself (2025-11-25). Boxed, because it is rare.
    pub task: Option<Box<RelatedTask>>,
}

impl OutgoingQuestion {
    /// A request about a task that the client runs, because it was asked a question as one
    /// (2025-11-25): `tasks/get`, `tasks/result` or `tasks/cancel`.
    pub fn about_task(method: Method, id: &str, reply: Reply) -> Self {
        let request = TaskQuestion { method: method.name().into(), params: TaskIdParams::new(id) };
        let request = RawJson::from_value(&request).unwrap_or_default();
        Self { request: InputRequest::Other(request), reply, task: None }
    }

    /// The method of the request. `None` for a question that this library does not know.
    pub(crate) fn method(&self) -> Option<Method> {
        let InputRequest::Other(other) = &self.request else { return self.request.method() };
        let about = other.parse::<TaskQuestion>().ok()?;
        ABOUT_TASKS.into_iter().find(|method| method.name() == about.method)
    }
}

/// The requests about a task that a server sends.
const ABOUT_TASKS: [Method; 3] = [Method::TasksGet, Method::TasksResult, Method::TasksCancel];

/// A request about a task, without its envelope.
#[derive(Serialize, Deserialize)]
struct TaskQuestion {
    method: String,
    params: TaskIdParams,
}

/// Names one question, so that the code that asked it can withdraw it. Clones name the same
/// question.
#[derive(Clone, Debug, Default)]
pub struct QuestionTicket(Arc<()>);

impl PartialEq for QuestionTicket {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for QuestionTicket {}

/// Takes the answer to an [`OutgoingQuestion`], or the reason why there is none.
///
/// It is dropped without being called if the call that asked ends before the answer, or if the
/// connection is dropped.
pub struct Reply(Box<dyn Deliver>);

impl Reply {
    /// A reply that calls this function once.
    pub fn new(deliver: impl FnOnce(Result<RawJson, QuestionError>) + Send + 'static) -> Self {
        Self(Box::new(Final(deliver)))
    }

    /// The same for a question that can be [withdrawn](Outgoing::Withdraw) by its ticket.
    pub fn withdrawable(
        ticket: QuestionTicket,
        deliver: impl FnOnce(Result<RawJson, QuestionError>) + Send + 'static,
    ) -> Self {
        Self(Box::new(Withdrawable(deliver, ticket)))
    }

    /// Names the question, if it can be withdrawn.
    pub fn ticket(&self) -> Option<&QuestionTicket> {
        self.0.ticket()
    }

    /// Delivers the answer.
    pub fn deliver(self, answer: Result<RawJson, QuestionError>) {
        self.0.deliver(answer);
    }
}

/// The function of a [`Reply`], with its ticket if there is one.
trait Deliver: Send {
    fn deliver(self: Box<Self>, answer: Result<RawJson, QuestionError>);

    fn ticket(&self) -> Option<&QuestionTicket> {
        None
    }
}

struct Final<F>(F);

impl<F: FnOnce(Result<RawJson, QuestionError>) + Send> Deliver for Final<F> {
    fn deliver(self: Box<Self>, answer: Result<RawJson, QuestionError>) {
        (self.0)(answer);
    }
}

struct Withdrawable<F>(F, QuestionTicket);

impl<F: FnOnce(Result<RawJson, QuestionError>) + Send> Deliver for Withdrawable<F> {
    fn deliver(self: Box<Self>, answer: Result<RawJson, QuestionError>) {
        (self.0)(answer);
    }

    fn ticket(&self) -> Option<&QuestionTicket> {
        Some(&self.1)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// Why a question has no answer. The handler that asked gets it as the outcome of its question, and
/// may go on without the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionError {
    /// This client cannot be asked: the transport has no way back, or the revision has none.
    NoBackChannel,
    /// Too many questions are open on this connection.
    TooMany,
    /// The client did not answer in time.
    TimedOut,
    /// The connection or session ended, or the call was over, before the answer.
    Closed,
    /// The client of this call disconnected, and has no stream to resume: nothing that the call sends
    /// can reach it. Other calls of the same client can still ask.
    Unreachable,
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
            Self::Unreachable => {
                f.write_str("the client disconnected, so the question cannot reach it")
            }
            Self::Refused(error) => write!(f, "the client answered with an error: {error}"),
        }
    }
}

impl std::error::Error for QuestionError {}

/// How often in a row an outbox may be ready at once and yet take no message, before it counts as
/// closed. A closed outbox is always ready; a full one is not for long.
const MOST_REFUSALS: usize = 64;

/// Sends messages while a call runs. They belong to that call, so they go to the stream that its
/// answer will go to.
///
/// A clone speaks for the same call. It may outlive the call; messages that come too late are
/// dropped and questions fail. Only the completion of an elicitation is still sent.
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

    /// An outbox that is closed from the start. For calls that have no client to speak to, such as
    /// tests and calls of a server to itself.
    pub fn closed() -> Self {
        Self::new(ExchangeId(0), Arc::new(ClosedSink))
    }

    /// Sends a message if there is room. Progress and logs are silently dropped if there is none.
    ///
    /// # Errors
    ///
    /// Gives the message back if there is no room, or the connection is closed.
    pub fn emit(&self, outgoing: Outgoing) -> Result<(), Outgoing> {
        self.sink.emit(self.exchange, outgoing)
    }

    /// Waits until there is room, or the connection is closed (then [`emit`](Self::emit) fails).
    pub async fn ready(&self) {
        std::future::poll_fn(|cx| self.sink.poll_ready(self.exchange, cx)).await;
    }

    /// Sends a message that must not be lost, as soon as there is room.
    ///
    /// Another call may take the room between the wake-up and the message. Then this one waits for
    /// room again.
    ///
    /// # Errors
    ///
    /// Gives the message back if the connection is closed. An outbox that takes no message although
    /// it is ready at once, 64 times in a row, counts as closed.
    pub async fn send(&self, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut unsent = outgoing;
        let mut refusals = 0;
        while refusals < MOST_REFUSALS {
            let mut ready = pin!(self.ready());
            if poll_once(&mut ready).await.is_pending() {
                ready.await;
                refusals = 0;
            }
            match self.emit(unsent) {
                Ok(()) => return Ok(()),
                Err(refused) => unsent = refused,
            }
            refusals += 1;
            yield_once().await;
        }
        Err(unsent)
    }

    /// The connection that the call came through.
    pub fn connection(&self) -> ConnectionId {
        ConnectionId(Arc::downgrade(&self.sink))
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.exchange).finish()
    }
}

/// Lets other tasks run.
async fn yield_once() {
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

/// Identifies a connection without keeping it open.
///
/// Serves as the caller where neither a credential nor an address is known
/// ([`CallerId::Connection`](crate::callers::CallerId::Connection)).
#[derive(Clone)]
pub struct ConnectionId(Weak<dyn Sink>);

impl ConnectionId {
    /// Whether the connection is gone.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// The address of the sink. It is not reused while this value exists.
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

/// Takes the messages of outboxes. The driver of a connection implements it.
///
/// Implementations must not block, and must accept calls from any thread: handlers run where the
/// runtime puts them.
pub trait Sink: Send + Sync {
    /// Ready when [`emit`](Self::emit) would take a message of this call, or when it never will
    /// again. A sink that passes messages on to an outbox must be ready only when that one is:
    /// [`Outbox::send`] takes a sink that is always ready, and takes no message, for closed.
    fn poll_ready(&self, exchange: ExchangeId, cx: &mut Context<'_>) -> Poll<()>;

    /// Takes a message of a call.
    ///
    /// # Errors
    ///
    /// Gives the message back if there is no room or the connection is gone.
    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing>;
}

/// The sink of a closed outbox.
struct ClosedSink;

impl Sink for ClosedSink {
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        Err(outgoing)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Waker;

    use super::*;

    /// A sink whose room other senders take so many times between the wake-up and the message.
    struct Contended {
        polls: AtomicUsize,
        lost: AtomicUsize,
    }

    impl Sink for Contended {
        fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
            match self.polls.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => Poll::Pending,
                _ => Poll::Ready(()),
            }
        }

        fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
            match self.lost.load(Ordering::Relaxed) {
                0 => Ok(()),
                left => {
                    self.lost.store(left - 1, Ordering::Relaxed);
                    Err(outgoing)
                }
            }
        }
    }

    /// Sends a message to a sink; returns whether the sink took it.
    fn is_sent(sink: Arc<dyn Sink>) -> bool {
        let outbox = Outbox::new(ExchangeId(1), sink);
        let mut sending = pin!(outbox.send(Outgoing::Change(ReportedChange::Tools)));
        let mut cx = Context::from_waker(Waker::noop());
        let mut polls = 0..100_000;
        loop {
            assert!(polls.next().is_some(), "the message is neither sent nor given back");
            if let Poll::Ready(outcome) = sending.as_mut().poll(&mut cx) {
                return outcome.is_ok();
            }
        }
    }

    #[test]
    fn a_message_that_loses_a_thousand_races_for_room_is_sent_and_not_taken_for_closed() {
        let lost = AtomicUsize::new(1000);
        assert!(is_sent(Arc::new(Contended { polls: AtomicUsize::new(0), lost })));
        assert!(!is_sent(Arc::new(ClosedSink)), "a closed one gives it back");
    }

    #[test]
    fn parts_of_a_resource_are_wanted_with_the_whole() {
        let filter = SubscriptionFilter::new().with_resource("file:///a").with_resource("b:/");
        let is_wanted = |uri: &str| ReportedChange::Resource(uri.to_owned()).is_wanted_by(&filter);
        for uri in ["file:///a", "file:///a/b", "b:/", "b:/c"] {
            assert!(is_wanted(uri), "{uri}");
        }
        for uri in ["file:///ab", "file:///", "b:", "c:/"] {
            assert!(!is_wanted(uri), "{uri}");
        }
    }

    #[test]
    fn a_resource_is_touched_by_its_parts_and_by_what_it_is_a_part_of() {
        let may_touch =
            |uri: &str| ReportedChange::Resource(uri.to_owned()).may_touch("file:///a/b");
        for uri in ["file:///a/b", "file:///a/b/c", "file:///a", "file:///"] {
            assert!(may_touch(uri), "{uri}");
        }
        assert!(!may_touch("file:///a/c"));
        assert!(ReportedChange::Resources.may_touch("file:///a/b"));
        assert!(!ReportedChange::Tools.may_touch("file:///a/b"));
    }
}
