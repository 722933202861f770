//! A client on a sans-IO connection. The transcript has the actions of its user and the events that the
//! user gets.
//!
//! Every output is there at once, so the play never waits, and a message in the wrong place is seen
//! exactly where it comes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{AskId, CallRequest, ClientConfig, ClientConnection, ClientEvent};
use bowline_proto::codec::lines::LineReader;
use bowline_proto::limits::Limits;
use bowline_proto::request::{ExchangeId, ReportedChange};
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde::Serialize;

use super::identity::ClientIdentity;
use super::side_under_test::{Output, SideUnderTest};
use crate::clock::Clock;

/// A client on a sans-IO connection. It has no user: answers to questions are actions of the file.
pub(crate) struct SansIoClient {
    /// The code under test. Everything else here stands in for a driver and an application.
    connection: ClientConnection,
    lines: LineReader,
    clock: Clock,
    /// The server's questions in the order of arrival; transcripts number them from 1.
    asks: Vec<AskId>,
    /// In the order of the file: messages of a step first, then its events.
    outputs: VecDeque<Output>,
}

impl SansIoClient {
    /// A client that has sent its first message. `words` are its capabilities; with `only` among them
    /// it speaks no revision but the given one.
    pub(crate) fn new(revision: Revision, words: &str, limits: Limits) -> Result<Self, String> {
        let (only, extras): (Vec<_>, Vec<_>) =
            words.split(',').map(str::trim).partition(|word| *word == "only");
        let capabilities = ClientIdentity::parse(&extras.join(","))?.capabilities(revision);
        let capabilities =
            serde_json::from_value(capabilities).map_err(|error| error.to_string())?;
        let info = Implementation::new("transcript", "1.0.0");
        let revisions = (!only.is_empty()).then_some(revision);
        let lines = LineReader::new(limits.frame);
        let config =
            ClientConfig::new(info, capabilities).with_limits(limits).with_revisions(revisions);
        let mut client = Self {
            connection: ClientConnection::new(Arc::new(config)),
            lines,
            clock: Clock::new(),
            asks: Vec::new(),
            outputs: VecDeque::new(),
        };
        client.connection.begin(client.clock.now());
        client.collect();
        Ok(client)
    }

    /// Takes the outgoing messages of the connection, then its events.
    fn collect(&mut self) {
        while let Some(transmit) = self.connection.poll_transmit() {
            let text = String::from_utf8_lossy(&transmit.frame).into_owned();
            self.outputs.push_back(Output::Message(text));
        }
        while let Some(event) = self.connection.poll_event() {
            let text = self.describe(event);
            self.outputs.push_back(Output::Event(text));
        }
    }

    /// Writes an event as a line of a transcript.
    fn describe(&mut self, event: ClientEvent) -> String {
        match event {
            ClientEvent::Ready(profile) => format!("ready {}", json(&profile.revision)),
            ClientEvent::Failed(error) => format!("failed {error}"),
            ClientEvent::Answered(number, Ok(answer)) => {
                format!("answered {} {}", number.0, answer.result)
            }
            ClientEvent::Answered(number, Err(error)) => format!("unanswered {} {error}", number.0),
            ClientEvent::Progress(number, progress) => {
                format!("progress {} {}", number.0, json(&progress))
            }
            ClientEvent::Log(None, message) => format!("log {}", json(&message)),
            ClientEvent::Log(Some(call), message) => {
                format!("log {} {}", call.0, json(&message))
            }
            ClientEvent::Change(None, change) => format!("change {}", changed(&change)),
            ClientEvent::Change(Some(number), change) => {
                format!("change {} {}", number.0, changed(&change))
            }
            // Only calls on behalf of a caller name themselves; see `attribution.rs` of `proto`.
            ClientEvent::Ask(ask, _, question) => {
                self.asks.push(ask);
                format!("asked {} {}", self.asks.len(), json(&*question))
            }
            ClientEvent::AskCancelled(ask) => {
                let place = self.asks.iter().position(|known| *known == ask);
                format!("unasked {}", place.map_or(0, |place| place + 1))
            }
            ClientEvent::ElicitationComplete(name) => format!("completed {name}"),
            ClientEvent::AskAboutTask(ask, request) => {
                self.asks.push(ask);
                format!("asked {} {request:?}", self.asks.len())
            }
            ClientEvent::TaskChanged(id) => format!("task {id}"),
            ClientEvent::Notification(method, params) => format!("notified {method} {params}"),
            ClientEvent::Renewed => "renewed".to_owned(),
            ClientEvent::Diagnostic(what) => format!("diagnostic {what}"),
        }
    }

    /// Performs an action; the table in [`transcript`](super) lists them.
    fn do_action(&mut self, action: &str) -> Result<(), String> {
        let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
        let (number, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "call" => self.call(ExchangeId(count(number)?), rest)?,
            "cancel" => self.connection.cancel(ExchangeId(count(number)?), "not wanted any more"),
            "answer" => {
                let answer =
                    RawJson::from_text(rest).map_err(|error| format!("`{rest}`: {error}"))?;
                self.connection.answer(self.ask(number)?, Ok(answer), self.clock.now());
            }
            "refuse" => {
                let error = ErrorObject::internal(rest);
                self.connection.answer(self.ask(number)?, Err(error), self.clock.now());
            }
            "notify" => self.notify(number, rest)?,
            "close" => self.connection.close(),
            _ => return Err(format!("unknown action `{verb}`; see the module `transcript`")),
        }
        Ok(())
    }

    /// Makes the call `METHOD {params}`, optionally with `+progress` or `+log:LEVEL`.
    fn call(&mut self, number: ExchangeId, rest: &str) -> Result<(), String> {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let method = Method::named(name).ok_or_else(|| format!("`{name}` is not a method"))?;
        let (params, wants) = rest.split_once(" +").unwrap_or((rest, ""));
        let mut request = CallRequest::new(method, object(params)?);
        request.progress = wants == "progress";
        if let Some(level) = wants.strip_prefix("log:") {
            let level = level.parse().map_err(|error| format!("`+{wants}`: {error}"))?;
            request.log_level = Some(level);
        }
        self.connection.call(number, request, self.clock.now());
        Ok(())
    }

    /// Sends the notification `METHOD {params}`.
    fn notify(&mut self, name: &str, params: &str) -> Result<(), String> {
        let method = Method::named(name).ok_or_else(|| format!("`{name}` is not a method"))?;
        let params = object(if params.is_empty() { "{}" } else { params })?;
        self.connection.notify(method, &params);
        Ok(())
    }

    /// The question with a number of the transcript, counted from 1 in the order of arrival.
    fn ask(&self, number: &str) -> Result<AskId, String> {
        let place = usize::try_from(count(number)?).unwrap_or(usize::MAX);
        let ask = place.checked_sub(1).and_then(|place| self.asks.get(place));
        ask.copied().ok_or_else(|| format!("no question has the number {number}"))
    }
}

impl SideUnderTest for SansIoClient {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.lines.buffer().extend_from_slice(bytes);
        while let Some(unit) = self.lines.next() {
            self.connection.receive(unit, self.clock.now());
        }
        self.collect();
        Ok(())
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        self.do_action(action)?;
        self.collect();
        Ok(())
    }

    /// Stops at every timeout on the way, in order, as real time would.
    async fn advance(&mut self, time: Duration) {
        let until = self.clock.now() + time;
        while let Some(timeout) = self.connection.poll_timeout().filter(|timeout| *timeout <= until)
        {
            self.clock.advance(timeout.saturating_duration_since(self.clock.now()));
            self.connection.handle_timeout(self.clock.now());
        }
        self.clock.advance(until.saturating_duration_since(self.clock.now()));
        self.collect();
    }

    async fn close(&mut self) -> Result<(), String> {
        self.connection.close();
        self.collect();
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Output) -> bool) -> Option<Output> {
        self.outputs.pop_front()
    }

    async fn try_next(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    async fn finish(&mut self) -> Result<Vec<Output>, String> {
        Ok(self.outputs.drain(..).collect())
    }
}

fn changed(change: &ReportedChange) -> String {
    match change {
        ReportedChange::Acknowledged(filter) => format!("acknowledged {}", json(filter)),
        ReportedChange::Tools => "tools".to_owned(),
        ReportedChange::Prompts => "prompts".to_owned(),
        ReportedChange::Resources => "resources".to_owned(),
        ReportedChange::Resource(uri) => format!("resource {uri}"),
        ReportedChange::Task { id, .. } => format!("task {id}"),
    }
}

fn object(text: &str) -> Result<Object, String> {
    let json = RawJson::from_text(text).map_err(|error| format!("`{text}`: {error}"))?;
    Object::new(json).map_err(|json| format!("`{json}` is not an object"))
}

fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
