//! Messages from the server: answers, notifications, questions, and lines that are none of these.
//!
//! Nothing that a server sends may disturb a call that it does not concern. An answer is found by
//! the id that this client gave, decoded by the method that was called, and checked before it ends
//! the call. Whatever fits nowhere is reported as [`ClientEvent::Diagnostic`] and otherwise ignored.

use std::time::Instant;

use bowline_types::cache::CacheHint;
use bowline_types::cancel::CancelledParams;
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::ElicitationCompleteParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::super::ask::AskOrigin;
use super::super::elicitations::Elicitations;
use super::super::legacy::{self, ServerRequest};
use super::super::negotiate::{self, NegotiationStep};
use super::super::rounds::InFlightCall;
use super::{CallAnswer, CallError, ClientConnection, ClientEvent, NegotiationError, Purpose};
use crate::codec::skipped::Skipped;
use crate::frame::{
    Malformed, MalformedKind, Message, MethodName, NotificationMessage, RequestMessage,
    ResponseMessage,
};
use crate::members::Members;
use crate::request::SuccessKind;
use crate::splice;
use crate::table::outgoing::Taken;
use crate::wire::modern;

/// How many lines that are not messages are reported; further ones are only counted. A server that
/// prints a banner is worth a line in the log, a server that prints a thousand lines not more than
/// three.
const SHOWN: usize = 3;

/// The members that a [`CacheHint`] is read from.
const HINTS: [&str; 2] = ["ttlMs", "cacheScope"];

impl ClientConnection {
    /// Handles one message by its kind.
    pub(super) fn message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Response(response) => self.response(response, now),
            Message::Notification(notification) => self.notification(&notification, now),
            Message::Request(request) => self.request(&request, now),
        }
    }

    /// Handles an answer: finds the request by its id and continues by the purpose of the request.
    pub(super) fn response(&mut self, response: ResponseMessage, now: Instant) {
        let Some(id) = &response.id else {
            let text = response.outcome.err().map(|error| error.to_string()).unwrap_or_default();
            return self.diagnostic(format!("the server could not read a message of ours: {text}"));
        };
        match self.waiting.take(id) {
            Taken::Awaited(Purpose::Probe(asked)) => {
                self.step(self.probed(asked, response.outcome.as_ref()), now);
            }
            Taken::Awaited(Purpose::Handshake) => {
                let step = negotiate::after_handshake(&self.config, response.outcome.as_ref());
                self.step(self.or_probe_again(step), now);
            }
            Taken::Awaited(Purpose::Call(flight)) => {
                self.answered(flight, response.outcome, response.members, now);
            }
            Taken::Awaited(Purpose::Subscribe(subscribe)) => {
                self.subscribe_answered(&subscribe, response.outcome);
            }
            Taken::Awaited(Purpose::KeepAlive) => self.keep_alive_answered(),
            Taken::Awaited(Purpose::RestoreLevel) => self.level_answered(response.outcome, now),
            Taken::Late => self.late(id, &response.outcome, now),
            Taken::Unknown => {
                self.diagnostic(format!("an answer names the id {id}, which awaits none"));
            }
        }
    }

    /// An answer that came after its request timed out or was cancelled. It is dropped (CANC-9),
    /// except for two: a task that nothing waits for is cancelled, and a server which was slow to
    /// start may turn out to be modern before it answered the handshake. The handshake or the second
    /// probe that was sent meanwhile is abandoned then.
    fn late(&mut self, id: &RequestId, outcome: &Result<RawJson, ErrorObject>, now: Instant) {
        let Ok(result) = outcome else { return };
        if self.was_late_tool(id) {
            self.cancel_late_task(result);
        }
        let Some((probe, asked)) = self.late_probe else { return };
        if self.agreed.is_some() || id.as_integer() != Some(probe) {
            return;
        }
        let step = self.probed(asked, Ok(result));
        if let NegotiationStep::Agreed(_) = step {
            let is_open =
                |waiting: &Purpose| matches!(waiting, Purpose::Handshake | Purpose::Probe(_));
            if let Some(open) = self.waiting.find(is_open) {
                self.waiting.abandon(open);
            }
            self.step(step, now);
        }
    }

    /// Handles the answer to a call: reports it, or asks the questions that it contains. In a
    /// session every result is complete. On 2026-07-28 `resultType` decides (RT-1 to RT-5).
    pub(super) fn answered(
        &mut self,
        flight: InFlightCall,
        outcome: Result<RawJson, ErrorObject>,
        members: Option<Members>,
        now: Instant,
    ) {
        let token = self.in_flight.remove(&flight.exchange);
        let exchange = flight.exchange;
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                if let Some(elicitations) = self.elicitations() {
                    elicitations.refused(&error);
                }
                if let Some(cache) = &mut self.cache {
                    cache.refused(&flight.request, &error);
                }
                return self.end(exchange, Err(CallError::Refused(error)));
            }
        };
        if let Some(session) = self.session_mut() {
            let is_task = flight.request.as_task;
            if let Some(token) = token.filter(|_| is_task && flight.request.progress) {
                session.task_progress.insert(token, exchange);
            }
            self.note_level(&flight.request);
            let kind = if is_task { SuccessKind::Task } else { SuccessKind::Complete };
            return self.end(exchange, Ok(CallAnswer { kind, ..CallAnswer::new(result) }));
        }
        let ended = match self.completed(&flight, &result, members) {
            Ok(Some((kind, hint))) => {
                let answer = CallAnswer { result, cache: Some(hint), reused: false, kind };
                self.keep(&flight, &answer, now);
                Ok(answer)
            }
            Ok(None) => match self.ask(flight, &result, now) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            Err(reason) => Err(CallError::Invalid(reason)),
        };
        self.end(exchange, ended);
    }

    /// Stores a result in the cache, unless it depends on more than the request. A result of a
    /// later round depends on the answers of the user, and is never stored (CACHE-6).
    fn keep(&mut self, flight: &InFlightCall, answer: &CallAnswer, now: Instant) {
        if let (Some(cache), 0) = (&mut self.cache, flight.round) {
            cache.keep(&flight.request, answer, flight.changes, now);
        }
    }

    /// Reads the kind of a modern result: gives the kind and the caching hint, or `None`
    /// if the server asks for input first.
    pub(super) fn completed(
        &self,
        flight: &InFlightCall,
        result: &RawJson,
        members: Option<Members>,
    ) -> Result<Option<(SuccessKind, CacheHint)>, String> {
        let cut = || Members::cut(Bytes::copy_from_slice(result.as_str().as_bytes()));
        let members = members.map_or_else(cut, Ok).map_err(|error| error.to_string())?;
        let explain = |problem: String| match members.string("resultType") {
            Ok(Some(kind)) if &*kind == "task" && flight.request.method == Method::ToolsCall => {
                format!("{problem}; `ClientBuilder::tasks` turns tasks on")
            }
            _ => problem,
        };
        match modern::kind(&members, self.may_become_task(&flight.request)).map_err(explain)? {
            kind @ SuccessKind::Task => Ok(Some((kind, CacheHint::default()))),
            kind @ SuccessKind::Complete => {
                // Most results have no hints, and are then not parsed.
                let has_hints = HINTS.iter().any(|name| members.value(name).is_some());
                let hint = has_hints.then(|| result.parse().unwrap_or_default());
                Ok(Some((kind, hint.unwrap_or_default())))
            }
            SuccessKind::InputRequired if flight.request.method.may_ask() => Ok(None),
            SuccessKind::InputRequired => {
                Err(format!("`{}` cannot require input", flight.request.method))
            }
        }
    }

    /// Handles a notification. Unknown ones are ignored.
    pub(super) fn notification(&mut self, notification: &NotificationMessage, now: Instant) {
        let params = &notification.params;
        let MethodName::Known(method) = notification.method else { return };
        match method {
            Method::Progress => self.progress(params, now),
            Method::Message => match params.parse_all() {
                Ok(message) => {
                    let call = self.logging_call();
                    self.events.push_back(ClientEvent::Log(call, message));
                }
                Err(error) => self.diagnostic(format!("`notifications/message`: {error}")),
            },
            Method::Cancelled => self.cancelled(params),
            Method::ElicitationComplete => self.elicitation_complete(params),
            Method::TasksStatus | Method::Tasks => self.task_changed(params),
            Method::Custom(_) => {
                let params = RawJson::from_checked(params.as_str());
                self.events.push_back(ClientEvent::Notification(method, params));
            }
            _ => self.changed(method, params, now),
        }
    }

    /// Reports progress, and restarts the timeout of its call. A token that belongs to no open
    /// call is ignored (PROG-7).
    pub(super) fn progress(&mut self, params: &Members, now: Instant) {
        let Ok(progress) = params.parse_all::<ProgressParams>() else { return };
        let Some(id) = progress.progress_token.0.as_integer() else { return };
        let exchange = match self.waiting.get_mut(id) {
            Some(Purpose::Call(flight)) => flight.exchange,
            // The token of a call is valid for the whole life of its task (PROG-11).
            _ => match self.session().and_then(|session| session.task_progress.get(&id)) {
                Some(exchange) => *exchange,
                None => return,
            },
        };
        self.waiting.touch(id, now);
        self.events.push_back(ClientEvent::Progress(exchange, progress));
    }

    /// The server cancels a question, or ends a subscription. Servers may cancel nothing else of
    /// this client (CANC-19).
    pub(super) fn cancelled(&mut self, params: &Members) {
        let Ok(CancelledParams { request_id: Some(id), .. }) = params.parse_all() else { return };
        let asked =
            |origin: &AskOrigin| matches!(origin, AskOrigin::Request { id: it, .. } if *it == id);
        let ask = self.asks.iter().find(|(_, origin)| asked(origin)).map(|(ask, _)| *ask);
        if let Some(ask) = ask {
            self.asks.remove(&ask);
            self.events.push_back(ClientEvent::AskCancelled(ask));
            return;
        }
        let Some(id) = id.as_integer() else { return };
        let listens = matches!(self.waiting.get_mut(id), Some(Purpose::Call(flight)) if flight.request.method.streams());
        if !listens {
            return;
        }
        if let Some(Purpose::Call(flight)) = self.waiting.abandon(id) {
            self.end(flight.exchange, Ok(CallAnswer::new(RawJson::empty_object())));
        }
    }

    /// The user has finished an elicitation by URL. Unknown names, and names that were completed
    /// before, are ignored (ELIC-33).
    fn elicitation_complete(&mut self, params: &Members) {
        let Ok(ElicitationCompleteParams { elicitation_id, .. }) = params.parse_all() else {
            return;
        };
        if self.elicitations().is_some_and(|open| open.complete(&elicitation_id)) {
            self.events.push_back(ClientEvent::ElicitationComplete(elicitation_id));
        }
    }

    /// The elicitations by URL, if they have names in this revision.
    fn elicitations(&mut self) -> Option<&mut Elicitations> {
        let agreed = self.agreed.as_mut().filter(|it| it.revision().has_elicitation_ids())?;
        agreed.session_mut().map(|session| &mut session.elicitations)
    }

    /// A request of the server. Only legacy servers may send any. A question that the client did
    /// not declare is answered with an error here; the host never sees it.
    pub(super) fn request(&mut self, request: &RequestMessage, now: Instant) {
        let revision = match self.revision() {
            Some(revision) if revision.has_server_requests() => revision,
            // A handshake under way counts too: a ping may come before its answer.
            None => Revision::LATEST_LEGACY,
            Some(_) => {
                let name = request.method.as_str();
                return self.diagnostic(format!(
                    "the server sent a request, `{name}`, which its revision forbids"
                ));
            }
        };
        let nothing = ClientCapabilities::new();
        let declared = self.agreed.as_ref().map_or(&nothing, |agreed| &agreed.declared);
        let frame = match legacy::read(request, revision, declared) {
            Ok(ServerRequest::Ping) => splice::result(&request.id, &[], "{}".into()),
            Ok(ServerRequest::Question(question)) => match self.admit(1, now) {
                Ok(()) => {
                    if let Some(elicitations) = self.elicitations() {
                        elicitations.asked(&question);
                    }
                    let ask = self.new_ask(self.asked_by(request));
                    let call = self.asking_call(&request.params);
                    let question = Box::new(question);
                    return self.events.push_back(ClientEvent::Ask(ask, call, question));
                }
                Err(error) => splice::error(Ok(&request.id), &error),
            },
            Ok(ServerRequest::Task(about)) => match self.has_room(1) {
                Ok(()) => {
                    let ask = self.new_ask(self.asked_by(request));
                    return self.events.push_back(ClientEvent::AskAboutTask(ask, about));
                }
                Err(error) => splice::error(Ok(&request.id), &error),
            },
            Err(error) => splice::error(Ok(&request.id), &error),
        };
        self.send_one_way(None, frame);
    }

    /// Text that is no message: fails the call that it was meant for, or counts as noise. A
    /// connection full of noise is closed, because its server does not speak the protocol.
    pub(super) fn malformed(&mut self, malformed: &Malformed, text: &[u8], now: Instant) {
        let reason = &malformed.error.message;
        if let MalformedKind::Response(Some(id)) = &malformed.kind
            && self.fail(id, CallError::Invalid(reason.clone()), now)
        {
            return;
        }
        self.noise += 1;
        let line: String = String::from_utf8_lossy(text).chars().take(120).collect();
        if self.noise > self.config.limits().noise {
            self.events.push_back(ClientEvent::Failed(NegotiationError::Noise(line)));
        } else if self.noise <= SHOWN {
            self.diagnostic(format!(
                "the server wrote a line that is no message ({reason}): {line}"
            ));
        }
    }

    /// Handles a message that is too long: fails the call that it answers, if its id is found.
    pub(super) fn too_long(&mut self, skipped: &Skipped, now: Instant) {
        let why = skipped.why;
        // A request of the server may have the same id as one of the client.
        let id = skipped.id().filter(|_| !skipped.is_call());
        let awaited = id.is_some_and(|id| self.fail(&id, CallError::TooLong(why), now));
        if !awaited {
            self.diagnostic(format!("a message of the server's was skipped: it is {why}"));
        }
    }

    /// Ends the request whose answer cannot be read. Gives whether there was one. Otherwise the
    /// call would wait for its timeout, although its answer has come.
    fn fail(&mut self, id: &RequestId, error: CallError, now: Instant) -> bool {
        let reason = || match &error {
            CallError::Invalid(reason) => reason.clone(),
            CallError::TooLong(why) => format!("it is {why}"),
            other => other.to_string(),
        };
        match self.waiting.take(id) {
            Taken::Awaited(Purpose::Probe(_)) => {
                self.step(negotiate::after_silence(&self.config), now);
            }
            Taken::Awaited(Purpose::Handshake) => {
                self.step(NegotiationStep::Failed(NegotiationError::Invalid(reason())), now);
            }
            Taken::Awaited(Purpose::Call(flight)) => {
                self.end(flight.exchange, Err(error));
            }
            Taken::Awaited(Purpose::Subscribe(subscribe)) => {
                self.subscribe_failed(&subscribe, error);
            }
            Taken::Awaited(Purpose::KeepAlive) => self.keep_alive_answered(),
            Taken::Awaited(Purpose::RestoreLevel) => self.level_failed(&reason(), now),
            Taken::Late => {}
            Taken::Unknown => return false,
        }
        true
    }
}
