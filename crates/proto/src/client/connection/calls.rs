//! Calls from their start to their end, with the rounds of questions between.
//!
//! A call that the server answers with questions is not over. Its [`Round`] holds it until the host
//! has answered them, and it is then sent again under a new id, with the answers and the state of
//! the server untouched (MRTR-21, MRTR-26).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks;
use bowline_types::input::InputRequired;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::text::counted;
use bytes::Bytes;

use super::super::ask::{AskId, AskOrigin};
use super::super::legacy;
use super::super::rounds::{InFlightCall, Round};
use super::{
    CallAnswer, CallError, CallRequest, ClientConnection, ClientEvent, Purpose, ServerProfile,
};
use crate::mirror::{Mirror, head};
use crate::project::Project;
use crate::request::{ExchangeId, SuccessKind};
use crate::splice;
use crate::table::outgoing::Timing;
use crate::transmit::{Role, Route, Transmit};

/// How long a subscription may stay open. Long enough to mean "until one side ends it".
pub(super) const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl ClientConnection {
    /// Sends a call, for the first time or again with answers. Each round has the full timeout of
    /// the call.
    ///
    /// A call on behalf of a caller of a relay states the capabilities of that caller.
    pub(super) fn send(&mut self, flight: InFlightCall, extra: &str, now: Instant) {
        let limits = self.config.limits();
        let timeout = flight.request.timeout(limits);
        let deadline = flight.request.deadline(limits);
        let id = self.waiting.next_id();
        let stated = self.stated(&flight.request);
        let params = flight.request.text(id, stated.as_deref().or(self.modern_meta()), extra);
        let frame = splice::request(&id.into(), flight.request.method, &params);
        let exchange = flight.exchange;
        let mirror = self.mirror_call(id, &flight.request);
        self.in_flight.insert(exchange, id);
        self.await_answer(Purpose::Call(flight), timeout, deadline, now);
        let route = Route::Exchange(exchange);
        self.transmits.push_back(Transmit { route, role: Role::Opens, frame, mirror });
    }

    /// Sends a call for the first time.
    pub(super) fn send_first(&mut self, flight: InFlightCall, now: Instant) {
        match &flight.request.on_behalf {
            None => self.send(flight, "", now),
            Some(_) => {
                let returned = flight.request.returned();
                self.send(flight, &returned, now);
            }
        }
    }

    /// The members of `_meta` that the era requires, for a call on behalf of a caller.
    fn stated(&self, request: &CallRequest) -> Option<String> {
        let caller = request.on_behalf.as_ref()?;
        let agreed = self.agreed.as_ref().filter(|agreed| agreed.modern_meta().is_some())?;
        let revision = agreed.revision();
        let mut capabilities = caller.capabilities.clone();
        capabilities.project(revision);
        Some(self.config.modern_meta_with(&capabilities, revision))
    }

    /// The capabilities that a call states, which bound what the server may ask.
    pub(super) fn declared_by<'a>(
        &'a self,
        request: &'a CallRequest,
    ) -> Option<&'a ClientCapabilities> {
        match &request.on_behalf {
            Some(caller) => Some(&caller.capabilities),
            None => self.agreed.as_ref().map(|agreed| &agreed.declared),
        }
    }

    /// Adds a request to those that await an answer. Gives its id on the wire.
    pub(super) fn await_answer(
        &mut self,
        waiting: Purpose,
        timeout: Duration,
        deadline: Duration,
        now: Instant,
    ) -> i64 {
        let maximum = now.checked_add(deadline).or_else(|| now.checked_add(FOREVER)).unwrap_or(now);
        self.waiting.insert(waiting, Timing { timeout, maximum }, now)
    }

    /// Passes the questions of a result to the user of the client.
    ///
    /// The questions are checked like those of a session: the client must have declared what they
    /// need (MRTR-7). Without questions, a state alone is returned at once (MRTR-20).
    ///
    /// # Errors
    ///
    /// The error that ends the call: too many rounds, questions that the protocol or the client
    /// does not allow, or too many of them.
    pub(super) fn ask(
        &mut self,
        flight: InFlightCall,
        result: &RawJson,
        now: Instant,
    ) -> Result<(), CallError> {
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
        if flight.request.on_behalf.as_ref().is_some_and(|caller| caller.passes_on) {
            self.check(&flight.request, &required)?;
            let (kind, result) = (SuccessKind::InputRequired, result.clone());
            self.end(flight.exchange, Ok(CallAnswer { kind, ..CallAnswer::new(result) }));
            return Ok(());
        }
        self.put(flight, &required, now)
    }

    /// Checks that the client, or the caller of a relay, declared what the questions need.
    fn check(&self, request: &CallRequest, required: &InputRequired) -> Result<(), CallError> {
        let Some(declared) = self.declared_by(request) else { return Err(CallError::Closed) };
        for (key, question) in required.input_requests.iter() {
            legacy::permitted(question, declared).map_err(|error| {
                CallError::Invalid(format!("the question `{key}`: {}", error.message))
            })?;
        }
        Ok(())
    }

    /// Passes questions to the user of the client, and sends the call again with the answers.
    ///
    /// # Errors
    ///
    /// If the client did not declare what a question needs, or there are too many.
    pub(super) fn put(
        &mut self,
        flight: InFlightCall,
        required: &InputRequired,
        now: Instant,
    ) -> Result<(), CallError> {
        self.check(&flight.request, required)?;
        self.admit(required.input_requests.len(), now).map_err(CallError::Unanswered)?;
        let mut asks = BTreeMap::new();
        for (key, question) in required.input_requests.iter() {
            let ask = self.new_ask(AskOrigin::Round(flight.exchange));
            asks.insert(ask, key.to_owned());
            let question = Box::new(question.clone());
            self.events.push_back(ClientEvent::Ask(ask, Some(flight.exchange), question));
        }
        let round = Round::new(flight, required, asks);
        if round.is_complete() {
            let (flight, extra) = round.retry();
            self.send(flight, &extra, now);
        } else {
            self.rounds.insert(round.flight.exchange, round);
        }
        Ok(())
    }

    /// Takes an answer to a question of a round. After the last one the call is sent again; an
    /// error ends the call. The other questions are cancelled then, because the call will not be
    /// sent again.
    pub(super) fn answer_round(
        &mut self,
        exchange: ExchangeId,
        ask: AskId,
        answer: Result<RawJson, ErrorObject>,
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

    /// Checks that the server declared what a method needs. Both sides must use only what was
    /// agreed on (LIFE-15), and a local error says more than the server's would.
    pub(super) fn offered(&self, method: Method) -> Result<(), CallError> {
        let Some(profile) = self.profile() else { return Err(CallError::Closed) };
        let missing = |missing: String| Err(CallError::NotOffered { method, missing });
        if !method.is_from_client(profile.revision) {
            return missing(format!("it in revision {}", profile.revision));
        }
        match lacking(profile, method) {
            Some(capability) => missing(format!("the capability `{capability}`")),
            None => Ok(()),
        }
    }

    /// Admits questions for the user of the client, unless they are too many or come too fast.
    ///
    /// # Errors
    ///
    /// With the error for the server; since 2026-07-28, for the caller of the client.
    pub(super) fn admit(&mut self, questions: usize, now: Instant) -> Result<(), ErrorObject> {
        let limits = self.config.limits();
        self.has_room(questions)?;
        if !self.pace.admits(questions, now) {
            let most = counted(limits.questions_per_minute, "question");
            let message = format!("more than {most} in a minute; ask again later");
            return Err(ErrorObject::internal(message));
        }
        Ok(())
    }

    /// Checks that not too many requests of the server are open.
    ///
    /// # Errors
    ///
    /// With the error for the server.
    pub(super) fn has_room(&self, questions: usize) -> Result<(), ErrorObject> {
        if self.asks.len() + questions > self.config.limits().questions {
            let message = "too many questions are open on this connection";
            return Err(ErrorObject::internal(message));
        }
        Ok(())
    }

    /// Numbers a question of the server, and notes where its answer goes.
    pub(super) fn new_ask(&mut self, origin: AskOrigin) -> AskId {
        self.last_ask += 1;
        let ask = AskId(self.last_ask);
        self.asks.insert(ask, origin);
        ask
    }

    /// Cancels the questions of a round that are still open.
    pub(super) fn forget_asks(&mut self, round: &Round) {
        for ask in round.open() {
            if self.asks.remove(&ask).is_some() {
                self.events.push_back(ClientEvent::AskCancelled(ask));
            }
        }
    }

    /// Refuses the questions that came on the stream of a call which this client has given up. Their
    /// cancellation by the server would come on the same stream, which is closed.
    pub(super) fn refuse_asks(&mut self, exchange: ExchangeId) {
        let came = |origin: &AskOrigin| matches!(origin, AskOrigin::Request { stream, .. } if *stream == Some(exchange));
        let asks = self.asks.iter().filter(|(_, origin)| came(origin)).map(|(ask, _)| *ask);
        let asks: Vec<_> = asks.collect();
        for ask in asks {
            if let Some(AskOrigin::Request { id, .. }) = self.asks.remove(&ask) {
                let error = ErrorObject::internal("the client has cancelled the call that asks");
                self.send_one_way(None, splice::error(Ok(&id), &error));
                self.events.push_back(ClientEvent::AskCancelled(ask));
            }
        }
    }

    /// Tells the server that a call was cancelled. The transport may replace it by closing the
    /// stream of the call.
    pub(super) fn send_cancelled(&mut self, exchange: ExchangeId, id: i64, reason: &str) {
        let params = format!("{{\"requestId\":{id},{}}}", splice::member("reason", reason));
        let frame = splice::notification(Method::Cancelled, &params);
        let mirror = self.mirror(None, Some(Method::Cancelled));
        let route = Route::Exchange(exchange);
        self.transmits.push_back(Transmit { route, role: Role::Cancels, frame, mirror });
    }

    /// Ends a call, and reports its outcome.
    pub(super) fn end(&mut self, exchange: ExchangeId, outcome: Result<CallAnswer, CallError>) {
        self.in_flight.remove(&exchange);
        self.events.push_back(ClientEvent::Answered(exchange, outcome));
    }

    /// Reports something unexpected, for a log.
    pub(super) fn diagnostic(&mut self, what: String) {
        self.events.push_back(ClientEvent::Diagnostic(what));
    }

    /// Sends a request that belongs to no call.
    pub(super) fn send_request(&mut self, id: i64, method: Method, params: &str) {
        let frame = splice::request(&id.into(), method, params);
        let mirror = self.mirror(Some(id), Some(method));
        let (route, role) = (Route::Standalone, Role::Opens);
        self.transmits.push_back(Transmit { route, role, frame, mirror });
    }

    /// Sends a message that awaits no answer: a notification, or an answer (without a method). An
    /// answer of this client to a server that has exited has no one to go to.
    pub(super) fn send_one_way(&mut self, method: Option<Method>, frame: Bytes) {
        // Nothing is sent to a restarted server before a new agreement.
        if self.is_restarting {
            return;
        }
        let mirror = self.mirror(None, method);
        let (route, role) = (Route::Standalone, Role::Within);
        self.transmits.push_back(Transmit { route, role, frame, mirror });
    }

    /// The mirrored headers of a message, if the transport needs them.
    fn mirror(&self, id: Option<i64>, method: Option<Method>) -> Option<Box<Mirror>> {
        let revision = self.revision();
        let mirror = || Mirror { id, method, revision, name: None, params: Vec::new() };
        self.config.mirrors().then(|| Box::new(mirror()))
    }

    /// The mirrored headers of a call, with its name and marked arguments.
    pub(super) fn mirror_call(&self, id: i64, request: &CallRequest) -> Option<Box<Mirror>> {
        let mut mirror = self.mirror(Some(id), Some(request.method))?;
        // Legacy revisions repeat neither in headers.
        if mirror.revision.is_some_and(Revision::has_mirrored_headers) {
            mirror.name = head::name_of(request.method, request.params.as_str());
            mirror.params = request.headers.clone();
        }
        Some(mirror)
    }
}

/// The capability that a method needs and the server does not declare. `None` also for methods that
/// need no capability.
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
        Method::TasksGet
        | Method::TasksResult
        | Method::TasksList
        | Method::TasksCancel
        | Method::TasksUpdate => offers_tasks(profile, method),
        _ => (true, ""),
    };
    (!offered).then_some(capability)
}

/// Whether a server offers a method of tasks, and the capability that it needs.
fn offers_tasks(profile: &ServerProfile, method: Method) -> (bool, &'static str) {
    let server = &profile.capabilities;
    if !profile.revision.has_core_tasks() {
        return (server.supports_extension(tasks::IDENTIFIER), tasks::IDENTIFIER);
    }
    match (&server.tasks, method) {
        (None, _) => (false, "tasks"),
        (Some(tasks), Method::TasksList) => (tasks.list.is_some(), "tasks.list"),
        (Some(tasks), Method::TasksCancel) => (tasks.cancel.is_some(), "tasks.cancel"),
        (Some(_), _) => (true, ""),
    }
}
