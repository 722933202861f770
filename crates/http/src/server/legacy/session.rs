//! One session: the state machine of the protocol ([`ServerConnection`]) behind a lock, and the lines
//! that carry its messages to answers and streams.
//!
//! A session has no task and no channel. Each POST drives its calls ([`super::driver`]), and the GET
//! stream drives the session's own subscription ([`listening`]).
//!
//! These move it: [`receive`](HttpSession::receive) takes a message of the client,
//! [`complete`](HttpSession::complete) the outcome of a call,
//! [`handle_timeout`](HttpSession::handle_timeout) the time, and [`sink`] what handlers send. Each ends
//! by putting what the state machine wants done onto lines ([`deliver`]).

mod abandoned;
mod broadcasts;
mod claim;
mod copy;
mod deliver;
mod detached;
mod end;
mod get_streams;
mod listening;
mod numbering;
mod relay;
mod shared;
mod sink;
mod streams;
mod subscription;
mod unsaved;
mod upkeep;
mod usage;

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Instant;

use bowline_proto::classify::LegacyFrame;
use bowline_proto::frame::Frame;
use bowline_proto::request::{ExchangeId, Owner, Response as Outcome};
use bowline_proto::server::{Attached, ServerConnection};
use bowline_proto::sync::lock;
use bowline_proto::table::exchanges::ExchangeTable;
use bowline_proto::table::hash::CountedKeys;
use bowline_store::events::EventLog;
use bowline_types::revision::Revision;
use tokio::sync::Notify;

use self::copy::SharedCopy;
use self::get_streams::GetStreams;
pub(super) use self::get_streams::{OpenedGetStream, Start};
pub(super) use self::listening::Listener;
use self::sink::SessionSink;
pub(super) use self::streams::{AGAIN, Recorded, StreamLog, StreamState};
use self::subscription::Subscription;
pub(super) use self::usage::SessionUse;
use super::super::clock::now;
use super::super::core::Core;
use super::super::places::Places;
use super::event_id::GET_STREAM;
use super::item::Line;

/// One session, or one endpoint's copy of a session that several endpoints serve.
///
/// Made before its handshake, and in the table of sessions only after the handshake has succeeded
/// (2024-11-05: as soon as its stream is open). The table, every answer and every stream hold it; it
/// is dropped with the last of them. Ending it is separate ([`end`]): what still holds it then sees
/// that it has ended.
pub(super) struct HttpSession {
    /// Empty for a session that serves a single request: no other request can name it.
    pub(super) id: Box<str>,
    /// Every later request must come from the same owner (SESS-16).
    pub(super) owner: Owner,
    pub(super) core: Arc<Core>,
    pub(super) kind: SessionKind,
    state: Mutex<State>,
    /// How many answers and streams are under way ([`SessionUse`]).
    uses: AtomicUsize,
    /// Wakes tasks that wait for the end of the session or of one of its streams.
    ended: Notify,
    /// The log of the GET stream, once it is needed. One for all that write and read it here, so that
    /// all know its highest position.
    get_log: OnceLock<Box<EventLog>>,
}

/// Where the answers to POSTs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// Each POST carries its own answer.
    Streamable,
    /// The one GET stream carries all answers (2024-11-05).
    Sse2024,
}

/// Behind one lock, which is held for a moment and never across an await. What is dropped or
/// started because of a change is dropped or started after unlocking, since a handler may send at
/// once.
struct State {
    /// The rules of the protocol. Everything else here decides only where its messages go.
    connection: ServerConnection,
    /// The line of each open exchange.
    lines: ExchangeTable<Arc<Line>>,
    /// The slots of open calls whose POST may be answered before they end.
    places: ExchangeTable<Arc<Places>>,
    /// The line of messages that belong to no call.
    standalone: Arc<Line>,
    /// The session's own subscription to changes.
    subscription: Subscription,
    /// Which GET stream listens, and which events of the log it may send.
    get_streams: GetStreams,
    /// When a message last came.
    used: Instant,
    /// Whether `notifications/initialized` has come.
    is_initialized: bool,
    /// Set once the session has ended here.
    end: Option<End>,
    /// Set if several endpoints serve the session. Boxed, because it is large and rare.
    copy: Option<Box<SharedCopy>>,
    /// Whether a task writes standalone messages into the log of another endpoint's GET stream.
    is_relaying: bool,
    /// The number of the stream that was opened last.
    last_stream: u64,
    /// The streams of POSTs that have not ended, with or without a reader.
    open_streams: HashMap<u64, EventLog, CountedKeys>,
}

/// How a session has ended at this endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is gone everywhere.
    Over,
    /// Other endpoints still serve it.
    Elsewhere,
}

/// What became of a message. The POST drives the line to its end.
pub(super) struct Received {
    /// The line on which calls and answers come.
    pub(super) line: Arc<Line>,
    /// Whether anything will come on it.
    pub(super) expects_answer: bool,
}

impl HttpSession {
    /// A session before its handshake.
    pub(super) fn new(id: String, owner: Owner, kind: SessionKind, core: &Arc<Core>) -> Arc<Self> {
        Arc::new_cyclic(|session: &Weak<Self>| {
            let sink = Arc::new(SessionSink(session.clone()));
            // The endpoint counts the pace of each caller, over all of its sessions.
            let connection =
                ServerConnection::new(core.server.clone(), owner.clone(), sink).without_pace();
            let standalone = Arc::new(Line::new(core.limits().queue));
            let mut state = State::new(connection, standalone);
            if kind == SessionKind::Sse2024 {
                // Its one stream lasts as long as the session, so this line is never over.
                state.standalone.open();
                state.get_streams = GetStreams::always_open();
            }
            Self {
                id: id.into(),
                owner,
                core: core.clone(),
                kind,
                state: Mutex::new(state),
                uses: AtomicUsize::new(0),
                ended: Notify::new(),
                get_log: OnceLock::new(),
            }
        })
    }

    /// Opens the session without a handshake, in this revision. For a session of a single request.
    pub(super) fn open_without_handshake(&self, revision: Revision) {
        self.lock().connection.open_without_handshake(revision);
    }

    /// Takes a message of the client. `places` are slots for the calls that it opens to hold; `None`
    /// if its POST holds them.
    ///
    /// # Errors
    ///
    /// Returns the message if it is a call and too many wait already.
    pub(super) fn receive(
        self: &Arc<Self>,
        message: LegacyFrame,
        attached: Attached,
        places: Option<&Arc<Places>>,
    ) -> Result<Received, Box<Frame>> {
        let (received, detached) = {
            let mut state = self.lock();
            if message.frame.calls() > 0 && !self.takes_calls(&state) {
                return Err(Box::new(message.frame));
            }
            let now = now();
            state.used = now;
            let before = state.connection.last_exchange().0;
            state.connection.receive_legacy(message, attached, now);
            let opened = before + 1..=state.connection.last_exchange().0;
            let answered = |number: &u64| state.connection.expects_answer(ExchangeId(*number));
            let line = self.line_for(&state, opened.clone().filter(answered).count());
            for number in opened.map(ExchangeId) {
                if state.connection.expects_answer(number) {
                    state.lines.insert(number, line.clone());
                }
                if let Some(places) = places {
                    state.places.insert(number, places.clone());
                }
            }
            let detached = state.deliver(Some(&line));
            let expects_answer = !line.is_over();
            (Received { line, expects_answer }, detached)
        };
        self.start(detached);
        Ok(received)
    }

    /// Whether one more call may wait for its turn, and its answer for a reader.
    fn takes_calls(&self, state: &State) -> bool {
        let is_read = self.kind == SessionKind::Streamable || !state.standalone.is_full();
        is_read && state.connection.wants_input()
    }

    /// The line for the answers to a message that opened so many calls.
    fn line_for(&self, state: &State, calls: usize) -> Arc<Line> {
        match self.kind {
            SessionKind::Streamable => Arc::new(Line::opened(self.core.limits().queue, calls)),
            SessionKind::Sse2024 => {
                (0..calls).for_each(|_| state.standalone.open());
                state.standalone.clone()
            }
        }
    }

    /// Takes the outcome of a call, and puts its answer onto its line.
    pub(super) fn complete(self: &Arc<Self>, number: ExchangeId, outcome: Outcome) {
        let detached = {
            let mut state = self.lock();
            let line = state.lines.get(number).cloned();
            state.connection.complete(number, outcome);
            let detached = state.deliver(line.as_ref());
            // After the answer has found its line.
            state.close_line(number);
            detached
        };
        self.start(detached);
    }

    /// Fails questions that were not answered in time. The sweep calls it.
    pub(super) fn handle_timeout(self: &Arc<Self>, now: Instant) {
        let detached = {
            let mut state = self.lock();
            if state.connection.poll_timeout().is_none_or(|deadline| now < deadline) {
                return;
            }
            state.connection.handle_timeout(now);
            state.deliver(None)
        };
        self.start(detached);
    }

    /// The revision that the handshake agreed on. `None` before it.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.lock().connection.revision()
    }

    /// Whether it serves a single request, so that no client can come back to it.
    pub(super) fn is_for_one_request(&self) -> bool {
        self.id.is_empty()
    }

    /// The line of messages that belong to no call.
    pub(super) fn standalone(&self) -> Arc<Line> {
        self.lock().standalone.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn new(connection: ServerConnection, standalone: Arc<Line>) -> Self {
        Self {
            connection,
            lines: ExchangeTable::default(),
            places: ExchangeTable::default(),
            standalone,
            subscription: Subscription::None,
            get_streams: GetStreams::default(),
            used: now(),
            is_initialized: false,
            end: None,
            copy: None,
            is_relaying: false,
            last_stream: GET_STREAM,
            open_streams: HashMap::default(),
        }
    }
}
