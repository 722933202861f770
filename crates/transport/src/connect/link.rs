//! The handle to a connection: sends commands to its driver and waits for the answers.
//!
//! Commands go through an unbounded queue, since a link must never wait for the driver. What bounds
//! them is that each call is a future of its caller, who awaits it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bowline_proto::client::{CallAnswer, CallError, CallRequest, ServerProfile};
use bowline_proto::request::ExchangeId;
use bowline_types::json::Object;
use bowline_types::method::Method;
use tokio::sync::{mpsc, oneshot, watch};

use super::host::CallObserver;
use super::layer::{CallEnd, Layers};
use crate::error::Error;

/// A connection to one server; cheap to clone. The connection ends when the last clone is dropped.
/// It knows what was agreed on, and hears of the end. Everything else is the driver's.
#[derive(Clone)]
pub struct Link(pub(super) Arc<Shared>);

/// What all clones of a link share.
pub(super) struct Shared {
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// The number of the last call.
    pub(super) number: AtomicU64,
    pub(super) profile: Arc<ServerProfile>,
    /// Holds the error once the connection broke; closed when everything is released.
    pub(super) ended: watch::Receiver<Option<Arc<Error>>>,
    pub(super) layers: Layers,
}

/// What a link asks its driver to do. Obeyed in the order in which they were sent.
pub(super) enum Command {
    Call(ExchangeId, Box<CallRequest>, WaitingCall),
    Cancel(ExchangeId),
    CancelTask(String),
    Notify(Method, Object),
    ClearCache,
    Close,
}

/// The driver's side of a [`PendingCall`]. Dropped without an answer if the driver ends first; the
/// caller then gets [`CallError::Closed`].
pub(super) struct WaitingCall {
    pub(super) answer: oneshot::Sender<Result<CallAnswer, CallError>>,
    pub(super) observer: Option<Box<dyn CallObserver>>,
}

impl Link {
    /// What the server said of itself during negotiation.
    pub fn profile(&self) -> &Arc<ServerProfile> {
        &self.0.profile
    }

    /// Makes a call. Dropping the returned future cancels it.
    pub fn call(
        &self,
        request: impl Into<Box<CallRequest>>,
        observer: Option<Box<dyn CallObserver>>,
    ) -> PendingCall {
        let mut request = request.into();
        let ends = self.0.layers.iter().filter_map(|layer| layer.begin(&mut request)).collect();
        let number = ExchangeId(self.0.number.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answer) = oneshot::channel();
        let waiting = WaitingCall { answer: sender, observer };
        // If the driver is gone, `waiting` is dropped here and the call fails as closed.
        let _ = self.0.commands.send(Command::Call(number, request, waiting));
        PendingCall { answer, cancel: Some((number, self.clone())), ends }
    }

    /// Sends a notification. Does nothing if the connection has ended.
    pub fn notify(&self, method: Method, params: Object) {
        let _ = self.0.commands.send(Command::Notify(method, params));
    }

    /// Asks the server to cancel a task, without waiting for its answer. Does nothing if the
    /// connection has ended.
    pub fn cancel_task(&self, id: String) {
        let _ = self.0.commands.send(Command::CancelTask(id));
    }

    /// Forgets cached results before the next call. Does nothing if the connection has ended.
    pub fn clear_cache(&self) {
        let _ = self.0.commands.send(Command::ClearCache);
    }

    /// Ends the connection, and waits until the transport has released its resources. Calls in
    /// flight fail.
    pub async fn close(&self) {
        let _ = self.0.commands.send(Command::Close);
        self.closed().await;
    }

    /// Waits until the connection has ended, and returns the error if it broke.
    pub async fn closed(&self) -> Option<Arc<Error>> {
        let mut ended = self.0.ended.clone();
        // The driver drops the sender when everything is over; before that it only stores an error.
        while ended.changed().await.is_ok() {}
        ended.borrow().clone()
    }

    /// Why the connection broke, as far as that is known already.
    pub fn failure(&self) -> Option<Arc<Error>> {
        self.0.ended.borrow().clone()
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.0.commands.is_closed()
    }

    /// A handle that does not keep the connection open.
    pub fn downgrade(&self) -> WeakLink {
        WeakLink(Arc::downgrade(&self.0))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("profile", self.profile()).finish_non_exhaustive()
    }
}

/// A [`Link`] that does not keep its connection open. For code that the connection itself calls,
/// such as the host: a strong link there would keep the connection open forever.
#[derive(Clone)]
pub struct WeakLink(Weak<Shared>);

impl WeakLink {
    /// The link, unless all links were dropped.
    pub fn upgrade(&self) -> Option<Link> {
        self.0.upgrade().map(Link)
    }
}

impl fmt::Debug for WeakLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakLink")
    }
}

/// A call in flight: resolves to its answer, and cancels the call when dropped before that. If the
/// answer is a task, the observer of the call gets progress until this is dropped. Cancelling takes
/// effect when the driver reads the command; the server may have answered by then.
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    answer: oneshot::Receiver<Result<CallAnswer, CallError>>,
    cancel: Option<(ExchangeId, Link)>,
    /// What the layers want to know the end with.
    ends: Vec<Box<dyn CallEnd>>,
}

impl Future for PendingCall {
    type Output = Result<CallAnswer, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(cx));
        let answer = answer.unwrap_or(Err(CallError::Closed));
        if !answer.as_ref().is_ok_and(CallAnswer::is_task) {
            self.cancel = None;
        }
        // Reversed, so that the layer that began last ends first.
        while let Some(end) = self.ends.pop() {
            end.end(&answer);
        }
        Poll::Ready(answer)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let Some((number, link)) = self.cancel.take() {
            let _ = link.0.commands.send(Command::Cancel(number));
        }
    }
}
