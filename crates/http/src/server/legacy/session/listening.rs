//! How a session is listened to outside of calls: GET streams are announced, opened and superseded,
//! and the one that listens polls the session's own subscription.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bowline_store::backend::Position;

use super::super::super::calls;
use super::super::super::clock::now;
use super::copy::SharedCopy;
use super::get_streams::{OpenedGetStream, Start};
use super::subscription::{Parked, Subscription};
use super::{HttpSession, State};

/// Who reads the standalone line, and so polls the session's own subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Listener {
    /// A GET stream.
    GetStream {
        /// The count of GET streams opened so far when it was opened.
        opening: u64,
    },
    /// A task that writes for the endpoint that has the GET stream.
    Relay,
    /// The one stream of a session of 2024-11-05.
    Sse2024,
}

/// A GET stream that is about to be opened, as long as this is held. A guard: dropped when the
/// stream is open, or when opening it failed.
pub(in super::super) struct Announced(Arc<HttpSession>);

impl Drop for Announced {
    fn drop(&mut self) {
        self.0.lock().get_streams.unannounce();
    }
}

impl State {
    /// Whether this listener is the one that listens now.
    fn has_listener(&self, listener: Listener) -> bool {
        self.end.is_none()
            && match listener {
                Listener::GetStream { opening } => {
                    self.get_streams.is_newest(opening) && self.may_listen()
                }
                Listener::Relay => !self.may_listen(),
                Listener::Sse2024 => true,
            }
    }
}

impl HttpSession {
    /// Announces a GET stream before it claims the session. Without this, an older stream that ends
    /// meanwhile would write into the record that no endpoint listens, and undo the claim.
    pub(in super::super) fn announce_get_stream(self: &Arc<Self>) -> Announced {
        self.lock().get_streams.announce();
        Announced(self.clone())
    }

    /// Opens a GET stream. The newest takes over from one that is open, because the server cannot
    /// know whether the client still has the other.
    pub(in super::super) fn open_get_stream(self: &Arc<Self>, start: Start) -> OpenedGetStream {
        let (opened, detached) = {
            let mut state = self.lock();
            let line = state.standalone.clone();
            let opened = state.get_streams.open(start, line);
            // Wakes the older stream, so that it ends.
            state.standalone.wake_readers();
            let missed = state.copy.as_deref_mut().and_then(SharedCopy::take_missed);
            if let Some(lists) = missed {
                state.connection.report_missed(lists.iter().cloned(), now());
            }
            (opened, state.deliver(None))
        };
        self.start(detached);
        opened
    }

    /// Notes that changes may have been missed. The lists are reported by the session's own
    /// subscription, which notices the same.
    pub(in super::super) fn may_have_missed_changes(self: &Arc<Self>) {
        let detached = {
            let mut state = self.lock();
            if state.get_streams.is_open() {
                state.connection.report_missed([], now());
            } else if let Some(copy) = &mut state.copy {
                copy.misses_changes();
            }
            state.deliver(None)
        };
        self.start(detached);
    }

    /// Whether a GET stream may send an event of the log. Exactly one stream may (HTTP-47), so the
    /// stream that gets `true` has to send it.
    pub(in super::super) fn may_send(&self, until: &AtomicU64, Position(at): Position) -> bool {
        let mut state = self.lock();
        let may_send =
            at <= until.load(Ordering::Relaxed) && state.end.is_none() && state.may_listen();
        if may_send {
            state.get_streams.note_sent(at);
        }
        may_send
    }

    /// Whether this listener is the one that listens now.
    pub(in super::super) fn has_listener(&self, listener: Listener) -> bool {
        self.lock().has_listener(listener)
    }

    /// Whether a GET stream is open here, or is about to be.
    pub(super) fn is_listened_to(&self) -> bool {
        self.lock().get_streams.is_wanted()
    }

    /// Notes that a GET stream has ended.
    pub(in super::super) fn close_get_stream(self: &Arc<Self>, opening: u64) {
        let is_newest = {
            let mut state = self.lock();
            state.get_streams.close(opening) && state.end.is_none()
        };
        if is_newest {
            self.release_get_stream();
        }
    }

    /// Polls the session's own subscription on behalf of a listener, and registers the listener on
    /// the standalone line. What the subscription reports comes on that line.
    pub(in super::super) fn poll_subscription(
        self: &Arc<Self>,
        listener: Listener,
        cx: &mut Context<'_>,
    ) {
        let parked = {
            let mut state = self.lock();
            // The endpoint that has the GET stream hears of the same changes.
            if listener == Listener::Relay && self.core.config.shares_changes {
                return;
            }
            // Under the same lock as the look: a subscription that is parked later wakes the listener.
            state.standalone.register(cx);
            match state.has_listener(listener) {
                true => state.subscription.take(),
                false => None,
            }
        };
        let Some(mut parked) = parked else { return };
        match calls::poll(&mut parked.call, cx) {
            Poll::Pending => self.park(parked),
            Poll::Ready(outcome) => {
                self.lock().subscription = Subscription::None;
                self.complete(parked.number, outcome);
            }
        }
    }

    /// Keeps the subscription until a listener polls it.
    pub(super) fn park(&self, parked: Parked) {
        let unwanted = {
            let mut state = self.lock();
            if state.end.is_some() {
                Some(parked)
            } else {
                if state.subscription.park(parked) {
                    state.standalone.wake_readers();
                }
                None
            }
        };
        // Dropped after the lock: a handler that is dropped may still emit.
        drop(unwanted);
    }
}

#[cfg(test)]
mod tests;
