//! A channel to one server, without I/O.
//!
//! Call [`begin`](ClientConnection::begin) first. Hand in what arrives, the time, and the answers
//! to questions of the server. Then take what to do from
//! [`poll_event`](ClientConnection::poll_event) and what to write from
//! [`poll_transmit`](ClientConnection::poll_transmit) until both give nothing.
//!
//! It is the mirror of [`ServerConnection`](crate::server::ServerConnection): owned by one driver,
//! never waiting, with two queues to empty after each step. Calls are known by the numbers that the
//! driver gives them; ids on the wire are its own affair, since a call that is retried gets a new
//! one (MRTR-24).
//!
//! Its life: [`begin`](ClientConnection::begin) starts the negotiation; [`ClientEvent::Ready`] or
//! [`ClientEvent::Failed`] ends it; calls follow; [`close`](ClientConnection::close) ends them all.
//! Between, the server may be lost and replaced ([`lost`](ClientConnection::lost),
//! [`restarted`](ClientConnection::restarted)).

mod agreed;
mod attribution;
mod calls;
mod changes;
mod failed;
mod keep_alive;
mod postponed;
mod receive;
mod restart;
mod session_level;
mod session_subscriptions;
mod tasks;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use bytes::Bytes;

use self::agreed::{Agreed, AgreedEra, LegacySession};
use self::postponed::PostponedCall;
use super::ask::{AskId, AskOrigin};
use super::cache::Cache;
use super::keep_alive::KeepAliveState;
use super::legacy::TaskRequest;
use super::negotiate::{self, NegotiationStep};
use super::rounds::{InFlightCall, Round};
use super::session_subscriptions::SubscribeRequest;
use super::{
    CallAnswer, CallError, CallRequest, ClientConfig, Delivery, NegotiationError, ServerProfile,
};
use crate::codec::Received;
use crate::frame::Frame;
use crate::pace::Pace;
use crate::request::{ExchangeId, ReportedChange};
use crate::splice;
use crate::table::hash::CountedKeys;
use crate::table::outgoing::{Expired, OutgoingRequests};
use crate::transmit::Transmit;

/// What happened on a connection, for its driver. For each call there is exactly one
/// [`Answered`](Self::Answered), unless the driver cancels it.
#[derive(Debug)]
pub enum ClientEvent {
    /// Both sides agreed on a revision; calls can be sent.
    Ready(Arc<ServerProfile>),
    /// The sides found no agreement, or the connection failed: close the channel.
    Failed(NegotiationError),
    /// A call has ended.
    Answered(ExchangeId, Result<CallAnswer, CallError>),
    /// A call reported progress.
    Progress(ExchangeId, ProgressParams),
    /// The server sent a log message. Holds the call that it belongs to, if that is known.
    Log(Option<ExchangeId>, LogMessageParams),
    /// Something changed on the server. Holds the subscription that reports it, if any. In a
    /// session a change is reported to each subscription that wants it, and once without a
    /// subscription.
    Change(Option<ExchangeId>, ReportedChange),
    /// The server asks a question; pass the answer to [`answer`](ClientConnection::answer). Holds
    /// the call that it belongs to, if that is known.
    Ask(AskId, Option<ExchangeId>, Box<InputRequest>),
    /// The server asks about a task of the client; pass the answer to
    /// [`answer`](ClientConnection::answer) (2025-11-25).
    AskAboutTask(AskId, TaskRequest),
    /// The server cancelled a question.
    AskCancelled(AskId),
    /// The user has finished an elicitation by URL; holds its name (2025-11-25). Names that the
    /// server never sent are not reported.
    ElicitationComplete(String),
    /// The server reports that a task has changed; holds its id. Only a hint: `tasks/get` has the
    /// truth (TASK-48).
    TaskChanged(String),
    /// The server sent a notification of an extension that the program registered; holds its params.
    Notification(Method, RawJson),
    /// The server lost the session or was restarted, and a new session is open. The connection sets
    /// the log level and the subscriptions of the old one again by itself.
    Renewed,
    /// The server did something unexpected. Worth a log line, nothing more.
    Diagnostic(String),
}

/// A channel to one server, without I/O. Nothing in it reads a clock: every method that needs the
/// time takes it.
pub struct ClientConnection {
    config: Arc<ClientConfig>,
    /// `None` until both sides have agreed.
    agreed: Option<Agreed>,
    waiting: OutgoingRequests<Purpose>,
    /// The id on the wire of each call that is in flight.
    in_flight: HashMap<ExchangeId, i64, CountedKeys>,
    rounds: HashMap<ExchangeId, Round>,
    /// Questions of the server that the host has not answered.
    asks: BTreeMap<AskId, AskOrigin>,
    cache: Option<Cache>,
    keep_alive: Option<KeepAliveState>,
    /// Of questions: a server in a loop must not flood the user.
    pace: Pace,
    /// A probe that timed out and may still be answered: a server can be slow to start.
    late_probe: Option<(i64, Revision)>,
    /// The newest tool calls that are not awaited any more. A late answer to one may name a task.
    late_tools: VecDeque<i64>,
    probes: usize,
    /// Calls that wait for a new session, because the server lost the last one or was restarted.
    postponed: Vec<PostponedCall>,
    /// Whether the server has exited and no new agreement was reached yet.
    is_restarting: bool,
    /// The id of the request on whose stream the message came that is being received.
    stream: Option<i64>,
    /// Lines in a row that were no messages.
    noise: usize,
    last_ask: u64,
    events: VecDeque<ClientEvent>,
    transmits: VecDeque<Transmit>,
}

/// Why a request was sent, by its id on the wire. Decides what the answer leads to.
#[derive(Debug)]
enum Purpose {
    Probe(Revision),
    Handshake,
    Call(InFlightCall),
    /// `resources/subscribe`, for a subscription in a session.
    Subscribe(SubscribeRequest),
    /// A ping to a silent server.
    KeepAlive,
    /// `logging/setLevel`, for a session that replaces a lost one.
    RestoreLevel,
}

impl ClientConnection {
    /// A new connection; nothing is sent before [`begin`](Self::begin).
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            waiting: OutgoingRequests::new(config.limits().abandoned),
            pace: Pace::per_minute(config.limits().questions_per_minute),
            cache: config.cache().cloned().map(Cache::new),
            keep_alive: None,
            config,
            agreed: None,
            in_flight: HashMap::default(),
            rounds: HashMap::new(),
            asks: BTreeMap::new(),
            late_probe: None,
            late_tools: VecDeque::new(),
            probes: 0,
            postponed: Vec::new(),
            is_restarting: false,
            stream: None,
            noise: 0,
            last_ask: 0,
            events: VecDeque::new(),
            transmits: VecDeque::new(),
        }
    }

    /// Starts the negotiation.
    pub fn begin(&mut self, now: Instant) {
        self.step(negotiate::first_step(&self.config), now);
    }

    /// Sends a call under a number that was not used before. Its end comes as
    /// [`ClientEvent::Answered`].
    ///
    /// The steps, in this order: while the server restarts or a
    /// new session is set up, the call waits; a subscription that the
    /// revision has no method for is emulated; a method that the server does not offer fails
    /// without being sent; a stored result that is fresh answers at once; otherwise the call is
    /// sent.
    pub fn call(&mut self, exchange: ExchangeId, request: CallRequest, now: Instant) {
        if self.is_restarting || self.is_restoring() {
            let flight = InFlightCall { exchange, request, round: 0, changes: 0, again: false };
            return self.postpone(flight, now);
        }
        if self.needs_session_subscription(request.method) {
            return self.open_session_subscription(exchange, &request, now);
        }
        if let Err(error) = self.offered(request.method) {
            return self.end(exchange, Err(error));
        }
        if let Some(answer) = self.cache.as_mut().and_then(|cache| cache.find(&request, now)) {
            return self.end(exchange, Ok(answer));
        }
        let changes = self.cache.as_ref().map_or(0, Cache::changes);
        let flight = InFlightCall { exchange, request, round: 0, changes, again: false };
        match flight.request.questions.is_empty() {
            true => self.send_first(flight, now),
            false => self.ask_first(flight, now),
        }
    }

    /// Cancels a call. Its end is not reported, and a late answer is dropped. A call that was
    /// answered with a task reports no more progress.
    ///
    /// The server gets `notifications/cancelled`, or over HTTP since 2026-07-28 a closed stream. A
    /// call that was not sent yet is just forgotten.
    pub fn cancel(&mut self, exchange: ExchangeId, reason: &str) {
        if let Some(id) = self.in_flight.remove(&exchange) {
            let sent = self.waiting.abandon(id);
            if let Some(Purpose::Call(flight)) = &sent {
                self.remember_late_tool(id, flight.request.method);
            }
            // A task is cancelled by its id, which the answer will name (CANC-3).
            if !matches!(sent, Some(Purpose::Call(flight)) if flight.request.as_task) {
                self.send_cancelled(exchange, id, reason);
            }
            self.refuse_asks(exchange);
        }
        if let Some(round) = self.rounds.remove(&exchange) {
            self.forget_asks(&round);
        }
        self.postponed.retain(|call| call.flight.exchange != exchange);
        if let Some(session) = self.session_mut() {
            session.task_progress.retain(|_, awaited| *awaited != exchange);
        }
        self.close_session_subscription(exchange);
    }

    /// Empties the cache, because the client acts for another user from now on.
    pub fn clear_cache(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.clear();
        }
    }

    /// Sends a notification. Since 2026-07-28 one of an extension carries the revision and the
    /// capabilities of the client, like a request.
    pub fn notify(&mut self, method: Method, params: &Object) {
        let params = match (method, self.modern_meta()) {
            (Method::Custom(_), Some(meta)) => {
                splice::object(&format!("\"_meta\":{{{meta}}}"), params.as_str())
            }
            _ => params.as_str().to_owned(),
        };
        self.send_one_way(Some(method), splice::notification(method, &params));
    }

    /// Answers a question of the server. Ignored if the server cancelled it meanwhile. In a session
    /// the answer is sent at once; on 2026-07-28 it waits until all questions of the round are
    /// answered (MRTR-19).
    pub fn answer(&mut self, ask: AskId, answer: Result<RawJson, ErrorObject>, now: Instant) {
        match self.asks.remove(&ask) {
            Some(AskOrigin::Request { id, .. }) => {
                let frame = match &answer {
                    Ok(result) => splice::result(&id, &[], result.as_str().into()),
                    Err(error) => splice::error(Ok(&id), error),
                };
                self.send_one_way(None, frame);
                // The server continues only now, so its timeouts restart.
                self.waiting.touch_all(now);
            }
            Some(AskOrigin::Round(exchange)) => self.answer_round(exchange, ask, answer, now),
            None => {}
        }
    }

    /// Takes one message from the server, or a report on a message of this client. Text that is no
    /// message counts as noise, because servers on stdio sometimes print to stdout; too much of it
    /// ends the connection.
    pub fn receive(&mut self, delivery: impl Into<Delivery>, now: Instant) {
        let delivery = delivery.into();
        if !matches!(delivery, Delivery::Report(_)) {
            self.note_arrival(now);
        }
        match delivery {
            Delivery::Received(Received::Message(text)) => self.text(&text, now),
            Delivery::Received(Received::TooLong(skipped)) => self.too_long(&skipped, now),
            Delivery::Within(id, text) => {
                self.stream = Some(id);
                self.text(&text, now);
                self.stream = None;
            }
            Delivery::Parsed(_, response) => {
                self.noise = 0;
                self.response(*response, now);
            }
            Delivery::Report(report) => self.report(report, now),
        }
    }

    /// Takes the text of one message, or of a batch of them.
    fn text(&mut self, text: &Bytes, now: Instant) {
        match Frame::parse(text, self.config.limits()) {
            Ok(frame) => {
                self.noise = 0;
                match frame {
                    Frame::Message(message) => self.message(message, now),
                    Frame::Batch(items) => {
                        for item in items {
                            match item {
                                Ok(message) => self.message(message, now),
                                Err(malformed) => self.malformed(&malformed, text, now),
                            }
                        }
                    }
                }
            }
            Err(malformed) => self.malformed(&malformed, text, now),
        }
    }

    /// Gives up calls that have timed out, and pings a server that has been silent. A call that
    /// timed out is cancelled at the server (TIME-2, TIME-3).
    pub fn handle_timeout(&mut self, now: Instant) {
        // While the server waits for an answer of this client, only the maximum of its calls
        // counts.
        if self.asks.values().any(|origin| matches!(origin, AskOrigin::Request { .. })) {
            self.waiting.touch_all(now);
        }
        while let Some(Expired { id, value, at_maximum, was_held }) = self.waiting.expire(now) {
            match value {
                // The user did not log in, which says nothing about the era of the server.
                Purpose::Probe(_) if was_held => {
                    self.step(NegotiationStep::Failed(NegotiationError::TimedOut), now);
                }
                Purpose::Probe(revision) => {
                    self.late_probe = Some((id, revision));
                    self.step(negotiate::after_silence(&self.config), now);
                }
                Purpose::Handshake => {
                    self.step(NegotiationStep::Failed(NegotiationError::TimedOut), now);
                }
                Purpose::Subscribe(subscribe) => self.subscribe_expired(&subscribe),
                Purpose::KeepAlive => self.keep_alive_expired(now),
                Purpose::RestoreLevel => self.level_failed("no answer in time", now),
                Purpose::Call(InFlightCall { exchange, request, .. }) => {
                    self.remember_late_tool(id, request.method);
                    if !request.as_task {
                        self.send_cancelled(exchange, id, "no answer in time");
                    }
                    self.refuse_asks(exchange);
                    let limits = self.config.limits();
                    let after = match at_maximum {
                        true => request.deadline(limits),
                        false => request.timeout(limits),
                    };
                    self.end(exchange, Err(CallError::TimedOut(after)));
                }
            }
        }
        self.expire_postponed(now);
        self.ping_if_silent(now);
    }

    /// Ends every call: the channel is closed. Calls that were never sent end as such, so that
    /// callers know that they can be repeated.
    pub fn close(&mut self) {
        let flying: Vec<_> = self.in_flight.drain().map(|(exchange, _)| exchange).collect();
        let asking: Vec<_> = self.rounds.drain().map(|(exchange, _)| exchange).collect();
        for id in self.waiting.ids() {
            self.waiting.abandon(id);
        }
        for ask in std::mem::take(&mut self.asks).into_keys() {
            self.events.push_back(ClientEvent::AskCancelled(ask));
        }
        for exchange in flying.into_iter().chain(asking) {
            self.end(exchange, Err(CallError::Closed));
        }
        for PostponedCall { flight, .. } in std::mem::take(&mut self.postponed) {
            match flight.again || flight.request.method.streams() {
                true => self.end(flight.exchange, Err(CallError::Closed)),
                false => self.fail_unsent(flight.exchange),
            }
        }
        self.end_session_subscriptions();
    }

    /// The next event for the driver.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// The next message to write.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        let waiting = self.waiting.next_deadline().into_iter();
        waiting.chain(self.next_ping()).chain(self.next_postponed()).min()
    }

    /// Takes the next step of the negotiation. The first agreement makes the connection ready; a
    /// later one replaces a session that was lost.
    fn step(&mut self, step: NegotiationStep, now: Instant) {
        match step {
            NegotiationStep::Probe(revision) => {
                self.probes += 1;
                let timeout = self.config.probe_timeout();
                let id = self.await_answer(Purpose::Probe(revision), timeout, timeout, now);
                let params = format!("{{\"_meta\":{{{}}}}}", self.config.modern_meta(revision));
                self.send_request(id, Method::ServerDiscover, &params);
                // No revision is agreed on yet, but the message itself names one.
                if let Some(mirror) = self.transmits.back_mut().and_then(|it| it.mirror.as_mut()) {
                    mirror.revision = Some(revision);
                }
            }
            NegotiationStep::Handshake(revision) => {
                let timeout = self.config.limits().request_timeout;
                let id = self.await_answer(Purpose::Handshake, timeout, timeout, now);
                let params = splice::json(&negotiate::handshake_params(&self.config, revision));
                self.send_request(id, Method::Initialize, &params);
            }
            NegotiationStep::Agreed(profile) if self.agreed.is_some() => {
                self.renewed(&profile, now);
            }
            NegotiationStep::Agreed(profile) => {
                self.agree(*profile);
                self.start_keep_alive(now);
            }
            NegotiationStep::Failed(error) => self.events.push_back(ClientEvent::Failed(error)),
        }
    }

    /// Stores the agreement, and tells a legacy server that the session is open.
    /// `notifications/initialized` goes out before anything else (LIFE-4).
    fn agree(&mut self, profile: ServerProfile) {
        let profile = Arc::new(profile);
        // Set first, because every message from here on depends on the revision.
        self.agreed = Some(Agreed::new(profile.clone(), &self.config));
        self.notify_initialized();
        self.events.push_back(ClientEvent::Ready(profile));
    }

    /// Reports to a server with a session that the handshake is over.
    fn notify_initialized(&mut self) {
        if self.session().is_some() {
            self.notify(Method::Initialized, &Object::default());
        }
    }

    fn profile(&self) -> Option<&ServerProfile> {
        self.agreed.as_ref().map(|agreed| &*agreed.profile)
    }

    fn revision(&self) -> Option<Revision> {
        self.agreed.as_ref().map(Agreed::revision)
    }

    /// The members of `_meta` that every request carries (2026-07-28).
    fn modern_meta(&self) -> Option<&str> {
        self.agreed.as_ref().and_then(Agreed::modern_meta)
    }

    /// The session (up to 2025-11-25).
    fn session(&self) -> Option<&LegacySession> {
        self.agreed.as_ref().and_then(Agreed::session)
    }

    fn session_mut(&mut self) -> Option<&mut LegacySession> {
        self.agreed.as_mut().and_then(Agreed::session_mut)
    }
}
