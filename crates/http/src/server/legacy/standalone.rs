//! Reads the messages of a session that belong to no call, for the stream or relay that listens.
//!
//! Such messages are standalone: for example changes of lists and updates of resources. They wait on
//! the standalone line of the session. Only one reader takes from it at a time;
//! [`HttpSession::has_listener`] says which.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bowline_proto::transmit::Role;
use bowline_store::backend::{Appended, Error, Position};
use bowline_transport::BoxFuture;
use bowline_transport::task::spawn_on;
use bytes::Bytes;
use tokio::runtime::Handle;

use super::item::{Item, Line};
use super::session::{HttpSession, Listener, OpenedGetStream, SessionUse, Start};

/// Appends a message to the log of the GET stream.
pub(super) type Append = BoxFuture<Result<Appended, Error>>;

/// The reader of a session's standalone line.
///
/// A message is taken off the line, then recorded in the log, then sent. Dropped before it records the
/// message, the reader puts it back onto the line, so that the next listener gets it. Dropped while it
/// records the message, it leaves that to a task: the store may have taken the message already, and
/// would take it twice.
///
/// While it waits it also polls the session's own subscription, which is what makes the service
/// report changes at all.
pub(super) struct StandaloneReader {
    pub(super) session: Arc<HttpSession>,
    line: Arc<Line>,
    /// As which listener it reads. It ends when the session has another one.
    listener: Listener,
    /// The last event of the log that this reader may send.
    until: Arc<AtomicU64>,
    /// The message that was taken last, until it is recorded.
    unrecorded: Option<(Role, Bytes)>,
    /// The append of that message, once it has begun.
    append: Option<Append>,
    /// Resolves when the endpoint begins to stop.
    stopped: BoxFuture<()>,
    /// Keeps the session in use. `None` for a relay: the session is in use where the stream is.
    _use: Option<SessionUse>,
}

impl StandaloneReader {
    /// Opens a GET stream. Also returns the last event of the log before those that it sends.
    pub(super) fn open(session: &Arc<HttpSession>, start: Start) -> (Self, Position) {
        let OpenedGetStream { line, opening, until, after } = session.open_get_stream(start);
        let mut reader = Self::new(session.clone(), line, Listener::GetStream { opening });
        reader.until = until;
        reader._use = Some(SessionUse::new(session.clone()));
        (reader, after)
    }

    /// Reads on behalf of the endpoint that has the GET stream.
    pub(super) fn relay(session: Arc<HttpSession>) -> Self {
        let line = session.standalone();
        Self::new(session, line, Listener::Relay)
    }

    fn new(session: Arc<HttpSession>, line: Arc<Line>, listener: Listener) -> Self {
        let stopped = session.core.stopped();
        if listener != Listener::Relay {
            session.core.session_streams.fetch_add(1, Ordering::Relaxed);
        }
        let (until, unrecorded, append, _use) = Default::default();
        Self { session, line, listener, until, unrecorded, append, stopped, _use }
    }

    /// Whether another stream, here or at another endpoint, has taken over.
    pub(super) fn is_superseded(&self) -> bool {
        !self.session.has_listener(self.listener) && !self.session.is_closed()
    }

    /// Whether this stream, and no other, has to send an event of the log.
    pub(super) fn may_send(&self, position: Position) -> bool {
        self.session.may_send(&self.until, position)
    }

    /// The next message. `None` once another listener has taken over, or the session or the server
    /// ends. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let (role, message) = std::future::poll_fn(|cx| self.poll_next(cx)).await?;
        self.unrecorded = Some((role, message.clone()));
        Some(message)
    }

    /// Waits until the last message is in the log, or cannot be: it is not put back any more.
    pub(super) async fn record(&mut self, append: Append) -> Result<Appended, Error> {
        let appended = self.append.insert(append).as_mut().await;
        self.append = None;
        self.recorded();
        appended
    }

    /// Notes that the last message is in the log, or cannot be.
    pub(super) fn recorded(&mut self) {
        self.unrecorded = None;
    }

    /// Asks in this order: has the server stopped, is this still the listener, has the subscription
    /// something to report, what is on the line. So a reader that was replaced takes no message
    /// from its successor.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Role, Bytes)>> {
        loop {
            // Registered before anything is looked at: what happens from now on wakes us.
            self.line.register(cx);
            let has_stopped = self.stopped.as_mut().poll(cx).is_ready();
            if has_stopped || !self.session.has_listener(self.listener) {
                return Poll::Ready(None);
            }
            self.session.poll_subscription(self.listener, cx);
            match self.line.take() {
                Some(Item::Message(role, message)) => {
                    return Poll::Ready(Some((role, message)));
                }
                // No call uses this line.
                Some(_) => {}
                None => return Poll::Pending,
            }
        }
    }
}

impl StandaloneReader {
    /// Gives the message that was taken last to the next listener, unless it gets into the log.
    fn leave_unrecorded(&mut self) {
        let Some((role, message)) = self.unrecorded.take() else { return };
        let item = Item::Message(role, message);
        match self.append.take().zip(Handle::try_current().ok()) {
            None => self.line.put_back(item),
            Some((append, runtime)) => {
                let line = self.line.clone();
                spawn_on(&runtime, async move {
                    if append.await.is_err() {
                        line.put_back(item);
                    }
                });
            }
        }
    }
}

impl Drop for StandaloneReader {
    fn drop(&mut self) {
        self.leave_unrecorded();
        if self.listener != Listener::Relay {
            self.session.core.session_streams.fetch_sub(1, Ordering::Relaxed);
        }
        match self.listener {
            Listener::GetStream { opening } => self.session.close_get_stream(opening),
            Listener::Relay => self.session.stop_relaying(),
            Listener::Sse2024 => {}
        }
    }
}
