//! A channel that carries many calls, of either era, as a machine.
//!
//! Feed it what arrives ([`receive`](ServerConnection::receive)), what handlers say
//! ([`emit`](ServerConnection::emit), [`complete`](ServerConnection::complete)) and the time
//! ([`handle_timeout`](ServerConnection::handle_timeout)); afterwards take what it wants done from
//! [`poll_event`](ServerConnection::poll_event) and written from
//! [`poll_transmit`](ServerConnection::poll_transmit) until both give nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use bowline_types::cancel::CancelledParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::ServerConfig;
use super::batch::{BatchId, Batches};
use super::exchange::{Call, Caller, Exchange, described};
use super::legacy::Session;
use crate::classify::{Claim, classify};
use crate::codec::lines::Unit;
use crate::frame::{
    Frame, Malformed, MalformedKind, Message, MethodName, NotificationMessage, RequestMessage,
    id_within,
};
use crate::members::Members;
use crate::request::{
    EveryResource, ExchangeId, Extensions, Outgoing, Owner, QuestionError, Request, Response, Sink,
    Success,
};
use crate::transmit::{Role, Route, Transmit};
use crate::wire::splice::NoId;
use crate::wire::{legacy, modern, splice};

/// What a connection wants done.
#[derive(Debug)]
pub enum Event {
    /// Serve this call, and [`complete`](ServerConnection::complete) it.
    Call(Box<Request>),
    /// Stop serving this call; whatever it still says is dropped.
    Cancelled(ExchangeId),
}

/// A channel that carries many calls.
pub struct ServerConnection {
    config: Arc<ServerConfig>,
    sink: Arc<dyn Sink>,
    owner: Owner,
    session: Option<Session>,
    slots: BTreeMap<ExchangeId, Slot>,
    backlog: VecDeque<Box<Request>>,
    batches: Batches,
    /// Calls that run and do not wait for the client.
    running: usize,
    last: u64,
    events: VecDeque<Event>,
    transmits: VecDeque<Transmit>,
}

/// What stands behind a number.
#[derive(Debug)]
enum Slot {
    /// A call of the client's.
    Call { exchange: Exchange, batch: Option<BatchId>, state: State },
    /// The handshake, while the service describes itself.
    Handshake(RequestId),
    /// The subscription that we hold on behalf of a legacy session.
    Standalone,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// Waits for so many answers of the client and does not count as running.
    Asking(usize),
    /// Stays open until one side ends it and does not count as running.
    Listening,
}

impl ServerConnection {
    /// A connection on which nothing has been said yet. What handlers say comes through `sink`,
    /// to be handed to [`emit`](Self::emit).
    pub fn new(config: Arc<ServerConfig>, owner: Owner, sink: Arc<dyn Sink>) -> Self {
        Self {
            config,
            sink,
            owner,
            session: None,
            slots: BTreeMap::new(),
            backlog: VecDeque::new(),
            batches: Batches::default(),
            running: 0,
            last: 0,
            events: VecDeque::new(),
            transmits: VecDeque::new(),
        }
    }

    /// Takes a unit of text from the client.
    pub fn receive(&mut self, unit: Unit, now: Instant) {
        let text = match unit {
            Unit::Text(text) => text,
            Unit::TooLong(head) => return self.refuse_too_long(&head),
        };
        match Frame::parse(&text, self.config.limits()) {
            Ok(Frame::Message(message)) => self.message(message, None, now),
            Ok(Frame::Batch(items)) => self.batch(items, now),
            Err(malformed) => self.refuse(malformed, None),
        }
    }

    /// Takes the answer of a call. Ignored if the call was cancelled meanwhile.
    pub fn complete(&mut self, number: ExchangeId, response: Response) {
        match self.slots.remove(&number) {
            Some(Slot::Call { exchange, batch, state }) => {
                let frame = exchange.answer(response, &self.config);
                self.leave(number, state);
                self.answer(Route::Exchange(number), batch, Some(frame));
            }
            Some(Slot::Handshake(id)) => self.welcome(number, &id, response),
            Some(Slot::Standalone) | None => {}
        }
    }

    /// Takes what a call says before its answer.
    pub fn emit(&mut self, number: ExchangeId, outgoing: Outgoing, now: Instant) {
        if let Outgoing::Ask(question) = outgoing {
            return self.ask(number, question, now);
        }
        let frame = match (self.slots.get_mut(&number), outgoing) {
            (Some(Slot::Call { exchange, .. }), Outgoing::Progress(advance)) => {
                exchange.progress(advance)
            }
            (Some(Slot::Call { exchange, .. }), Outgoing::Log(message)) => {
                exchange.log(&message, self.session.as_ref().map(|session| session.log_level))
            }
            (Some(Slot::Call { exchange, .. }), Outgoing::Change(change)) => {
                Some(exchange.change(&change))
            }
            (Some(Slot::Standalone), Outgoing::Change(change)) => {
                let wanted = self.session.as_ref().is_some_and(|session| session.wants(&change));
                let (method, params) = described(&change);
                wanted.then(|| splice::notification(method, &params))
            }
            _ => None,
        };
        let route = match self.slots.get(&number) {
            Some(Slot::Standalone) => Route::Standalone,
            _ => Route::Exchange(number),
        };
        self.transmit(route, Role::Within, frame);
    }

    /// Gives up questions whose time is over.
    pub fn handle_timeout(&mut self, now: Instant) {
        let expired = self.session.as_mut().map(|session| session.expire(now)).unwrap_or_default();
        for (number, frame) in expired {
            self.transmit(Route::Exchange(number), Role::Within, Some(frame));
            self.resume(number);
        }
    }

    /// Ends every subscription from our side: the answer first, then the notice that stdio wants.
    pub fn end_subscriptions(&mut self) {
        let listening = |slot: &Slot| matches!(slot, Slot::Call { state: State::Listening, .. });
        let numbers: Vec<_> = self
            .slots
            .iter()
            .filter(|(_, slot)| listening(slot))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            if let Some(Slot::Call { exchange, .. }) = self.slots.remove(&number) {
                let params = format!("{{{}}}", splice::member("requestId", exchange.id()));
                let notice = splice::notification(Method::Cancelled, &params);
                self.transmit(
                    Route::Exchange(number),
                    Role::Ends,
                    Some(exchange.end(&self.config)),
                );
                self.transmit(Route::Exchange(number), Role::Cancels, Some(notice));
                self.events.push_back(Event::Cancelled(number));
            }
        }
    }

    /// The client will say nothing more: whoever waits for its answers stops waiting.
    pub fn end_of_input(&mut self) {
        if let Some(session) = &mut self.session {
            session.close();
        }
    }

    /// Forgets everything: the channel is gone, or the time to drain it is over.
    pub fn close(&mut self) {
        self.end_of_input();
        self.backlog.clear();
        self.events.clear();
        self.events.extend(self.slots.keys().map(|number| Event::Cancelled(*number)));
        self.slots.clear();
        self.running = 0;
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
        self.session.as_ref()?.next_deadline()
    }

    /// Whether to read on; not while too many calls wait for their turn.
    pub fn wants_input(&self) -> bool {
        self.backlog.len() < self.config.limits().backlog
    }

    /// Whether a call is being served that will end by itself.
    pub fn is_busy(&self) -> bool {
        let ends = |slot: &Slot| match slot {
            Slot::Call { state, .. } => *state != State::Listening,
            Slot::Handshake(_) => true,
            Slot::Standalone => false,
        };
        self.slots.values().any(ends)
    }

    fn message(&mut self, message: Message, batch: Option<BatchId>, now: Instant) {
        match message {
            Message::Request(request) => self.request(request, batch),
            Message::Notification(notification) => self.notification(&notification, now),
            Message::Response(response) => {
                let answered = self.session.as_mut().and_then(|session| session.answered(response));
                if let Some(number) = answered {
                    self.resume(number);
                }
            }
        }
    }

    fn batch(&mut self, items: Vec<Result<Message, Malformed>>, now: Instant) {
        if !self.session.as_ref().is_some_and(|session| session.revision.has_batches()) {
            let error = ErrorObject::invalid_request(
                "a message is one object; only 2025-03-26 has batches",
            );
            return self.refuse(Malformed { error, kind: MalformedKind::Request(None) }, None);
        }
        let batch = self.batches.open();
        // Held open until every message has been looked at.
        self.batches.await_one(batch);
        for item in items {
            match item {
                Ok(message) => self.message(message, Some(batch), now),
                Err(malformed) => self.refuse(malformed, Some(batch)),
            }
        }
        self.answer(Route::Standalone, Some(batch), None);
    }

    fn request(&mut self, request: RequestMessage, batch: Option<BatchId>) {
        if let Some(batch) = batch {
            self.batches.await_one(batch);
        }
        let id = request.id.clone();
        if let Err(error) = self.admit(request, batch) {
            self.answer(Route::Standalone, batch, Some(splice::error(Ok(&id), &error)));
        }
    }

    /// Finds out what a request is, and starts what it asks.
    fn admit(
        &mut self,
        request: RequestMessage,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        let meta = request
            .params
            .object("_meta")
            .map_err(|error| ErrorObject::invalid_params(format!("`params._meta`: {error}")))?;
        let session = self.session.as_ref().map(|session| session.revision);
        match classify(&request, &meta, session, self.config.revisions())? {
            Claim::Modern(revision) => {
                let method = known(&request.method, revision)?;
                let lifted = modern::lift(method, &request.params, meta, revision)?;
                self.open(request, method, lifted, batch)
            }
            Claim::Legacy(revision) => self.admit_legacy(request, meta, revision, batch),
            Claim::Handshake => {
                if batch.is_some() {
                    return Err(ErrorObject::invalid_request(
                        "`initialize` must not stand in a batch",
                    ));
                }
                self.handshake(&request)
            }
            Claim::EarlyPing => {
                self.reply(&request.id, batch, Ok(Success::empty()));
                Ok(())
            }
        }
    }

    fn admit_legacy(
        &mut self,
        request: RequestMessage,
        meta: Members,
        revision: Revision,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        let method = known(&request.method, revision)?;
        let limits = self.config.limits().clone();
        let Some(session) = &mut self.session else { return Ok(()) };
        if let Some(response) = session.serve(method, &request.params, &limits) {
            self.reply(&request.id, batch, response);
            return Ok(());
        }
        let lifted = legacy::lift(meta, revision, session.client.clone())?;
        self.open(request, method, lifted, batch)
    }

    /// Opens an exchange, and starts it if not too many run already.
    fn open(
        &mut self,
        request: RequestMessage,
        method: Method,
        lifted: crate::wire::Lifted,
        batch: Option<BatchId>,
    ) -> Result<(), ErrorObject> {
        if method.streams() && self.listening() >= self.config.limits().subscriptions {
            let most = self.config.limits().subscriptions;
            let message =
                format!("{most} subscriptions are open on this connection; end one first");
            return Err(ErrorObject::invalid_request(message));
        }
        let call = Call { id: request.id, method, params: request.params };
        let number = self.number();
        let (exchange, request) =
            Exchange::open(number, call, lifted, self.caller(Extensions::default()));
        let state = if method.streams() { State::Listening } else { State::Waiting };
        self.slots.insert(number, Slot::Call { exchange, batch, state });
        if state == State::Listening {
            self.events.push_back(Event::Call(Box::new(request)));
        } else {
            self.backlog.push_back(Box::new(request));
            self.start_next();
        }
        Ok(())
    }

    /// Starts calls from the backlog while there is room.
    fn start_next(&mut self) {
        while self.running < self.config.limits().in_flight {
            let Some(request) = self.backlog.pop_front() else { return };
            if let Some(Slot::Call { state, .. }) = self.slots.get_mut(&request.parts.exchange) {
                *state = State::Running;
                self.running += 1;
                self.events.push_back(Event::Call(request));
            }
        }
    }

    /// A call has left its slot: makes room, and gives up what it still asked.
    fn leave(&mut self, number: ExchangeId, state: State) {
        match state {
            State::Running => self.running -= 1,
            State::Waiting => self.backlog.retain(|request| request.parts.exchange != number),
            State::Asking(_) | State::Listening => {}
        }
        let frames =
            self.session.as_mut().map(|session| session.give_up(number)).unwrap_or_default();
        for frame in frames {
            self.transmit(Route::Exchange(number), Role::Within, Some(frame));
        }
        self.start_next();
    }

    fn ask(&mut self, number: ExchangeId, question: crate::request::Question, now: Instant) {
        let limits = self.config.limits().clone();
        let session = match (self.slots.get(&number), &mut self.session) {
            (Some(Slot::Call { exchange, .. }), Some(session))
                if !exchange.revision().is_modern() =>
            {
                session
            }
            _ => return question.reply.deliver(Err(QuestionError::NoBackChannel)),
        };
        let Some(frame) = session.ask(number, question, &limits, now) else { return };
        self.transmit(Route::Exchange(number), Role::Within, Some(frame));
        if let Some(Slot::Call { state, .. }) = self.slots.get_mut(&number) {
            *state = match *state {
                State::Asking(questions) => State::Asking(questions + 1),
                _ => {
                    self.running -= 1;
                    State::Asking(1)
                }
            };
        }
        self.start_next();
    }

    /// An answer for a call has come: once it has them all, it counts as running again.
    fn resume(&mut self, number: ExchangeId) {
        if let Some(Slot::Call { state, .. }) = self.slots.get_mut(&number) {
            *state = match *state {
                State::Asking(1) => {
                    self.running += 1;
                    State::Running
                }
                State::Asking(questions) => State::Asking(questions - 1),
                other => other,
            };
        }
    }

    fn handshake(&mut self, request: &RequestMessage) -> Result<(), ErrorObject> {
        let session = Session::open(&request.params, &self.config)?;
        let lifted = legacy::lift(Members::default(), session.revision, session.client.clone())?;
        self.session = Some(session);
        let number = self.number();
        self.slots.insert(number, Slot::Handshake(request.id.clone()));
        let call = Call {
            id: request.id.clone(),
            method: Method::ServerDiscover,
            params: Members::default(),
        };
        let (_, request) = Exchange::open(number, call, lifted, self.caller(Extensions::default()));
        self.events.push_back(Event::Call(Box::new(request)));
        Ok(())
    }

    fn welcome(&mut self, number: ExchangeId, id: &RequestId, response: Response) {
        let Some(session) = &mut self.session else { return };
        let response = response.and_then(|discovered| session.welcome(&discovered, &self.config));
        if response.is_err() {
            self.session = None;
        }
        let frame = match response {
            Ok(success) => splice::result(id, &legacy::stamp(&success), success.body().as_str()),
            Err(error) => splice::error(Ok(id), &error),
        };
        self.transmit(Route::Exchange(number), Role::Ends, Some(frame));
    }

    fn notification(&mut self, notification: &NotificationMessage, now: Instant) {
        let MethodName::Known(method) = notification.method else { return };
        match method {
            Method::Cancelled => {
                if let Ok(CancelledParams { request_id: Some(id), .. }) =
                    notification.params.parse_all()
                {
                    self.cancel(&id);
                }
            }
            Method::Initialized => self.initialized(),
            Method::Progress => {
                let token =
                    notification.params.parse_all().map(|p: ProgressParams| p.progress_token.0);
                if let (Some(session), Ok(Some(id))) =
                    (&mut self.session, token.map(|t| t.as_integer()))
                {
                    session.touch(id, now);
                }
            }
            _ => {}
        }
    }

    /// Cancels the call with this id, if exactly one has it: when several do, there is no telling
    /// which is meant.
    fn cancel(&mut self, id: &RequestId) {
        let named =
            |slot: &Slot| matches!(slot, Slot::Call { exchange, .. } if exchange.id() == id);
        let mut numbers =
            self.slots.iter().filter(|(_, slot)| named(slot)).map(|(number, _)| *number);
        let (Some(number), None) = (numbers.next(), numbers.next()) else { return };
        if let Some(Slot::Call { batch, state, .. }) = self.slots.remove(&number) {
            if state != State::Waiting {
                self.events.push_back(Event::Cancelled(number));
            }
            self.leave(number, state);
            self.answer(Route::Exchange(number), batch, None);
        }
    }

    /// The session is open: listens to changes on its behalf.
    fn initialized(&mut self) {
        let Some(session) = &self.session else { return };
        let standing = self.slots.values().any(|slot| matches!(slot, Slot::Standalone));
        if standing {
            return;
        }
        let filter = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}"#;
        let Ok(params) = Members::cut(Bytes::from_static(filter.as_bytes())) else { return };
        let Ok(lifted) = legacy::lift(Members::default(), session.revision, session.client.clone())
        else {
            return;
        };
        let number = self.number();
        let call = Call { id: RequestId::from(0), method: Method::SubscriptionsListen, params };
        let mut extensions = Extensions::default();
        extensions.insert(EveryResource);
        let (_, request) = Exchange::open(number, call, lifted, self.caller(extensions));
        self.slots.insert(number, Slot::Standalone);
        self.events.push_back(Event::Call(Box::new(request)));
    }

    fn refuse_too_long(&mut self, head: &[u8]) {
        let most = self.config.limits().frame;
        let error =
            ErrorObject::invalid_request(format!("the message is longer than {most} bytes"));
        self.refuse(Malformed { error, kind: MalformedKind::Request(id_within(head)) }, None);
    }

    /// Answers what could not be read, unless it wants no answer.
    fn refuse(&mut self, malformed: Malformed, batch: Option<BatchId>) {
        let MalformedKind::Request(id) = malformed.kind else { return };
        let without = match &self.session {
            Some(session) if !session.revision.has_errors_without_id() => NoId::Null,
            _ => NoId::Absent,
        };
        if let Some(batch) = batch {
            self.batches.await_one(batch);
        }
        let frame = splice::error(id.as_ref().ok_or(without), &malformed.error);
        self.answer(Route::Standalone, batch, Some(frame));
    }

    /// Answers a request of a session that needs no service.
    fn reply(&mut self, id: &RequestId, batch: Option<BatchId>, response: Response) {
        let frame = match response {
            Ok(success) => splice::result(id, &legacy::stamp(&success), success.body().as_str()),
            Err(error) => splice::error(Ok(id), &error),
        };
        self.answer(Route::Standalone, batch, Some(frame));
    }

    /// Sends an answer, or keeps it until its batch is complete.
    fn answer(&mut self, route: Route, batch: Option<BatchId>, frame: Option<Bytes>) {
        let frame = match batch {
            Some(batch) => self.batches.answer(batch, frame),
            None => frame,
        };
        self.transmit(route, Role::Ends, frame);
    }

    fn transmit(&mut self, route: Route, role: Role, frame: Option<Bytes>) {
        self.transmits.extend(frame.map(|frame| Transmit { route, role, frame }));
    }

    fn listening(&self) -> usize {
        let listening = |slot: &&Slot| matches!(slot, Slot::Call { state: State::Listening, .. });
        self.slots.values().filter(listening).count()
    }

    fn number(&mut self) -> ExchangeId {
        self.last += 1;
        ExchangeId(self.last)
    }

    fn caller(&self, extensions: Extensions) -> Caller {
        Caller { owner: self.owner.clone(), sink: self.sink.clone(), extensions }
    }
}

/// The method of a request, if clients may send it in this revision.
fn known(name: &MethodName, revision: Revision) -> Result<Method, ErrorObject> {
    match name {
        MethodName::Known(method) if method.is_from_client(revision) => Ok(*method),
        _ => Err(ErrorObject::method_not_found(format!(
            "{revision} has no method `{}`",
            name.as_str()
        ))),
    }
}
