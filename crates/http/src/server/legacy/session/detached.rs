//! Calls of a session that no POST waits for.
//!
//! They come from messages that are answered 202 at once: `notifications/initialized` begins the
//! session's own subscription, and other notifications are passed on to the service. The copy of a
//! shared session also begins a subscription when it is made.
//!
//! A call whose POST waited and whose client hung up stays with its line; here its questions end
//! ([`lose_client`](HttpSession::lose_client)).

use std::sync::Arc;
use std::task::{Context, Waker};

use bowline_proto::request::Request;
use bowline_transport::task::spawn;

use super::super::super::calls;
use super::super::super::places::Places;
use super::super::item::Line;
use super::HttpSession;
use super::subscription::Parked;
use super::usage::SessionUse;

/// A call that no POST waits for.
pub(super) enum DetachedCall {
    /// The session's own subscription: kept with the session, polled by the stream that listens.
    Subscription(Box<Request>),
    /// A notification of the client: runs in a task, which holds its slot if it needs one.
    Notification(Box<Request>, Option<Arc<Places>>),
}

impl HttpSession {
    /// Notes that the client of a POST has hung up, and that there is no stream for it to resume. The
    /// calls that send on the POST's line run on, but their questions fail.
    ///
    /// The questions do not go to the GET stream: that is for messages of no call (HTTP-42), and the
    /// client could not get the answer to the call that asks.
    pub(in super::super) fn lose_client(&self, line: &Arc<Line>) {
        let mut state = self.lock();
        let lines = state.lines.iter().filter(|(_, other)| Arc::ptr_eq(other, line));
        let calls: Vec<_> = lines.map(|(number, _)| number).collect();
        for number in calls {
            state.connection.mark_unreachable(number);
        }
    }

    /// Starts detached calls. The caller has unlocked the session, since a handler may emit at
    /// once. A notification runs in a task, since its POST ends before it does. A subscription
    /// needs no task: the stream that listens polls it.
    pub(super) fn start(self: &Arc<Self>, detached: Vec<DetachedCall>) {
        for call in detached {
            match call {
                DetachedCall::Subscription(request) => {
                    let number = request.parts.exchange;
                    let mut call = self.core.call(*request);
                    // Polled once, so that the service notes every change from now on.
                    let begun = calls::poll(&mut call, &mut Context::from_waker(Waker::noop()));
                    if begun.is_pending() {
                        self.park(Parked { number, call });
                    }
                }
                DetachedCall::Notification(request, places) => {
                    spawn(self.clone().handle_notification(request, places));
                }
            }
        }
    }

    /// Runs the handler of a notification, until it or the session ends, or the endpoint gives up: a
    /// session for one request does not end by itself.
    async fn handle_notification(
        self: Arc<Self>,
        request: Box<Request>,
        _places: Option<Arc<Places>>,
    ) {
        // The copy of a shared session that is not in use is closed, and this call with it.
        let _use = SessionUse::new(self.clone());
        let number = request.parts.exchange;
        let mut call = self.core.call(*request);
        tokio::select! {
            outcome = std::future::poll_fn(|cx| calls::poll(&mut call, cx)) => {
                self.complete(number, outcome);
            }
            () = self.closed() => {}
            () = self.core.given_up() => {}
        }
    }
}
