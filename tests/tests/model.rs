//! Every order in which requests, cancellations, results, progress and the end can meet on a
//! server's connection, against a model of a few lines.
//!
//! The model says what must be written after each step, so it also says what must not: a second
//! answer, an answer after a cancellation was taken, progress after the answer.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bowline_proto::codec::lines::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::request::{Advance, ExchangeId, Outgoing, Owner, Response, Sink, Success};
use bowline_proto::server::{Event, ServerConfig, ServerConnection};
use bowline_types::implementation::Implementation;
use bowline_types::json::Json;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bytes::Bytes;

/// How long the histories are.
const LENGTH: usize = 8;

/// After the end, so many steps are still tried.
const AFTER_END: usize = 2;

/// Calls that run at the same time; the next one waits.
const IN_FLIGHT: usize = 2;

/// One step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client calls.
    Request,
    /// The client gives up the call that it made last.
    Cancel,
    /// The handler that has run longest gives its answer, wanted or not.
    Result,
    /// The handler that has run longest reports progress; if none runs, the one that ended last.
    Progress,
    /// The channel is gone.
    Close,
}

const STEPS: [Step; 5] = [Step::Request, Step::Cancel, Step::Result, Step::Progress, Step::Close];

/// Whether every call has the same id on the wire, as some clients have it.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Same,
    Different,
}

/// What the model knows of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// Cancelled while its handler still runs.
    Unwanted,
    Over,
}

/// The model and the connection, side by side.
struct World {
    connection: ServerConnection,
    ids: Ids,
    /// The calls of the model, in the order they came.
    calls: Vec<State>,
    /// The handlers that were started and have not ended: the call and its number.
    handlers: VecDeque<(usize, ExchangeId)>,
    /// The handler that ended last.
    ended: Option<(usize, ExchangeId)>,
    closed: bool,
    ticks: u8,
}

impl World {
    fn new(config: &Arc<ServerConfig>, ids: Ids) -> Self {
        Self {
            connection: ServerConnection::new(config.clone(), Owner::anonymous(), Arc::new(Nowhere)),
            ids,
            calls: Vec::new(),
            handlers: VecDeque::new(),
            ended: None,
            closed: false,
            ticks: 0,
        }
    }

    /// Takes a step on both sides; gives what the model says must be written.
    fn take(&mut self, step: Step) -> Option<String> {
        match step {
            Step::Request => {
                self.calls.push(State::Waiting);
                let call = self.calls.len() - 1;
                self.receive(&request(self.id(call), call));
                None
            }
            Step::Cancel => {
                let Some(last) = self.calls.len().checked_sub(1) else {
                    self.receive(&cancellation(1));
                    return None;
                };
                self.receive(&cancellation(self.id(last)));
                self.cancelled(self.id(last));
                None
            }
            Step::Result => {
                let (call, number) = self.handlers.pop_front().or(self.ended)?;
                self.ended = Some((call, number));
                self.connection.complete(number, answer(call));
                let wanted = self.calls[call] == State::Running;
                self.calls[call] = State::Over;
                wanted.then(|| format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","call":{call}}}}}"#, self.id(call)))
            }
            Step::Progress => {
                let (call, number) = self.handlers.front().copied().or(self.ended)?;
                self.ticks += 1;
                let progress = f64::from(self.ticks);
                let advance = Advance { progress, total: None, message: None };
                self.connection.emit(number, Outgoing::Progress(advance), start());
                let wanted = self.calls[call] == State::Running;
                wanted.then(|| format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{call},"progress":{progress:?}}}}}"#))
            }
            Step::Close => {
                self.connection.close();
                self.closed = true;
                self.calls.fill(State::Over);
                None
            }
        }
    }

    /// Does what the connection wants done, and checks that the model wants the same; gives what
    /// was written.
    fn settle(&mut self) -> Vec<String> {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Call(request) => {
                    let call: usize = request.params.parse("call").unwrap().unwrap();
                    assert_eq!(self.calls[call], State::Waiting, "call {call} is started again");
                    self.calls[call] = State::Running;
                    self.handlers.push_back((call, request.parts.exchange));
                }
                Event::Cancelled(number) => {
                    let (call, _) = *self.handlers.iter().find(|(_, running)| *running == number).unwrap();
                    assert!(matches!(self.calls[call], State::Unwanted | State::Over), "call {call} is stopped");
                }
            }
        }
        let running = self.calls.iter().filter(|state| **state == State::Running).count();
        let waiting = self.calls.contains(&State::Waiting);
        assert!(running <= IN_FLIGHT && (!waiting || running == IN_FLIGHT || self.closed), "{running} calls run");
        std::iter::from_fn(|| self.connection.poll_transmit())
            .map(|transmit| String::from_utf8(transmit.frame.to_vec()).unwrap())
            .collect()
    }

    /// Exactly one open call with the id is given up; of several nobody can tell which is meant.
    fn cancelled(&mut self, id: usize) {
        let open = |state: State| matches!(state, State::Waiting | State::Running);
        let meant: Vec<_> = (0..self.calls.len()).filter(|call| open(self.calls[*call]) && self.id(*call) == id).collect();
        if let [call] = meant[..] {
            let runs = self.calls[call] == State::Running;
            self.calls[call] = if runs { State::Unwanted } else { State::Over };
        }
    }

    fn receive(&mut self, text: &str) {
        // The driver reads nothing more once it has closed the connection.
        if !self.closed {
            self.connection.receive(Unit::Text(Bytes::copy_from_slice(text.as_bytes())), start());
        } else if let Some(state) = self.calls.last_mut() {
            *state = State::Over;
        }
    }

    fn id(&self, call: usize) -> usize {
        match self.ids {
            Ids::Same => 1,
            Ids::Different => call + 1,
        }
    }
}

fn request(id: usize, call: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","call":{call},"_meta":{{"progressToken":{call},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn cancellation(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

fn answer(call: usize) -> Response {
    let body = Json::from_text(format!("{{\"call\":{call}}}")).unwrap();
    Ok(Success::raw(body, Meta::new()))
}

/// Plays every history of [`LENGTH`] steps.
fn play_all(ids: Ids) {
    let limits = { let mut limits = Limits::default(); limits.in_flight = IN_FLIGHT; limits };
    let config = Arc::new(ServerConfig::new(Implementation::new("s", "1")).with_limits(limits));
    let mut history = Vec::new();
    let mut played = 0_u32;
    extend(&mut history, &mut |history| {
        played += 1;
        play(history, World::new(&config, ids));
    });
    assert!(played > 100_000, "{played} histories were played");
}

/// Makes every history out of a beginning.
fn extend(history: &mut Vec<Step>, play: &mut impl FnMut(&[Step])) {
    let end = history.iter().position(|step| *step == Step::Close);
    let most = end.map_or(LENGTH, |end| LENGTH.min(end + 1 + AFTER_END));
    if history.len() == most {
        return play(history);
    }
    let steps = if end.is_some() { &STEPS[..4] } else { &STEPS[..] };
    for step in steps {
        history.push(*step);
        extend(history, play);
        history.pop();
    }
}

fn play(history: &[Step], mut world: World) {
    for (position, step) in history.iter().enumerate() {
        let expected = world.take(*step);
        let written = world.settle();
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(written, expected, "after step {position} of {history:?}");
    }
}

#[test]
fn x() {}
