//! Calls that wait for answers of their callers, and can be ended for the calls of others.
//!
//! A lane of a server with a handshake serves one asker at a time, so a question without an answer
//! occupies the lane. A call that asks can therefore be ended from outside, also while nothing polls
//! it: the call of a caller without a session lies in a parking lot until its caller comes back.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::Response;
use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;

/// A call that can be ended from outside. Dropping it drops the call.
#[derive(Default)]
pub(super) struct Recallable(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    /// `None` before it begins, and after it has ended or was recalled.
    call: Option<BoxFuture<'static, CallEnd>>,
    /// Wakes the task that awaits the call.
    waker: Option<Waker>,
}

/// The answer to a call, and whether its connection is closed.
pub(super) type CallEnd = (Response, bool);

/// Ends a call. Does not keep it.
#[derive(Clone)]
pub(super) struct Recall(Weak<Mutex<Slot>>);

impl Recallable {
    /// Makes a call. `None` if it is recalled.
    pub(super) async fn run(self, call: BoxFuture<'static, CallEnd>) -> Option<CallEnd> {
        lock(&self.0).call = Some(call);
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<CallEnd>> {
        let mut slot = lock(&self.0);
        let Some(call) = &mut slot.call else { return Poll::Ready(None) };
        let polled = call.as_mut().poll(cx);
        match polled {
            Poll::Ready(_) => slot.call = None,
            Poll::Pending => slot.waker = Some(cx.waker().clone()),
        }
        polled.map(Some)
    }

    /// Ends the call.
    pub(super) fn handle(&self) -> Recall {
        Recall(Arc::downgrade(&self.0))
    }
}

impl Recall {
    pub(super) fn recall(&self) {
        let Some(slot) = self.0.upgrade() else { return };
        // In a task of its own: this may be called while another call is polled, whose own recall waits
        // for this one.
        tokio::spawn(async move {
            let mut slot = lock(&slot);
            let (call, waker) = (slot.call.take(), slot.waker.take());
            drop(slot);
            drop(call);
            waker.into_iter().for_each(Waker::wake);
        });
    }
}

impl fmt::Debug for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recall")
    }
}
