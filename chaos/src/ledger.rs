//! What the clients saw, what the replicas ran, and which faults there were: the input of the
//! [checker](crate::checker).
//!
//! Times count from the beginning of the run.

mod change;
mod recorder;
mod task;

use std::collections::HashMap;
use std::time::Duration;

pub use self::change::{Change, Notice, Notified};
pub use self::recorder::Recorder;
pub use self::task::{Task, TaskEnd};

/// Everything that is known about a run.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The calls, each sent exactly once.
    pub calls: Vec<Call>,
    /// The tasks that clients wanted to create.
    pub tasks: Vec<Task>,
    /// The changes that clients made and follow.
    pub changes: Vec<Change>,
    /// When clients got the ids of their sessions.
    pub sessions: HashMap<String, Duration>,
    /// Requests other than calls that failed.
    pub refusals: Vec<Refusal>,
    /// The runs of the tools, in the order in which they began.
    pub runs: Vec<ToolRun>,
    /// What tools did with the answers to their questions.
    pub effects: Vec<Effect>,
    /// The faults, in the order in which they began.
    pub faults: Vec<Fault>,
}

/// One call of a tool, as its client saw it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its number; no other call has it.
    pub nonce: u64,
    /// The session, for clients with a handshake.
    pub session: Option<String>,
    /// How many events the client asked for.
    pub wanted: u32,
    /// How many questions the client wants to be asked, one after another.
    pub questions: u32,
    /// The client whose thing the call changes, if it changes one.
    pub touches: Option<u64>,
    /// The answers that the client gave, in order.
    pub given: Vec<Given>,
    /// The id of the request that the client sent last. A call that asks has several requests on
    /// 2026-07-28.
    pub request: u64,
    /// How many requests the client sent for this call.
    pub rounds: u32,
    /// When the client sent the call.
    pub began: Duration,
    /// When the client had its end.
    pub ended: Duration,
    /// Every message that came on streams of this call, in order.
    pub seen: Vec<Seen>,
    /// The level of log messages that the server had acknowledged.
    pub level: Option<Level>,
    /// How it ended for the client.
    pub end: End,
    /// How many times the client resumed the stream before the end.
    pub resumed: u32,
}

/// A message on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The id of the event, if it had one.
    pub id: Option<String>,
    /// What the message is.
    pub message: Message,
}

/// What a message of a call is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Progress, with its token, which is the nonce, and the number of the event.
    Event(u64, u32),
    /// A log message.
    Log,
    /// A question to the client.
    Question(Question),
    /// The result: the id of the request and the text.
    Answer(u64, String),
    /// An error: the id of the request, the code and the text.
    Error(u64, i64, String),
    /// Anything else.
    Other(String),
}

/// A question of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The id of the request of the server, as JSON; on 2026-07-28 the key of the question.
    pub id: String,
    /// The nonce of the call.
    pub nonce: u64,
    /// Its number among the questions of the call.
    pub number: u32,
    /// What the client returns with its answer, on 2026-07-28.
    pub state: Option<String>,
}

/// An answer that a client gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// [`Question::id`].
    pub question: String,
    /// The answer.
    pub value: u64,
}

/// The level of log messages of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Whether messages of the level `info` are sent.
    pub has_info: bool,
    /// When the server acknowledged it.
    pub since: Duration,
}

/// How a call ended for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With a result, which is the last answer in [`Call::seen`].
    Answered,
    /// With a JSON-RPC error.
    Failed(i64, String),
    /// With an HTTP status other than 200.
    Status(u16),
    /// 400 at an attempt to resume: events are missing.
    Gap,
    /// The session is unknown: 404.
    SessionLost,
    /// The connection ended, and there is no event to resume after.
    Cut,
    /// The client gave up waiting.
    Overdue,
}

/// A request other than a call that failed.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Which request.
    pub request: &'static str,
    /// The session, if the request names one.
    pub session: Option<String>,
    /// Whether the request needs the store: in a session, or about a task.
    pub needs_store: bool,
    /// When it failed.
    pub at: Duration,
    /// How.
    pub end: End,
}

/// A run of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolRun {
    /// The nonce of the call.
    pub nonce: u64,
    /// The process that ran it.
    pub process: u32,
    /// Whether it continues a call that had asked, with the answer.
    pub is_again: bool,
}

/// What a tool did with the answers to its questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The nonce of the call.
    pub nonce: u64,
    /// The answers as they reached the tool, with commas.
    pub answers: String,
}

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What was done.
    pub kind: FaultKind,
    /// When it began.
    pub begin: Duration,
    /// When everything was as before; clients may need some time to notice.
    pub end: Duration,
}

/// What was done to which process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// SIGKILL for a replica.
    Kill(u32),
    /// SIGSTOP for a replica.
    Pause(u32),
    /// SIGTERM for a replica, and a new one at its place.
    Restart(u32),
    /// The store fails, for one replica or all; nothing that it acknowledged is lost.
    Store(&'static str),
    /// The store loses what it acknowledged.
    StoreLoss(&'static str),
}

/// The name of a fault with which the store works on, a little slower.
pub const HARMLESS: &str = "Redis delayed by 50 ms";

impl FaultKind {
    /// The name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill(_) => "replica killed",
            Self::Pause(_) => "replica paused",
            Self::Restart(_) => "replica restarted",
            Self::Store(name) | Self::StoreLoss(name) => name,
        }
    }
}

/// What the tool returns beside the number of events, so that an answer for another call or session
/// is noticed (FNV-1a).
pub fn digest(nonce: u64, session: &str) -> u64 {
    let bytes = nonce.to_le_bytes().into_iter().chain(session.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
