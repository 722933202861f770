//! Clients that call tools again and again, answer their questions, and note what they see.
//!
//! * `legacy`: with a session; resumes streams.
//! * `modern`: 2026-07-28, without.
//! * `tasks`: a call that runs as a task, for both.
//! * `follower`: changes things and is notified of that, in both eras; `following` is what it knows.

mod follower;
mod following;
mod legacy;
mod messages;
mod modern;
mod tasks;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::ledger::{Call, End, Given, Message, Question, Recorder, Seen};
use crate::random::Random;
use crate::wire::{HttpRequest, HttpResponse};

/// How long a client waits for the head of a response: longer than a replica is paused.
const HEAD: Duration = Duration::from_secs(25);

/// After so long without an event a client with a session takes the stream of a call for dead and
/// resumes it. Clients that follow changes need a comment at least.
const SILENCE: Duration = Duration::from_secs(4);

/// One client in so many follows changes, and makes no other calls.
const FOLLOWERS: u64 = 4;

/// Added to the number of a client for the half of it that reads streams.
const READERS: u64 = 1_000_000;

/// How many calls a client may make in a run, so that its nonces are its own.
const CALLS_PER_CLIENT: u64 = 1_000_000;

/// What all clients share.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where nginx listens.
    pub address: SocketAddr,
    /// Where clients write.
    pub recorder: Arc<Recorder>,
    /// The seed of the run.
    pub seed: u64,
    /// The most events of a call.
    pub most_events: u64,
    /// The time between two events, in milliseconds.
    pub pause: u64,
    /// Set when the clients are to end.
    pub is_over: Arc<AtomicBool>,
}

/// Starts clients. They end after [`Setting::is_over`] was set, each with the end of its call. One in
/// four of each era follows changes.
pub fn start(setting: &Setting, legacy: u64, modern: u64) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for number in 0..legacy + modern {
        let base = ClientBase::new(setting, number);
        let reader = ClientBase::new(setting, READERS + number);
        match (number < legacy, number % FOLLOWERS == FOLLOWERS - 1) {
            (true, false) => clients.spawn(legacy::run(base)),
            (true, true) => clients.spawn(follower::run_legacy(base, reader)),
            (false, false) => clients.spawn(modern::run(base)),
            (false, true) => clients.spawn(follower::run_modern(base, reader)),
        };
    }
    clients
}

/// What a client of either era has.
struct ClientBase {
    setting: Setting,
    number: u64,
    random: Random,
    next_nonce: u64,
}

impl ClientBase {
    fn new(setting: &Setting, number: u64) -> Self {
        let random = Random::part(setting.seed, number + 1);
        let next_nonce = (number + 1) * CALLS_PER_CLIENT;
        Self { setting: setting.clone(), number, random, next_nonce }
    }

    fn is_over(&self) -> bool {
        self.setting.is_over.load(Ordering::Relaxed)
    }

    fn now(&self) -> Duration {
        self.setting.recorder.now()
    }

    /// A call that begins now. One in five asks; of the others, one in four has no events.
    fn new_call(&mut self, session: Option<String>) -> Call {
        let nonce = self.new_id();
        let questions = if self.random.is_once_in(5) { self.random.between(1, 2) } else { 0 };
        let has_events = questions == 0 && !self.random.is_once_in(4);
        let wanted = if has_events { self.random.between(1, self.setting.most_events) } else { 0 };
        Call {
            nonce,
            session,
            wanted: u32::try_from(wanted).expect("a small number"),
            questions: u32::try_from(questions).expect("a small number"),
            touches: None,
            given: Vec::new(),
            request: nonce,
            rounds: 1,
            began: self.now(),
            ended: Duration::ZERO,
            seen: Vec::new(),
            level: None,
            end: End::Overdue,
            resumed: 0,
        }
    }

    /// A number that no other call or request has.
    fn new_id(&mut self) -> u64 {
        self.next_nonce += 1;
        self.next_nonce
    }

    /// Chooses the answer to a question, and notes it. `None` if it was answered before.
    fn choose(&mut self, call: &mut Call, question: &Question) -> Option<u64> {
        if call.given.iter().any(|given| given.question == question.id) {
            return None;
        }
        let value = self.random.between(0, 999_999_999);
        call.given.push(Given { question: question.id.clone(), value });
        Some(value)
    }

    /// Sends a request, and reads the head of its response.
    async fn send(&self, request: &HttpRequest, patience: Duration) -> Result<HttpResponse, End> {
        match timeout(patience, HttpResponse::of(self.setting.address, request)).await {
            Err(_) => Err(End::Overdue),
            Ok(Err(_)) => Err(End::Cut),
            Ok(Ok(response)) if response.status == 404 => Err(End::SessionLost),
            Ok(Ok(response)) if !(200..300).contains(&response.status) => {
                Err(End::Status(response.status))
            }
            Ok(Ok(response)) => Ok(response),
        }
    }

    /// Waits a moment, as users do between calls.
    async fn think(&mut self) {
        sleep(Duration::from_millis(self.random.between(20, 400))).await;
    }
}

/// What a client has to act on.
enum Step {
    Ended(End),
    Asked(Question),
}

/// Reads a stream up to the next question or the answer of the call. `None` if it ends before, or is
/// silent for too long. `position` is the id of the last event.
async fn read_stream(
    response: &mut HttpResponse,
    call: &mut Call,
    position: &mut Option<String>,
    silence: Duration,
) -> Option<Step> {
    loop {
        // Before its first id a stream cannot be resumed.
        let patience = if position.is_some() { silence } else { HEAD };
        let Ok(Ok(Some(event))) = timeout(patience, response.event()).await else { return None };
        if event.id.is_some() {
            position.clone_from(&event.id);
        }
        if event.data.is_empty() {
            continue;
        }
        let message = messages::read(&event.data);
        let step = step_of(&message, call.request);
        call.seen.push(Seen { id: event.id, message });
        if step.is_some() {
            return step;
        }
    }
}

/// Reads a response that is no stream.
async fn read_body(response: HttpResponse, call: &mut Call) -> Step {
    let Ok(Ok(body)) = timeout(HEAD, response.body()).await else { return Step::Ended(End::Cut) };
    let message = messages::read(&body);
    let step = step_of(&message, call.request);
    call.seen.push(Seen { id: None, message });
    step.unwrap_or(Step::Ended(End::Cut))
}

/// Reads what follows the answer on its stream, which should be nothing.
async fn read_rest(response: &mut HttpResponse, call: &mut Call) {
    while let Ok(Ok(Some(event))) = timeout(Duration::from_secs(1), response.event()).await {
        call.seen.push(Seen { id: event.id, message: messages::read(&event.data) });
    }
}

/// What a message wants from the client whose request has this id.
fn step_of(message: &Message, request: u64) -> Option<Step> {
    match message {
        Message::Answer(id, _) if *id == request => Some(Step::Ended(End::Answered)),
        Message::Error(id, code, text) if *id == request => {
            Some(Step::Ended(End::Failed(*code, text.clone())))
        }
        Message::Question(question) => Some(Step::Asked(question.clone())),
        _ => None,
    }
}
