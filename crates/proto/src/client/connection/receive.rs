//! What arrives from the server: answers, news, questions, noise.

use std::time::Instant;

use bowline_types::cache::CacheHint;
use bowline_types::cancel::CancelledParams;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::json::Json;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::super::legacy::{self, Asked};
use super::super::negotiate::{self, Step};
use super::super::rounds::Flight;
use super::{Answer, CallError, ClientConnection, Event, NegotiationError, Origin, Waiting};
use crate::frame::{
    Malformed, MalformedKind, Message, MethodName, NotificationMessage, RequestMessage,
    ResponseMessage, id_within,
};
use crate::members::Members;
use crate::request::{Change, ExchangeId, SuccessKind};
use crate::table::outgoing::Taken;
use crate::transmit::{Role, Route};
use crate::wire::{modern, splice};

/// Lines that are no protocol are shown this often, then only counted.
const SHOWN: usize = 3;

impl ClientConnection {
    pub(super) fn message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Response(response) => self.response(response, now),
            Message::Notification(notification) => self.notification(&notification, now),
            Message::Request(request) => self.request(&request),
        }
    }

    pub(super) fn response(&mut self, response: ResponseMessage, now: Instant) {
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

    pub(super) fn answered(
        &mut self,
        flight: Flight,
        outcome: Result<Json, ErrorObject>,
        now: Instant,
    ) {
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
    pub(super) fn completed(
        &self,
        flight: &Flight,
        result: &Json,
    ) -> Result<Option<CacheHint>, String> {
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

    pub(super) fn notification(&mut self, notification: &NotificationMessage, now: Instant) {
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

    pub(super) fn progress(&mut self, params: &Members, now: Instant) {
        let Ok(progress) = params.parse_all::<ProgressParams>() else { return };
        let Some(id) = progress.progress_token.0.as_integer() else { return };
        let Some(Waiting::Call(flight)) = self.waiting.get_mut(id) else { return };
        let exchange = flight.exchange;
        self.waiting.touch(id, now);
        self.events.push_back(Event::Progress(exchange, progress));
    }

    /// The server takes back a question, or ends a subscription.
    pub(super) fn cancelled(&mut self, params: &Members) {
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
    pub(super) fn subscription(&mut self, params: &Members) -> Option<ExchangeId> {
        let meta = params.object("_meta").ok()?;
        let id: RequestId = meta.parse(key::SUBSCRIPTION_ID).ok()??;
        match self.waiting.get_mut(id.as_integer()?)? {
            Waiting::Call(flight) => Some(flight.exchange),
            _ => None,
        }
    }

    /// A request of the server's: only a legacy one may send any.
    pub(super) fn request(&mut self, request: &RequestMessage) {
        let legacy = self.profile.as_ref().filter(|profile| !profile.revision.is_modern());
        // A handshake under way counts: a ping may come before its answer.
        let revision = match (legacy, &self.profile) {
            (Some(profile), _) => profile.revision,
            (None, None) => Revision::LATEST_LEGACY,
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

    /// Text that is no message: fails what it was meant for, or counts as noise.
    pub(super) fn malformed(&mut self, malformed: &Malformed, text: &[u8], now: Instant) {
        let reason = &malformed.error.message;
        if let MalformedKind::Response(Some(id)) = &malformed.kind
            && self.fail(id, reason, now)
        {
            return;
        }
        self.noise += 1;
        let line: String = String::from_utf8_lossy(text).chars().take(120).collect();
        if self.noise > self.config.limits().noise {
            self.events.push_back(Event::Failed(NegotiationError::Noise(line)));
        } else if self.noise <= SHOWN {
            self.odd(format!("the server wrote a line that is no message ({reason}): {line}"));
        }
    }

    pub(super) fn too_long(&mut self, head: &[u8], now: Instant) {
        let reason = format!("it is longer than {} bytes", self.config.limits().frame);
        let awaited = id_within(head).is_some_and(|id| self.fail(&id, &reason, now));
        if !awaited {
            self.odd(format!("a message of the server's was skipped: {reason}"));
        }
    }

    /// Ends what awaits an answer that cannot be read; gives whether anything did.
    fn fail(&mut self, id: &RequestId, reason: &str, now: Instant) -> bool {
        match self.waiting.take(id) {
            Taken::Awaited(Waiting::Probe(_)) => {
                self.step(negotiate::unanswered(&self.config), now);
            }
            Taken::Awaited(Waiting::Handshake) => {
                self.step(Step::Failed(NegotiationError::Invalid(reason.to_owned())), now);
            }
            Taken::Awaited(Waiting::Call(flight)) => {
                self.end(flight.exchange, Err(CallError::Invalid(reason.to_owned())));
            }
            Taken::Late => {}
            Taken::Unknown => return false,
        }
        true
    }
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
