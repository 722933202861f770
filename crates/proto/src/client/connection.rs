//! A channel to one server, as a machine.
//!
//! [`begin`](ClientConnection::begin) opens the talk; feed it what arrives, the time, and the
//! answers to the server's questions; take what it wants done from
//! [`poll_event`](ClientConnection::poll_event) and written from
//! [`poll_transmit`](ClientConnection::poll_transmit) until both give nothing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_types::cache::CacheHint;
use bowline_types::cancel::CancelledParams;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::input::{InputRequest, InputRequired};
use bowline_types::json::{Json, Object};
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bytes::Bytes;

use super::legacy::{self, Asked};
use super::negotiate::{self, Step};
use super::rounds::{Flight, Round};
use super::{Answer, CallError, CallRequest, ClientConfig, NegotiationError, ServerProfile};
use crate::codec::lines::Unit;
use crate::frame::{
    Frame, Malformed, MalformedKind, Message, MethodName, NotificationMessage, RequestMessage,
    ResponseMessage,
};
use crate::members::Members;
use crate::request::{Change, ExchangeId, SuccessKind};
use crate::table::outgoing::{Outgoing, Taken, Timing};
use crate::transmit::{Role, Route, Transmit};
use crate::wire::{modern, splice};

/// How long a subscription may stay open: until somebody ends it.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Lines that are no protocol are shown this often, then only counted.
const SHOWN: usize = 3;

/// What a connection wants done.
#[derive(Debug)]
pub enum Event {
    /// Both sides agree; calls can be made.
    Ready(Arc<ServerProfile>),
    /// They cannot talk; close the channel.
    Failed(NegotiationError),
    /// A call has ended.
    Answered(ExchangeId, Result<Answer, CallError>),
    /// A call has come further.
    Progress(ExchangeId, ProgressParams),
    /// The server logs something.
    Log(LogMessageParams),
    /// Something changed on the server; with the subscription that reports it, if one does.
    Change(Option<ExchangeId>, Change),
    /// The server asks; [`answer`](ClientConnection::answer) it.
    Ask(AskId, Box<InputRequest>),
    /// The server does not want the answer any more.
    AskCancelled(AskId),
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
    /// `_meta` of every modern request, made once.
    always: String,
    waiting: Outgoing<Waiting>,
    /// The id on the wire under which a call is in flight now.
    flights: HashMap<ExchangeId, i64>,
    rounds: HashMap<ExchangeId, Round>,
    asks: BTreeMap<AskId, Origin>,
    noise: usize,
    last_ask: u64,
    events: VecDeque<Event>,
    transmits: VecDeque<Transmit>,
}

/// What an id on the wire stands for.
#[derive(Debug)]
enum Waiting {
    Probe(bowline_types::revision::Revision),
    Handshake,
    Call(Flight),
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
            waiting: Outgoing::new(config.limits().abandoned),
            config,
            profile: None,
            always: String::new(),
            flights: HashMap::new(),
            rounds: HashMap::new(),
            asks: BTreeMap::new(),
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
    /// [`Event::Answered`].
    pub fn call(&mut self, exchange: ExchangeId, request: CallRequest, now: Instant) {
        match self.offered(request.method) {
            Ok(()) => self.send(Flight { exchange, request, round: 0 }, "", now),
            Err(error) => self.end(exchange, Err(error)),
        }
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
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: Method, params: &Object) {
        let frame = splice::notification(method, params.as_str());
        self.transmit(Route::Standalone, Role::Within, frame);
    }

    /// Answers a question of the server's. Ignored if it was cancelled meanwhile.
    pub fn answer(&mut self, ask: AskId, answer: Result<Json, ErrorObject>, now: Instant) {
        match self.asks.remove(&ask) {
            Some(Origin::Request(id)) => {
                let frame = match &answer {
                    Ok(result) => splice::result(&id, "", result.as_str()),
                    Err(error) => splice::error(Ok(&id), error),
                };
                self.transmit(Route::Standalone, Role::Within, frame);
            }
            Some(Origin::Round(exchange)) => self.answer_round(exchange, ask, answer, now),
            None => {}
        }
    }

    /// Takes a unit of text from the server.
    pub fn receive(&mut self, unit: Unit, now: Instant) {
        let text = match unit {
            Unit::Text(text) => text,
            Unit::TooLong(head) => return self.too_long(&head),
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
                                Err(malformed) => self.malformed(&malformed, &text),
                            }
                        }
                    }
                }
            }
            Err(malformed) => self.malformed(&malformed, &text),
        }
    }

    /// Gives up calls whose time is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((id, waiting)) = self.waiting.expire(now) {
            match waiting {
                Waiting::Probe(_) => self.step(negotiate::unanswered(&self.config), now),
                Waiting::Handshake => self.step(Step::Failed(NegotiationError::TimedOut), now),
                Waiting::Call(flight) => {
                    self.tell_cancelled(flight.exchange, id, "no answer in time");
                    let after =
                        flight.request.timeout.unwrap_or(self.config.limits().request_timeout);
                    self.end(flight.exchange, Err(CallError::TimedOut(after)));
                }
            }
        }
    }

    /// Ends every call: the channel is gone.
    pub fn close(&mut self) {
        let flying: Vec<_> = self.flights.drain().map(|(exchange, _)| exchange).collect();
        let asking: Vec<_> = self.rounds.drain().map(|(exchange, _)| exchange).collect();
        for id in self.waiting.ids() {
            self.waiting.abandon(id);
        }
        for ask in std::mem::take(&mut self.asks).into_keys() {
            self.events.push_back(Event::AskCancelled(ask));
        }
        for exchange in flying.into_iter().chain(asking) {
            self.end(exchange, Err(CallError::Closed));
        }
    }

    /// The next thing to do.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next message to write.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.next_deadline()
    }

    /// What is known of the server, once both sides agree.
    pub fn profile(&self) -> Option<&Arc<ServerProfile>> {
        self.profile.as_ref()
    }

    /// Takes a step towards an agreement.
    fn step(&mut self, step: Step, now: Instant) {
        match step {
            Step::Probe(revision) => {
                let timeout = self.config.limits().probe_timeout;
                let id = self.await_answer(Waiting::Probe(revision), timeout, timeout, now);
                let params = format!("{{\"_meta\":{{{}}}}}", self.config.modern_meta(revision));
                let frame = splice::request(&id.into(), Method::ServerDiscover, &params);
                self.transmit(Route::Standalone, Role::Opens, frame);
            }
            Step::Shake(revision) => {
                let timeout = self.config.limits().request_timeout;
                let id = self.await_answer(Waiting::Handshake, timeout, timeout, now);
                let params = splice::json(&negotiate::handshake(&self.config, revision));
                let frame = splice::request(&id.into(), Method::Initialize, &params);
                self.transmit(Route::Standalone, Role::Opens, frame);
            }
            Step::Agreed(profile) => self.agree(profile),
            Step::Failed(error) => self.events.push_back(Event::Failed(error)),
        }
    }

    fn agree(&mut self, profile: ServerProfile) {
        if profile.revision.is_modern() {
            self.always = self.config.modern_meta(profile.revision);
        } else {
            self.notify(Method::Initialized, &Object::default());
        }
        let profile = Arc::new(profile);
        self.profile = Some(profile.clone());
        self.events.push_back(Event::Ready(profile));
    }

    /// Sends a call, the first time or again with answers.
    fn send(&mut self, flight: Flight, extra: &str, now: Instant) {
        let limits = self.config.limits();
        let (timeout, deadline) = if flight.request.method.streams() {
            (FOREVER, FOREVER)
        } else {
            (
                flight.request.timeout.unwrap_or(limits.request_timeout),
                flight.request.deadline.unwrap_or(limits.request_deadline),
            )
        };
        let id = self.waiting.next_id();
        let params = flight.request.text(id, &self.always, extra);
        let frame = splice::request(&id.into(), flight.request.method, &params);
        let exchange = flight.exchange;
        self.flights.insert(exchange, id);
        self.await_answer(Waiting::Call(flight), timeout, deadline, now);
        self.transmit(Route::Exchange(exchange), Role::Opens, frame);
    }

    fn await_answer(
        &mut self,
        waiting: Waiting,
        timeout: Duration,
        deadline: Duration,
        now: Instant,
    ) -> i64 {
        let maximum = now.checked_add(deadline).or_else(|| now.checked_add(FOREVER)).unwrap_or(now);
        self.waiting.insert(waiting, Timing { timeout, maximum }, now)
    }

    fn message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Response(response) => self.response(response, now),
            Message::Notification(notification) => self.notification(&notification, now),
            Message::Request(request) => self.request(&request),
        }
    }

    fn response(&mut self, response: ResponseMessage, now: Instant) {
        let Some(id) = &response.id else {
            let text = response.outcome.err().map(|error| error.to_string()).unwrap_or_default();
            return self.odd(format!("the server could not read a message of ours: {text}"));
        };
        match self.waiting.take(id) {
            Taken::Awaited(Waiting::Probe(asked)) => {
                self.step(negotiate::probed(&self.config, asked, response.outcome.as_ref()), now);
            }
            Taken::Awaited(Waiting::Handshake) => {
                self.step(negotiate::shaken(&self.config, response.outcome.as_ref()), now);
            }
            Taken::Awaited(Waiting::Call(flight)) => self.answered(flight, response.outcome, now),
            Taken::Late => {}
            Taken::Unknown => self.odd(format!("an answer names the id {id}, which awaits none")),
        }
    }

    fn answered(&mut self, flight: Flight, outcome: Result<Json, ErrorObject>, now: Instant) {
        self.flights.remove(&flight.exchange);
        let exchange = flight.exchange;
        let result = match outcome {
            Ok(result) if self.always.is_empty() => {
                return self.end(exchange, Ok(Answer { result, cache: None }));
            }
            Ok(result) => result,
            Err(error) => return self.end(exchange, Err(CallError::Refused(error))),
        };
        let ended = match self.completed(&flight, &result) {
            Ok(Some(cache)) => Ok(Answer { result, cache: Some(cache) }),
            Ok(None) => match self.ask(flight, &result, now) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            Err(reason) => Err(CallError::Invalid(reason)),
        };
        self.end(exchange, ended);
    }

    /// Reads what kind a modern result is: its caching hint if it is complete, `None` if the
    /// server wants input first.
    fn completed(&self, flight: &Flight, result: &Json) -> Result<Option<CacheHint>, String> {
        let members = Members::cut(Bytes::copy_from_slice(result.as_str().as_bytes()))
            .map_err(|e| e.to_string())?;
        match modern::kind(&members, false)? {
            SuccessKind::Complete | SuccessKind::Task => {
                Ok(Some(result.parse().unwrap_or_default()))
            }
            SuccessKind::InputRequired if flight.request.method.may_ask() => Ok(None),
            SuccessKind::InputRequired => {
                Err(format!("`{}` cannot require input", flight.request.method))
            }
        }
    }

    /// Puts the questions of a result to whoever uses the client.
    fn ask(&mut self, flight: Flight, result: &Json, now: Instant) -> Result<(), CallError> {
        let required: InputRequired =
            result.parse().map_err(|e| CallError::Invalid(e.to_string()))?;
        let most = self.config.limits().rounds;
        if flight.round >= most {
            return Err(CallError::TooManyRounds(most));
        }
        if required.input_requests.is_empty() && required.request_state.is_none() {
            let reason = "`input_required` has neither `inputRequests` nor `requestState`";
            return Err(CallError::Invalid(reason.to_owned()));
        }
        for (key, question) in required.input_requests.iter() {
            legacy::permitted(question, self.config.capabilities()).map_err(|error| {
                CallError::Invalid(format!("the question `{key}`: {}", error.message))
            })?;
        }
        let mut asks = BTreeMap::new();
        for (key, question) in required.input_requests.iter() {
            let ask = self.new_ask(Origin::Round(flight.exchange));
            asks.insert(ask, key.to_owned());
            self.events.push_back(Event::Ask(ask, Box::new(question.clone())));
        }
        let round = Round::new(flight, &required, asks);
        if round.is_complete() {
            let (flight, extra) = round.retry();
            self.send(flight, &extra, now);
        } else {
            self.rounds.insert(round.flight.exchange, round);
        }
        Ok(())
    }

    fn answer_round(
        &mut self,
        exchange: ExchangeId,
        ask: AskId,
        answer: Result<Json, ErrorObject>,
        now: Instant,
    ) {
        let Some(mut round) = self.rounds.remove(&exchange) else { return };
        match answer {
            Ok(response) => {
                round.answer(ask, response);
                if round.is_complete() {
                    let (flight, extra) = round.retry();
                    self.send(flight, &extra, now);
                } else {
                    self.rounds.insert(exchange, round);
                }
            }
            Err(error) => {
                self.forget_asks(&round);
                self.end(exchange, Err(CallError::Unanswered(error)));
            }
        }
    }

    fn notification(&mut self, notification: &NotificationMessage, now: Instant) {
        let params = &notification.params;
        let MethodName::Known(method) = notification.method else { return };
        match method {
            Method::Progress => self.progress(params, now),
            Method::Message => match params.parse_all() {
                Ok(message) => self.events.push_back(Event::Log(message)),
                Err(error) => self.odd(format!("`notifications/message`: {error}")),
            },
            Method::Cancelled => self.cancelled(params),
            _ => {
                if let Some(change) = change(method, params) {
                    let subscription = self.subscription(params);
                    self.events.push_back(Event::Change(subscription, change));
                }
            }
        }
    }

    fn progress(&mut self, params: &Members, now: Instant) {
        let Ok(progress) = params.parse_all::<ProgressParams>() else { return };
        let Some(id) = progress.progress_token.0.as_integer() else { return };
        let Some(Waiting::Call(flight)) = self.waiting.get_mut(id) else { return };
        let exchange = flight.exchange;
        self.waiting.touch(id, now);
        self.events.push_back(Event::Progress(exchange, progress));
    }

    /// The server takes back a question, or ends a subscription.
    fn cancelled(&mut self, params: &Members) {
        let Ok(CancelledParams { request_id: Some(id), .. }) = params.parse_all() else { return };
        let asked = |origin: &Origin| matches!(origin, Origin::Request(request) if *request == id);
        let ask = self.asks.iter().find(|(_, origin)| asked(origin)).map(|(ask, _)| *ask);
        if let Some(ask) = ask {
            self.asks.remove(&ask);
            self.events.push_back(Event::AskCancelled(ask));
            return;
        }
        let Some(id) = id.as_integer() else { return };
        let listens = matches!(self.waiting.get_mut(id), Some(Waiting::Call(flight)) if flight.request.method.streams());
        if let (true, Some(Waiting::Call(flight))) = (listens, self.waiting.abandon(id)) {
            self.flights.remove(&flight.exchange);
            let answer = Answer { result: Json::empty_object(), cache: None };
            self.end(flight.exchange, Ok(answer));
        }
    }

    /// The subscription that a notification names.
    fn subscription(&mut self, params: &Members) -> Option<ExchangeId> {
        let meta = params.object("_meta").ok()?;
        let id: RequestId = meta.parse(key::SUBSCRIPTION_ID).ok()??;
        match self.waiting.get_mut(id.as_integer()?)? {
            Waiting::Call(flight) => Some(flight.exchange),
            _ => None,
        }
    }

    /// A request of the server's: only a legacy one may send any.
    fn request(&mut self, request: &RequestMessage) {
        let legacy = self.profile.as_ref().filter(|profile| !profile.revision.is_modern());
        // A handshake under way counts: a ping may come before its answer.
        let revision = match (legacy, &self.profile) {
            (Some(profile), _) => profile.revision,
            (None, None) => bowline_types::revision::Revision::LATEST_LEGACY,
            (None, Some(_)) => {
                let name = request.method.as_str();
                return self.odd(format!(
                    "the server sent a request, `{name}`, which its revision forbids"
                ));
            }
        };
        let frame = match legacy::read(request, revision, self.config.capabilities()) {
            Ok(Asked::Ping) => splice::result(&request.id, "", "{}"),
            Ok(Asked::Question(question)) => {
                if self.asks.len() >= self.config.limits().questions {
                    let error =
                        ErrorObject::internal("too many questions are open on this connection");
                    splice::error(Ok(&request.id), &error)
                } else {
                    let ask = self.new_ask(Origin::Request(request.id.clone()));
                    return self.events.push_back(Event::Ask(ask, Box::new(question)));
                }
            }
            Err(error) => splice::error(Ok(&request.id), &error),
        };
        self.transmit(Route::Standalone, Role::Within, frame);
    }

    /// Text that is no message: fails the call it was meant for, or counts as noise.
    fn malformed(&mut self, malformed: &Malformed, text: &[u8]) {
        if let MalformedKind::Response(Some(id)) = &malformed.kind {
            if let Taken::Awaited(Waiting::Call(flight)) = self.waiting.take(id) {
                self.flights.remove(&flight.exchange);
                let reason = malformed.error.message.clone();
                return self.end(flight.exchange, Err(CallError::Invalid(reason)));
            }
        }
        self.noise += 1;
        let line: String = String::from_utf8_lossy(text).chars().take(120).collect();
        if self.noise > self.config.limits().noise {
            self.events.push_back(Event::Failed(NegotiationError::Noise(line)));
        } else if self.noise <= SHOWN {
            self.odd(format!(
                "the server wrote a line that is no message ({}): {line}",
                malformed.error.message
            ));
        }
    }

    fn too_long(&mut self, head: &[u8]) {
        let most = self.config.limits().frame;
        let reason = format!("it is longer than {most} bytes");
        let awaited = crate::frame::id_within(head).map(|id| self.waiting.take(&id));
        if let Some(Taken::Awaited(Waiting::Call(flight))) = awaited {
            self.flights.remove(&flight.exchange);
            return self.end(flight.exchange, Err(CallError::Invalid(reason)));
        }
        self.odd(format!("a message of the server's was skipped: {reason}"));
    }

    /// Whether the server offers a method, as far as it says.
    fn offered(&self, method: Method) -> Result<(), CallError> {
        let Some(profile) = &self.profile else { return Err(CallError::Closed) };
        let missing = |missing: String| Err(CallError::NotOffered { method, missing });
        if !method.is_from_client(profile.revision) {
            return missing(format!("it in revision {}", profile.revision));
        }
        match lacking(profile, method) {
            Some(capability) => missing(format!("the capability `{capability}`")),
            None => Ok(()),
        }
    }

    fn new_ask(&mut self, origin: Origin) -> AskId {
        self.last_ask += 1;
        let ask = AskId(self.last_ask);
        self.asks.insert(ask, origin);
        ask
    }

    fn forget_asks(&mut self, round: &Round) {
        for ask in round.open() {
            if self.asks.remove(&ask).is_some() {
                self.events.push_back(Event::AskCancelled(ask));
            }
        }
    }

    fn tell_cancelled(&mut self, exchange: ExchangeId, id: i64, reason: &str) {
        let params = format!("{{\"requestId\":{id},{}}}", splice::member("reason", reason));
        let frame = splice::notification(Method::Cancelled, &params);
        self.transmit(Route::Exchange(exchange), Role::Cancels, frame);
    }

    fn end(&mut self, exchange: ExchangeId, outcome: Result<Answer, CallError>) {
        self.flights.remove(&exchange);
        self.events.push_back(Event::Answered(exchange, outcome));
    }

    fn odd(&mut self, what: String) {
        self.events.push_back(Event::Odd(what));
    }

    fn transmit(&mut self, route: Route, role: Role, frame: Bytes) {
        self.transmits.push_back(Transmit { route, role, frame });
    }
}

/// The capability that a method needs and the server does not declare.
fn lacking(profile: &ServerProfile, method: Method) -> Option<&'static str> {
    let server = &profile.capabilities;
    let (offered, capability) = match method {
        Method::ToolsList | Method::ToolsCall => (server.supports_tools(), "tools"),
        Method::ResourcesList | Method::ResourcesTemplatesList | Method::ResourcesRead => {
            (server.supports_resources(), "resources")
        }
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            (server.supports_resources_subscribe(), "resources.subscribe")
        }
        Method::PromptsList | Method::PromptsGet => (server.supports_prompts(), "prompts"),
        Method::LoggingSetLevel => (server.supports_logging(), "logging"),
        Method::CompletionComplete => {
            let needed = profile.revision.has_completions_capability();
            (!needed || server.supports_completions(), "completions")
        }
        _ => (true, ""),
    };
    (!offered).then_some(capability)
}

/// The change that a notification tells of.
fn change(method: Method, params: &Members) -> Option<Change> {
    match method {
        Method::ToolsListChanged => Some(Change::Tools),
        Method::PromptsListChanged => Some(Change::Prompts),
        Method::ResourcesListChanged => Some(Change::Resources),
        Method::ResourcesUpdated => params.parse("uri").ok().flatten().map(Change::Resource),
        Method::SubscriptionsAcknowledged => {
            params.parse("notifications").ok().flatten().map(Change::Acknowledged)
        }
        _ => None,
    }
}
