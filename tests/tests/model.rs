//! Every order of requests, cancellations, results, progress and the end on a
//! server's connection, compared with a model of a few lines.
//!
//! The model predicts what the server writes after each step, and so what it must not write: a
//! second answer, an answer after a cancellation, progress after the answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::request::{
    ExchangeId, Outgoing, Owner, ProgressUpdate, Response, Sink, Success,
};
use bowline_proto::server::{ServerConfig, ServerConnection, ServerEvent};
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::progress::ProgressParams;
use bytes::Bytes;

/// How many steps are tried after the end.
const AFTER_END: usize = 2;

/// How many calls run at the same time; the next one waits.
const IN_FLIGHT: usize = 2;

/// One step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The client calls.
    Request,
    /// The client cancels its last call.
    Cancel,
    /// The handler that runs longest completes, whether its call is open or not; if none runs, the
    /// one that ended last completes again.
    Result,
    /// The handler that runs longest reports progress; if none runs, the one that ended last.
    Progress,
    /// The connection is closed.
    Close,
}

const STEPS: [Step; 5] = [Step::Request, Step::Cancel, Step::Result, Step::Progress, Step::Close];

/// Whether every call has the same id, as some clients do.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Same,
    Different,
}

/// The model's state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// Cancelled, answered or closed.
    Over,
}

/// The model and the connection.
struct World {
    connection: ServerConnection,
    ids: Ids,
    /// The calls in the order of their requests.
    calls: Vec<State>,
    /// The running handlers, also of cancelled calls: their calls and exchanges.
    handlers: VecDeque<(usize, ExchangeId)>,
    /// The handler that ended last.
    ended: Option<(usize, ExchangeId)>,
    closed: bool,
    ticks: u8,
    now: Instant,
}

impl World {
    /// Takes a step on both; returns what the model predicts that the server writes.
    fn take(&mut self, step: Step) -> Option<String> {
        match step {
            Step::Request => self.request(),
            Step::Cancel => self.cancel(),
            Step::Result => return self.result(),
            Step::Progress => return self.progress(),
            Step::Close => self.close(),
        }
        None
    }

    fn request(&mut self) {
        self.calls.push(if self.closed { State::Over } else { State::Waiting });
        let call = self.calls.len() - 1;
        let id = self.id(call);
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"call":{call},"_meta":{{"progressToken":{call},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        ));
    }

    /// Cancels the open call with the id if there is exactly one. If there are several, the server
    /// cannot know which is meant, and cancels none.
    fn cancel(&mut self) {
        let id = self.id(self.calls.len().saturating_sub(1));
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
        let meant = |call: &usize| self.calls[*call] != State::Over && self.id(*call) == id;
        let mut meant = (0..self.calls.len()).filter(meant);
        if let (Some(call), None) = (meant.next(), meant.next()) {
            self.calls[call] = State::Over;
        }
    }

    fn result(&mut self) -> Option<String> {
        let (call, number) = self.handlers.pop_front().or(self.ended)?;
        self.ended = Some((call, number));
        self.connection.complete(number, answer(call));
        let wanted = std::mem::replace(&mut self.calls[call], State::Over) == State::Running;
        let id = self.id(call);
        wanted.then(|| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}},"call":{call}}}}}"#
            )
        })
    }

    fn progress(&mut self) -> Option<String> {
        let (call, number) = self.handlers.front().copied().or(self.ended)?;
        self.ticks += 1;
        let progress = f64::from(self.ticks);
        let advance = ProgressUpdate { progress, total: None, message: None };
        self.connection.emit(number, Outgoing::Progress(advance), self.now);
        let token = ProgressToken(RequestId::from(i64::try_from(call).unwrap()));
        let params = serde_json::to_string(&ProgressParams::new(token, progress)).unwrap();
        (self.calls[call] == State::Running).then(|| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
        })
    }

    fn close(&mut self) {
        self.connection.close();
        self.closed = true;
        self.calls.fill(State::Over);
    }

    /// Handles the events of the connection and compares them with the model; returns what it
    /// writes.
    fn settle(&mut self) -> Vec<String> {
        while let Some(event) = self.connection.poll_event() {
            match event {
                ServerEvent::Call(request) => {
                    let call: usize = request.params.parse("call").unwrap().unwrap();
                    assert_eq!(self.calls[call], State::Waiting, "call {call} is started");
                    self.calls[call] = State::Running;
                    self.handlers.push_back((call, request.parts.exchange));
                }
                // The driver may drop a cancelled handler or let it run; here it runs.
                ServerEvent::Cancelled(number) => {
                    let stopped = self.handlers.iter().find(|(_, running)| *running == number);
                    let wanted = stopped.is_some_and(|(call, _)| self.calls[*call] != State::Over);
                    assert!(!wanted, "{number:?} is stopped");
                }
            }
        }
        let running = self.calls.iter().filter(|state| **state == State::Running).count();
        let expected =
            self.calls.iter().filter(|state| **state != State::Over).count().min(IN_FLIGHT);
        assert_eq!(running, expected, "so many calls run");
        std::iter::from_fn(|| self.connection.poll_transmit())
            .map(|transmit| String::from_utf8(transmit.frame.to_vec()).unwrap())
            .collect()
    }

    fn receive(&mut self, text: &str) {
        // Nothing can arrive on a closed connection.
        if !self.closed {
            let text = Bytes::copy_from_slice(text.as_bytes());
            self.connection.receive(Received::Message(text), self.now);
        }
    }

    fn id(&self, call: usize) -> usize {
        match self.ids {
            Ids::Same => 1,
            Ids::Different => call + 1,
        }
    }
}

fn answer(call: usize) -> Response {
    let body = RawJson::from_text(format!("{{\"call\":{call}}}")).unwrap();
    Ok(Success::raw(body, Meta::new()))
}

/// Plays every history of a given length.
fn play_all(ids: Ids, length: usize) {
    let mut limits = Limits::default();
    limits.in_flight = IN_FLIGHT;
    let config = Arc::new(ServerConfig::new(Implementation::new("s", "1")).with_limits(limits));
    let now = Instant::now();
    let mut played = 0_u32;
    extend(&mut Vec::new(), length, &mut |history| {
        played += 1;
        let world = World {
            connection: ServerConnection::new(
                config.clone(),
                Owner::anonymous(),
                Arc::new(Nowhere),
            ),
            ids,
            calls: Vec::new(),
            handlers: VecDeque::new(),
            ended: None,
            closed: false,
            ticks: 0,
            now,
        };
        play(history, world);
    });
    assert!(played > 5_000, "only {played} histories were played");
}

/// Makes every complete history from a beginning.
fn extend(history: &mut Vec<Step>, length: usize, play: &mut impl FnMut(&[Step])) {
    let end = history.iter().position(|step| *step == Step::Close);
    if history.len() == end.map_or(length, |end| length.min(end + 1 + AFTER_END)) {
        return play(history);
    }
    let may_follow = |step: &Step| match history[..] {
        // Before the first call no other step has an effect.
        [] => *step == Step::Request,
        _ => end.is_none() || *step != Step::Close,
    };
    let steps: Vec<_> = STEPS.into_iter().filter(may_follow).collect();
    for step in steps {
        history.push(step);
        extend(history, length, play);
        history.pop();
    }
}

fn play(history: &[Step], mut world: World) {
    for (position, step) in history.iter().enumerate() {
        let expected: Vec<_> = world.take(*step).into_iter().collect();
        assert_eq!(world.settle(), expected, "after step {} of {history:?}", position + 1);
    }
}

/// A sink for handlers that send nothing by themselves.
struct Nowhere;

impl Sink for Nowhere {
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        Err(outgoing)
    }
}

// spec: CANC-5, CANC-7, CANC-10, CANC-20, PROG-7, PROG-8, RPC-6
#[test]
fn each_of_several_calls_with_different_ids_is_answered_at_most_once() {
    play_all(Ids::Different, 7);
}

// spec: CANC-8, CANC-13, PROG-8, RPC-6
#[test]
fn each_of_several_calls_with_the_same_id_is_answered_at_most_once() {
    play_all(Ids::Same, 8);
}
