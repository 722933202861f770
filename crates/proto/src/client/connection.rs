//! A channel to one server, as a machine.
//!
//! [`begin`](ClientConnection::begin) opens the talk; feed it what arrives, the time, and the
//! answers to the server's questions; take what it wants done from
//! [`poll_event`](ClientConnection::poll_event) and written from
//! [`poll_transmit`](ClientConnection::poll_transmit) until both give nothing.

mod calls;
mod changes;
mod failed;
mod legacy;
mod life;
mod receive;
mod restart;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;

use self::legacy::{Follow, Following};
use self::life::Life;
use super::cache::Cache;
use super::elicitations::Elicitations;
use super::negotiate::{self, Step};
use super::rounds::{Flight, Round};
use super::{CallAnswer, CallError, CallRequest, ClientConfig, NegotiationError, ServerProfile};
use crate::codec::lines::Unit;
use crate::frame::Frame;
use crate::pace::Pace;
use crate::request::{Change, ExchangeId};
use crate::table::hash::CountedKeys;
use crate::table::outgoing::{Expired, OutgoingRequests};
use crate::transmit::Transmit;
use crate::wire::splice;

/// What a connection wants done.
#[derive(Debug)]
pub enum ClientEvent {
    /// Both sides agree; calls can be made.
    Ready(Arc<ServerProfile>),
    /// They cannot talk; close the channel.
    Failed(NegotiationError),
    /// A call has ended.
    Answered(ExchangeId, Result<CallAnswer, CallError>),
    /// A call has come further.
    Progress(ExchangeId, ProgressParams),
    /// The server logs something.
    Log(LogMessageParams),
    /// Something changed on the server; with the subscription that reports it, if one does. What a
    /// session tells of is reported by each of the subscriptions that want it, and once by none.
    Change(Option<ExchangeId>, Change),
    /// The server asks; [`answer`](ClientConnection::answer) it.
    Ask(AskId, Box<InputRequest>),
    /// The server does not want the answer any more.
    AskCancelled(AskId),
    /// The user is done with a page that the server sent them to, under the name that the server
    /// gave it (2025-11-25). Names that the server never gave are not reported.
    ElicitationComplete(String),
    /// The server had lost the session or was started again, and a new session stands in its place:
    /// what was set on the old one, such as the log level, has to be set again.
    Renewed,
    /// Something that should not be; worth a line in a log, nothing more.
    Odd(String),
}

/// Our own number for a question of the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(u64);

/// A channel to one server.
pub struct ClientConnection {
    config: Arc<ClientConfig>,
    profile: Option<Arc<ServerProfile>>,
    /// What the server was told that we can do, in the words of its revision.
    declared: ClientCapabilities,
    /// `_meta` of every modern request, made once.
    always: String,
    waiting: OutgoingRequests<Waiting>,
    /// The id on the wire under which a call is in flight now.
    flights: HashMap<ExchangeId, i64, CountedKeys>,
    rounds: HashMap<ExchangeId, Round>,
    asks: BTreeMap<AskId, Origin>,
    following: Following,
    cache: Option<Cache>,
    life: Option<Life>,
    pace: Pace,
    elicitations: Elicitations,
    /// A probe that was given up and may still be answered: a server can be slow to start.
    late_probe: Option<(i64, Revision)>,
    probes: usize,
    /// Calls that wait for a new session, because the server has lost the last one or is gone.
    stranded: Vec<Flight>,
    /// Whether the server is gone, and both sides have not agreed since.
    is_restarting: bool,
    noise: usize,
    last_ask: u64,
    events: VecDeque<ClientEvent>,
    transmits: VecDeque<Transmit>,
}

/// What an id on the wire stands for.
#[derive(Debug)]
enum Waiting {
    Probe(Revision),
    Handshake,
    Call(Flight),
    /// A request that a subscription on a session consists of.
    Follow(Follow),
    /// A question whether the server is still there.
    Life,
}

/// Where a question came from, and so where its answer goes.
#[derive(Debug)]
enum Origin {
    /// A request of a legacy server.
    Request(RequestId),
    /// A result that requires input.
    Round(ExchangeId),
}

impl ClientConnection {
    /// A connection on which nothing has been said yet.
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self {
            waiting: OutgoingRequests::new(config.limits().abandoned),
            pace: Pace::per_minute(config.limits().questions_per_minute),
            elicitations: Elicitations::new(config.limits().elicitations),
            following: Following::default(),
            cache: config.cache().cloned().map(Cache::new),
            life: None,
            config,
            profile: None,
            declared: ClientCapabilities::new(),
            always: String::new(),
            flights: HashMap::default(),
            rounds: HashMap::new(),
            asks: BTreeMap::new(),
            late_probe: None,
            probes: 0,
            stranded: Vec::new(),
            is_restarting: false,
            noise: 0,
            last_ask: 0,
            events: VecDeque::new(),
            transmits: VecDeque::new(),
        }
    }

    /// Opens the talk.
    pub fn begin(&mut self, now: Instant) {
        self.step(negotiate::first(&self.config), now);
    }

    /// Makes a call under a number that the caller has not used before; its end comes as
    /// [`ClientEvent::Answered`].
    pub fn call(&mut self, exchange: ExchangeId, request: CallRequest, now: Instant) {
        if self.is_restarting {
            let flight = Flight { exchange, request, round: 0, changes: 0, again: false };
            return self.stranded.push(flight);
        }
        if self.is_followed_by_session(request.method) {
            return self.follow(exchange, &request, now);
        }
        if let Err(error) = self.offered(request.method) {
            return self.end(exchange, Err(error));
        }
        if let Some(answer) = self.cache.as_mut().and_then(|cache| cache.find(&request, now)) {
            return self.end(exchange, Ok(answer));
        }
        let changes = self.cache.as_ref().map_or(0, Cache::changes);
        self.send(Flight { exchange, request, round: 0, changes, again: false }, "", now);
    }

    /// Gives a call up. Its end is not reported; a late answer is dropped.
    pub fn cancel(&mut self, exchange: ExchangeId, reason: &str) {
        if let Some(id) = self.flights.remove(&exchange) {
            self.waiting.abandon(id);
            self.tell_cancelled(exchange, id, reason);
        }
        if let Some(round) = self.rounds.remove(&exchange) {
            self.forget_asks(&round);
        }
        self.stranded.retain(|flight| flight.exchange != exchange);
        self.unfollow(exchange);
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: Method, params: &Object) {
        self.tell(Some(method), splice::notification(method, params.as_str()));
    }

    /// Answers a question of the server's. Ignored if it was cancelled meanwhile.
    pub fn answer(&mut self, ask: AskId, answer: Result<RawJson, ErrorObject>, now: Instant) {
        match self.asks.remove(&ask) {
            Some(Origin::Request(id)) => {
                let frame = match &answer {
                    Ok(result) => splice::result(&id, &[], result.as_str().into()),
                    Err(error) => splice::error(Ok(&id), error),
                };
                self.tell(None, frame);
                // The server goes on only now, so its time begins only now.
                self.waiting.touch_all(now);
            }
            Some(Origin::Round(exchange)) => self.answer_round(exchange, ask, answer, now),
            None => {}
        }
    }

    /// Takes a unit of text from the server.
    pub fn receive(&mut self, unit: Unit, now: Instant) {
        self.hear(now);
        let text = match unit {
            Unit::Text(text) => text,
            Unit::Read(_, response) => {
                self.noise = 0;
                return self.response(*response, now);
            }
            Unit::TooLong(head) => return self.too_long(&head, now),
            Unit::Failed(failure) => return self.failed(*failure, now),
        };
        match Frame::parse(&text, self.config.limits()) {
            Ok(frame) => {
                self.noise = 0;
                match frame {
                    Frame::Message(message) => self.message(message, now),
                    Frame::Batch(items) => {
                        for item in items {
                            match item {
                                Ok(message) => self.message(message, now),
                                Err(malformed) => self.malformed(&malformed, &text, now),
                            }
                        }
                    }
                }
            }
            Err(malformed) => self.malformed(&malformed, &text, now),
        }
    }

    /// Gives up calls whose time is over, and asks a server that fell silent whether it is there.
    pub fn handle_timeout(&mut self, now: Instant) {
        // A call whose server waits for us is not slow; only its maximum still counts.
        if self.asks.values().any(|origin| matches!(origin, Origin::Request(_))) {
            self.waiting.touch_all(now);
        }
        while let Some(Expired { id, value, at_maximum }) = self.waiting.expire(now) {
            match value {
                Waiting::Probe(revision) => {
                    self.late_probe = Some((id, revision));
                    self.step(negotiate::unanswered(&self.config), now);
                }
                Waiting::Handshake => self.step(Step::Failed(NegotiationError::TimedOut), now),
                Waiting::Follow(follow) => self.follow_expired(&follow),
                Waiting::Life => self.is_dead(),
                Waiting::Call(Flight { exchange, request, .. }) => {
                    self.tell_cancelled(exchange, id, "no answer in time");
                    let limits = self.config.limits();
                    let after = match at_maximum {
                        true => request.deadline(limits),
                        false => request.timeout(limits),
                    };
                    self.end(exchange, Err(CallError::TimedOut(after)));
                }
            }
        }
        self.break_silence(now);
    }

    /// Ends every call: the channel is gone.
    pub fn close(&mut self) {
        let flying: Vec<_> = self.flights.drain().map(|(exchange, _)| exchange).collect();
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
        for Flight { exchange, again, request, .. } in std::mem::take(&mut self.stranded) {
            match again || request.method.streams() {
                true => self.end(exchange, Err(CallError::Closed)),
                false => self.fail_unsent(exchange),
            }
        }
        self.end_following();
    }

    /// The next thing to do.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// The next message to write.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.next_deadline().into_iter().chain(self.silence_ends()).min()
    }

    /// Takes a step towards an agreement.
    fn step(&mut self, step: Step, now: Instant) {
        match step {
            Step::Probe(revision) => {
                self.probes += 1;
                let timeout = self.config.limits().probe_timeout;
                let id = self.await_answer(Waiting::Probe(revision), timeout, timeout, now);
                let params = format!("{{\"_meta\":{{{}}}}}", self.config.modern_meta(revision));
                self.open_with(id, Method::ServerDiscover, &params);
                // Nothing is agreed yet, but the message itself says what it speaks.
                if let Some(mirror) = self.transmits.back_mut().and_then(|it| it.mirror.as_mut()) {
                    mirror.revision = Some(revision);
                }
            }
            Step::Shake(revision) => {
                let timeout = self.config.limits().request_timeout;
                let id = self.await_answer(Waiting::Handshake, timeout, timeout, now);
                let params = splice::json(&negotiate::handshake(&self.config, revision));
                self.open_with(id, Method::Initialize, &params);
            }
            Step::Agreed(profile) if self.profile.is_some() => self.renewed(&profile, now),
            Step::Agreed(profile) => {
                self.agree(*profile);
                self.watch(now);
            }
            Step::Failed(error) => self.events.push_back(ClientEvent::Failed(error)),
        }
    }

    fn agree(&mut self, profile: ServerProfile) {
        self.declared = self.config.declared(profile.revision);
        let profile = Arc::new(profile);
        // First, because everything from here on is said in that revision.
        self.profile = Some(profile.clone());
        if profile.revision.is_modern() {
            self.always = self.config.modern_meta(profile.revision);
        } else {
            self.notify(Method::Initialized, &Object::default());
        }
        self.events.push_back(ClientEvent::Ready(profile));
    }
}
