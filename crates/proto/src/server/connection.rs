//! A channel that carries many calls, of either era, without I/O.
//!
//! Hand in what arrives ([`receive`](ServerConnection::receive)), what handlers send
//! ([`emit`](ServerConnection::emit), [`complete`](ServerConnection::complete)) and the time
//! ([`handle_timeout`](ServerConnection::handle_timeout)). Then take what to do from
//! [`poll_event`](ServerConnection::poll_event) and what to write from
//! [`poll_transmit`](ServerConnection::poll_transmit) until both give nothing.
//!
//! The connection is the whole state of JSON-RPC on one channel: which calls are open, which wait
//! for their turn, which questions are unanswered, and the session if there is one. It is owned by
//! one driver and never locked inside. stdio, sockets and memory have one for each channel; a
//! session over HTTP has one behind the lock of the session.
//!
//! ```text
//!   receive ─► message ─► request ─► admit ─► open ─► ServerEvent::Call
//!                      ├► notification (cancelled, initialized, roots)
//!                      └► response (answer to a question)
//!   emit, complete ─► Transmit        close, cancel ─► ServerEvent::Cancelled
//! ```

mod calls;
mod extension;
mod receive;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::batch::{BatchId, Batches};
use super::exchange::{Attached, Exchange, described};
use super::legacy::LegacySession;
use super::{ServerConfig, SessionSnapshot};
use crate::classify::{Claim, LegacyFrame};
use crate::codec::Received;
use crate::frame::{Frame, Message};
use crate::pace::Pace;
use crate::request::{
    ExchangeId, Outgoing, Owner, QuestionError, ReportedChange, Request, Response, Sink,
};
use crate::splice;
use crate::table::exchanges::ExchangeTable;
use crate::transmit::{Role, Route, Transmit};
use crate::wire::KnownClient;

/// What the driver of a connection has to do.
///
/// Events come in order: a `Cancelled` never overtakes the `Call` of the same number. After
/// [`close`](ServerConnection::close) it may name a call that the driver never got.
#[derive(Debug)]
pub enum ServerEvent {
    /// Call the service, and hand its answer to [`complete`](ServerConnection::complete).
    Call(Box<Request>),
    /// Drop the future of this call. Messages that it still sends are ignored. By the client
    /// (CANC-5), by the end of the channel, or because the server ends a subscription.
    Cancelled(ExchangeId),
}

/// A channel that carries many calls, without I/O. Every public method returns at once. What has to
/// happen next waits in the two queues.
pub struct ServerConnection {
    config: Arc<ServerConfig>,
    sink: Arc<dyn Sink>,
    owner: Owner,
    /// What the driver attached to the message which is being received.
    attached: Attached,
    /// Set by `initialize`, or restored. It lasts as long as the connection, unless the handshake
    /// fails.
    session: Option<LegacySession>,
    /// The client that sent the last modern request.
    known_client: KnownClient,
    calls: ExchangeTable<ServiceCall>,
    /// Calls that wait for their turn, oldest first.
    backlog: VecDeque<Box<Request>>,
    batches: Batches,
    /// The rate limit of requests, unless the driver enforces it
    /// ([`without_pace`](Self::without_pace)).
    pace: Option<Pace>,
    /// Calls that run and do not wait for an answer of the client.
    running: usize,
    /// Whether nothing more will be read, so no answers either
    /// ([`end_of_input`](Self::end_of_input)).
    has_input_ended: bool,
    /// What messages get that the driver attaches nothing to
    /// ([`with_attached`](Self::with_attached)).
    attached_to_all: Option<Box<Attached>>,
    /// News of tasks that wait for the answer of the call that created the task.
    task_news: Vec<(ExchangeId, Bytes)>,
    /// The number of the newest call.
    last_number: u64,
    events: VecDeque<ServerEvent>,
    transmits: VecDeque<Transmit>,
}

/// What a call number stands for: a call of the service, by its purpose. The connection makes some
/// calls itself, on behalf of a session. They share the table, so that a driver treats them all
/// alike.
#[derive(Debug)]
enum ServiceCall {
    /// A call of the client.
    OfClient {
        exchange: Exchange,
        batch: Option<BatchId>,
        state: State,
        /// Whether what it sends can reach the client
        /// ([`mark_unreachable`](ServerConnection::mark_unreachable)).
        is_reachable: bool,
    },
    /// The `server/discover` call that answers `initialize`.
    Handshake(RequestId),
    /// The subscription that the connection holds on behalf of a legacy session.
    Standalone {
        /// The rate limit of log messages that belong to no call.
        logs: Pace,
    },
    /// A notification of a legacy session that is passed to the service.
    Notice,
    /// A notification of an extension, or an answered `resources/unsubscribe`: runs like a call and is
    /// not answered.
    Notification(State),
}

/// How far a call is.
///
/// Only running calls count against [`in_flight`](crate::limits::Limits::in_flight): a handler that
/// waits for a user must not keep others out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the backlog until fewer than [`in_flight`](crate::limits::Limits::in_flight) calls run.
    WaitingForTurn,
    Running,
    /// Waits for this many answers of the client. Does not count as running.
    Asking(usize),
    /// A subscription, open until one side ends it. Does not count as running.
    Listening,
}

impl ServerConnection {
    /// A new connection. Messages of handlers arrive at `sink`; the driver hands them to
    /// [`emit`](Self::emit). Its calls are granted no scopes, unless the driver says otherwise.
    pub fn new(config: Arc<ServerConfig>, owner: Owner, sink: Arc<dyn Sink>) -> Self {
        Self {
            pace: Some(Pace::per_minute(config.limits().requests_per_minute)),
            config,
            sink,
            owner,
            attached_to_all: None,
            attached: Attached::default(),
            session: None,
            known_client: KnownClient::default(),
            calls: ExchangeTable::default(),
            backlog: VecDeque::new(),
            batches: Batches::default(),
            running: 0,
            has_input_ended: false,
            task_news: Vec::new(),
            last_number: 0,
            events: VecDeque::new(),
            transmits: VecDeque::new(),
        }
    }

    /// Switches the rate limit off, for a driver that enforces [`Limits::requests_per_minute`]
    /// itself because one caller uses several connections.
    ///
    /// [`Limits::requests_per_minute`]: crate::limits::Limits::requests_per_minute
    #[must_use]
    pub fn without_pace(mut self) -> Self {
        self.pace = None;
        self
    }

    /// Sets what the channel itself attaches to every message that [`receive`](Self::receive) takes:
    /// the scopes of its client, and values for handlers.
    #[must_use]
    pub fn with_attached(mut self, attached: Attached) -> Self {
        self.attached_to_all = Some(Box::new(attached));
        self
    }

    /// Takes one message from the client. Text that is no message is answered with an error if it
    /// can have been a request, and ignored otherwise.
    pub fn receive(&mut self, received: Received, now: Instant) {
        let text = match received {
            Received::Message(text) => text,
            Received::TooLong(skipped) => return self.refuse_too_long(&skipped),
        };
        self.attached = self.attached_by_channel();
        match Frame::parse(&text, self.config.limits()) {
            Ok(Frame::Message(message)) => self.message(message, None, now),
            Ok(Frame::Batch(items)) => self.batch(items, now),
            Err(malformed) => self.refuse(malformed, None),
        }
    }

    /// What the channel itself attaches to a message.
    fn attached_by_channel(&self) -> Attached {
        self.attached_to_all.as_deref().cloned().unwrap_or_default()
    }

    /// Takes a frame whose era the driver has decided already. `attached` goes to the handlers of
    /// the calls that the frame opens.
    pub fn receive_legacy(&mut self, legacy: LegacyFrame, attached: Attached, now: Instant) {
        let LegacyFrame { frame, meta } = legacy;
        self.attached = attached;
        match frame {
            Frame::Message(Message::Request(request)) => {
                self.request(request, Some(Claim::Legacy(meta)), None, now);
            }
            Frame::Message(message) => self.message(message, None, now),
            Frame::Batch(items) => self.batch(items, now),
        }
        self.attached = Attached::default();
    }

    /// Takes the answer of a call. Ignored if the call was cancelled meanwhile.
    ///
    /// The answer follows everything that the call has sent before. After a cancellation nothing
    /// more is sent for the call (CANC-7, CANC-20).
    pub fn complete(&mut self, number: ExchangeId, response: Response) {
        match self.calls.remove(number) {
            Some(ServiceCall::OfClient { exchange, batch, state, .. }) => {
                if let (Ok(_), Some(session)) = (&response, &mut self.session) {
                    session.subscription_accepted(number);
                }
                let frame = exchange.answer(response, &self.config);
                self.call_ended(number, state);
                self.answer(Route::Exchange(number), batch, Some(frame));
                self.send_task_news(number);
            }
            Some(ServiceCall::Handshake(id)) => self.answer_handshake(number, &id, response),
            Some(ServiceCall::Notice) => self.noticed(number),
            Some(ServiceCall::Notification(state)) => self.call_ended(number, state),
            Some(ServiceCall::Standalone { .. }) | None => {}
        }
    }

    /// Takes a message that a handler sends before its answer. A message of a call that has ended
    /// is dropped, and its question fails.
    pub fn emit(&mut self, number: ExchangeId, outgoing: Outgoing, now: Instant) {
        let outgoing = match outgoing {
            Outgoing::Ask(question) => return self.ask(number, question, now),
            Outgoing::Withdraw(ticket) => return self.withdraw(&ticket),
            Outgoing::ElicitationComplete(id) => return self.elicitation_complete(number, id),
            Outgoing::Task(news) => return self.task_notification(number, *news),
            other => other,
        };
        let frame = match (self.calls.get_mut(number), outgoing) {
            (Some(ServiceCall::OfClient { exchange, .. }), Outgoing::Progress(advance)) => {
                exchange.progress(advance)
            }
            (Some(ServiceCall::OfClient { exchange, .. }), Outgoing::Log(message)) => {
                let level = self.session.as_ref().and_then(LegacySession::log_level);
                exchange.log(&message, level, self.config.limits(), now)
            }
            (Some(ServiceCall::OfClient { exchange, .. }), Outgoing::Change(change)) => {
                Some(exchange.change(&change))
            }
            (
                Some(
                    ServiceCall::OfClient { .. }
                    | ServiceCall::Notification(_)
                    | ServiceCall::Notice,
                ),
                Outgoing::Notification(message),
            ) => Some(message.frame()),
            (Some(ServiceCall::Standalone { .. }), Outgoing::Change(change)) => {
                let wanted = self.session.as_ref().is_some_and(|session| session.wants(&change));
                let (method, params) = described(&change);
                wanted.then(|| splice::notification(method, &params))
            }
            (Some(ServiceCall::Standalone { logs }), Outgoing::Log(message)) => {
                self.session.as_ref().and_then(|session| session.log(&message, logs, now))
            }
            _ => None,
        };
        self.transmit(self.route(number), Role::Within, frame);
    }

    /// Reports these changes to a session, as far as it gets such changes, and that every resource that
    /// it follows has changed. For drivers of a session that may have missed changes.
    pub fn report_missed(&mut self, lists: impl IntoIterator<Item = ReportedChange>, now: Instant) {
        let is_standing = |call: &ServiceCall| matches!(call, ServiceCall::Standalone { .. });
        let standing = self.calls.iter().find(|(_, call)| is_standing(call));
        let (Some((number, _)), Some(session)) = (standing, &self.session) else { return };
        let resources = session.followed_resources().iter().cloned().map(ReportedChange::Resource);
        let changes: Vec<_> = lists.into_iter().chain(resources).collect();
        for change in changes {
            self.emit(number, Outgoing::Change(change), now);
        }
    }

    /// Fails the questions that have timed out with `TimedOut`, and cancels them at the client.
    pub fn handle_timeout(&mut self, now: Instant) {
        let expired = self.session.as_mut().map(|session| session.expire(now)).unwrap_or_default();
        for (number, frame) in expired {
            self.transmit(self.route(number), Role::Within, Some(frame));
            self.question_closed(number);
        }
    }

    /// Ends every subscription from the side of the server: first the answer, then the cancellation
    /// that stdio requires. Both are demanded: the result by SUB-13, the cancellation by CANC-18;
    /// SUB-16 fixes their order.
    pub fn end_subscriptions(&mut self) {
        let listening = |call: &ServiceCall| {
            matches!(call, ServiceCall::OfClient { state: State::Listening, .. })
        };
        let numbers: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| listening(call))
            .map(|(number, _)| number)
            .collect();
        for number in numbers {
            if let Some(ServiceCall::OfClient { exchange, .. }) = self.calls.remove(number) {
                let params = format!("{{{}}}", splice::member("requestId", exchange.id()));
                let notice = splice::notification(Method::Cancelled, &params);
                self.transmit(
                    Route::Exchange(number),
                    Role::Ends,
                    Some(exchange.end(&self.config)),
                );
                self.transmit(Route::Exchange(number), Role::Cancels, Some(notice));
                self.events.push_back(ServerEvent::Cancelled(number));
            }
        }
    }

    /// Notes that nothing more will be read: the client closed its end, or the server stops. So no
    /// question can be answered. Those that are open fail with `Closed`, and so do those that calls
    /// ask later, which are not sent.
    pub fn end_of_input(&mut self) {
        self.has_input_ended = true;
        self.fail_questions(|_| true, &QuestionError::Closed);
    }

    /// Notes that nothing a call sends can reach its client any more, although the connection is
    /// open: over HTTP, the client of one call hung up and has no stream to resume. The questions of
    /// the call fail with `Unreachable`, those that are open and those that it asks later. The call
    /// runs on.
    pub fn mark_unreachable(&mut self, number: ExchangeId) {
        let Some(ServiceCall::OfClient { is_reachable, .. }) = self.calls.get_mut(number) else {
            return;
        };
        *is_reachable = false;
        self.fail_questions(|asked| asked == number, &QuestionError::Unreachable);
    }

    /// Drops all calls: the channel is closed, or the time to drain it is over. No answer is
    /// written: the client is gone, or was given its time.
    pub fn close(&mut self) {
        self.end_of_input();
        self.backlog.clear();
        self.events.clear();
        self.events.extend(self.calls.iter().map(|(number, _)| ServerEvent::Cancelled(number)));
        self.calls.clear();
        self.task_news.clear();
        self.running = 0;
    }

    /// The next event for the driver. The driver acts on it before it asks for the next.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// The next message to write.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Opens a session without a handshake, because the client did the handshake on another
    /// connection. Its capabilities are not known, so it is never asked anything.
    pub fn open_without_handshake(&mut self, revision: Revision) {
        self.restore(SessionSnapshot::new(revision, self.config.log_level()), 0);
    }

    /// Continues a session that began on another connection. Ids of questions to the client start
    /// after `last_id`: while calls run on both connections, no two questions may have the same id.
    pub fn restore(&mut self, snapshot: SessionSnapshot, last_id: i64) {
        let is_initialized = snapshot.is_initialized;
        self.session = Some(LegacySession::restored(snapshot, last_id, &self.config));
        if is_initialized {
            self.initialized();
        }
    }

    /// Gives questions ids after `last_id` from now on, because another connection uses the ids up to
    /// it.
    pub fn count_questions_after(&mut self, last_id: i64) {
        if let Some(session) = &mut self.session {
            session.count_questions_after(last_id);
        }
    }

    /// Whether a question with this id waits for its answer.
    pub fn has_open_question(&self, id: &RequestId) -> bool {
        let id = id.as_integer();
        self.session.as_ref().zip(id).is_some_and(|(session, id)| session.has_open_question(id))
    }

    /// Takes over what the client set on another connection of the same session: log level,
    /// subscribed resources, and `notifications/initialized`. The result of the handshake stays.
    pub fn adopt(&mut self, snapshot: SessionSnapshot) {
        let Some(session) = &mut self.session else { return };
        let is_newly_initialized = snapshot.is_initialized && !session.is_initialized;
        session.adopt(snapshot);
        if is_newly_initialized {
            self.initialized();
        }
    }

    /// The state of the session without its calls, once the handshake was answered.
    pub fn snapshot(&self) -> Option<SessionSnapshot> {
        self.session.as_ref().map(LegacySession::snapshot)
    }

    /// The revision that a handshake agreed on, if there was one.
    pub fn revision(&self) -> Option<Revision> {
        self.session.as_ref().map(|session| session.revision)
    }

    /// The number of the newest call. Calls that a message opens get higher numbers.
    pub fn last_exchange(&self) -> ExchangeId {
        ExchangeId(self.last_number)
    }

    /// Whether a call that is open will be answered: it is a request of the client, not a
    /// notification or a call that the connection makes itself.
    pub fn expects_answer(&self, number: ExchangeId) -> bool {
        matches!(
            self.calls.get(number),
            Some(ServiceCall::OfClient { .. } | ServiceCall::Handshake(_))
        )
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.session.as_ref()?.next_deadline()
    }

    /// Whether the driver should read on. False while too many calls wait for their turn. A driver
    /// that stops reading makes the client wait, which is the only way to bound what it may send.
    pub fn wants_input(&self) -> bool {
        self.backlog.len() < self.config.limits().backlog
    }

    /// Whether a call is open that is no subscription. A driver that drains the connection waits
    /// while it is.
    pub fn is_busy(&self) -> bool {
        let ends = |call: &ServiceCall| match call {
            ServiceCall::OfClient { state, .. } => *state != State::Listening,
            ServiceCall::Handshake(_) | ServiceCall::Notice | ServiceCall::Notification(_) => true,
            ServiceCall::Standalone { .. } => false,
        };
        self.calls.iter().any(|(_, call)| ends(call))
    }
}
