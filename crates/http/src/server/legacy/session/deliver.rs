//! Puts what the state machine wants sent and done onto the lines of a session.
//!
//! The state machine has two queues: messages to send, and events to act on. Both are emptied after
//! each step, under the lock of the session, so the order on every line is the order in which the
//! protocol produced things.

use std::sync::Arc;

use bowline_proto::request::{EveryResource, ExchangeId};
use bowline_proto::server::ServerEvent;
use bowline_proto::transmit::{Role, Route};

use super::super::item::{Item, Line};
use super::State;
use super::detached::DetachedCall;

impl State {
    /// Empties the state machine. `replies` is the line of the POST or call that moved it: answers
    /// without an exchange go there, such as the refusal of a malformed request.
    ///
    /// Returns the calls that no POST waits for. The caller starts them after it has unlocked the
    /// session.
    pub(super) fn deliver(&mut self, replies: Option<&Arc<Line>>) -> Vec<DetachedCall> {
        self.send_messages(replies);
        // After the messages: what a call sent is on its line before a cancellation closes the line.
        self.pass_on_events()
    }

    /// A message of a call goes onto the line of that call. An answer that belongs to no call, such
    /// as the refusal of a malformed request, goes to the POST that caused it. Everything else is
    /// standalone. Without a GET stream the standalone line keeps only the newest messages.
    fn send_messages(&mut self, replies: Option<&Arc<Line>>) {
        while let Some(transmit) = self.connection.poll_transmit() {
            let of_call = match transmit.route {
                Route::Exchange(number) => self.lines.get(number),
                Route::Standalone => None,
            };
            let line = match transmit.role {
                // Closing the stream says the same.
                Role::Cancels => continue,
                Role::Ends => of_call.or(replies),
                Role::Opens | Role::Within => of_call,
            };
            let item = Item::Message(transmit.role, transmit.frame);
            match line {
                Some(line) => line.push(item),
                None => {
                    self.standalone.push(item);
                    if !self.get_streams.is_open() {
                        self.standalone.drop_oldest();
                    }
                }
            }
        }
    }

    /// A call goes onto its line, where the driver of the POST finds it. The session's own
    /// subscription and notifications of the client have no POST that waits, and so no line.
    fn pass_on_events(&mut self) -> Vec<DetachedCall> {
        let mut detached = Vec::new();
        while let Some(event) = self.connection.poll_event() {
            match event {
                ServerEvent::Call(request) => {
                    let number = request.parts.exchange;
                    if request.parts.extensions.get::<EveryResource>().is_some() {
                        self.places.remove(number);
                        self.is_initialized = true;
                        detached.push(DetachedCall::Subscription(request));
                    } else if !self.connection.expects_answer(number) {
                        let places = self.places.remove(number);
                        detached.push(DetachedCall::Notification(request, places));
                    } else if let Some(line) = self.lines.get(number) {
                        line.push(Item::Call(request));
                    }
                }
                ServerEvent::Cancelled(number) => {
                    if let Some(line) = self.lines.get(number) {
                        line.push(Item::Cancelled(number));
                    }
                    self.close_line(number);
                }
            }
        }
        detached
    }

    /// Notes that an exchange sends no more. The last exchange of a line ends the line.
    pub(super) fn close_line(&mut self, number: ExchangeId) {
        self.places.remove(number);
        if let Some(line) = self.lines.remove(number) {
            line.release();
        }
    }
}
