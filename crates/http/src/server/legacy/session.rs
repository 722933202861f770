//! One session: the connection as a machine, and the lines that its messages go to.
//!
//! No task and no channel belongs to it. A POST drives the calls that it opened, the GET stream
//! drives the subscription that stands in for it; in between a session only is there.

mod busy;
mod end;
mod hand;
mod listening;
mod shared;

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bowline_proto::classify::LegacyFrame;
use bowline_proto::frame::Frame;
use bowline_proto::request::{
    EveryResource, ExchangeId, Extensions, Outgoing, Owner, Request, Response as Outcome, Sink,
};
use bowline_proto::server::{Event, ServerConnection};
use bowline_proto::table::numbered::Numbered;
use bowline_proto::transmit::{Role, Route};
use bowline_store::backend::{Error, Position};
use bowline_store::events::EventLog;
use bowline_transport::BoxFuture;
use bowline_transport::task::spawn;
use bowline_types::method;
use bowline_types::revision::Revision;
use tokio::sync::Notify;

pub(super) use self::busy::Busy;
pub(super) use self::hand::Completed;
use self::hand::Hand;
pub(super) use self::listening::{Ear, Opened, Start};
use self::listening::{Listener, Parked, Standing};
use self::shared::Share;
use super::super::calls;
use super::super::clock::now;
use super::super::core::Core;
use super::super::line::Left;
use super::super::places::Places;
use super::item::{Item, Line};
use super::record;

/// The stream that belongs to no POST.
pub(super) const STANDALONE: u64 = 0;

/// One session.
pub(super) struct Session {
    /// Empty if nobody can name it, because it lasts for one request.
    pub(super) id: String,
    pub(super) owner: Owner,
    pub(super) core: Arc<Core>,
    pub(super) kind: Kind,
    state: Mutex<State>,
    /// Answers and streams under way.
    busy: AtomicUsize,
    /// Wakes the tasks that wait for the end of the session, or of one of its streams.
    ended: Notify,
}

/// Where the answers to POSTs go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each to its own.
    Streamable,
    /// All to the one stream (2024-11-05).
    Sse2024,
}

struct State {
    connection: ServerConnection,
    /// Where the messages of a call go.
    lines: Numbered<Arc<Line>>,
    /// The places of calls, where no answer of their own holds them (2024-11-05).
    places: Numbered<Arc<Places>>,
    /// Where messages go that belong to no call.
    standalone: Arc<Line>,
    /// The subscription on behalf of the session.
    standing: Standing,
    /// The GET stream.
    listener: Listener,
    used: Instant,
    is_initialized: bool,
    is_closed: bool,
    /// Whether it goes on elsewhere, although it is closed here.
    is_elsewhere: bool,
    /// What is shared with other endpoints, if it is. Most often it is not, and a share is large.
    share: Option<Box<Share>>,
    /// Whether what is said here is passed on to an endpoint that has the GET stream.
    is_relaying: bool,
    /// The stream that was opened last.
    streams: u64,
    /// Those of them that have not come to their end, whether or not anybody reads them.
    going_on: HashSet<u64>,
}

/// What belongs to no POST.
enum Aside {
    /// The subscription on behalf of the session: kept, and driven by the GET stream.
    Standing(Box<Request>),
    /// A notice to the service: runs in a task.
    Notice(Box<Request>),
}

/// What a message led to.
pub(super) struct Received {
    /// What comes before all that waits on the line.
    pub(super) first: Option<Item>,
    /// Where answers come from.
    pub(super) line: Arc<Line>,
    /// Whether there will be any.
    pub(super) awaits: bool,
}

impl Session {
    pub(super) fn new(id: String, owner: Owner, kind: Kind, core: &Arc<Core>) -> Arc<Self> {
        Arc::new_cyclic(|session: &Weak<Self>| {
            let back = Arc::new(Back(session.clone()));
            // Callers have a pace, whatever sessions their requests belong to.
            let connection =
                ServerConnection::new(core.server.clone(), owner.clone(), back).without_pace();
            let standalone = Arc::new(Line::new(core.limits().queue));
            let mut state = State::new(connection, standalone);
            if kind == Kind::Sse2024 {
                // Its one stream is there as long as the client is.
                state.standalone.open();
                state.listener = Listener::always_open();
            }
            Self {
                id,
                owner,
                core: core.clone(),
                kind,
                state: Mutex::new(state),
                busy: AtomicUsize::new(0),
                ended: Notify::new(),
            }
        })
    }

    /// Takes a handshake for granted.
    pub(super) fn assume(&self, revision: Revision) {
        self.lock().connection.assume(revision);
    }

    /// Takes what a POST brought; gives it back if it is one call too many.
    pub(super) fn receive(
        self: &Arc<Self>,
        frame: LegacyFrame,
        attached: Extensions,
    ) -> Result<Received, Box<Frame>> {
        self.receive_with(frame, attached, None)
    }

    /// The same, with places that the calls hold which it opens.
    pub(super) fn receive_with(
        self: &Arc<Self>,
        frame: LegacyFrame,
        attached: Extensions,
        places: Option<&Arc<Places>>,
    ) -> Result<Received, Box<Frame>> {
        let (received, aside) = {
            let mut state = self.lock();
            if frame.frame.requests() > 0 && !self.takes_calls(&state) {
                return Err(Box::new(frame.frame));
            }
            let now = now();
            state.used = now;
            let before = state.connection.last_exchange().0;
            state.connection.receive_legacy(frame, attached, now);
            let opened = before + 1..=state.connection.last_exchange().0;
            let line = self.line_of(&state, opened.clone().count());
            for number in opened {
                state.lines.insert(ExchangeId(number), line.clone());
                if let Some(places) = places {
                    state.places.insert(ExchangeId(number), places.clone());
                }
            }
            // On a line that is new, nothing waits.
            let is_free = self.kind == Kind::Streamable;
            let mut hand = Hand { line: Some(&line), is_free, ..Hand::default() };
            let aside = state.deliver(&mut hand);
            let first = hand.item;
            let awaits = first.is_some() || !line.is_over();
            (Received { first, line, awaits }, aside)
        };
        self.start(aside);
        Ok(received)
    }

    /// Whether one more call may wait for its turn, and its answer for being read.
    fn takes_calls(&self, state: &State) -> bool {
        let is_read = self.kind == Kind::Streamable || !state.standalone.is_full();
        is_read && state.connection.wants_input()
    }

    /// The line for the answers to a message that opened so many calls.
    fn line_of(&self, state: &State, calls: usize) -> Arc<Line> {
        match self.kind {
            Kind::Streamable => Arc::new(Line::opened(self.core.limits().queue, calls)),
            Kind::Sse2024 => {
                (0..calls).for_each(|_| state.standalone.open());
                state.standalone.clone()
            }
        }
    }

    /// Hands in the answer of a call, on behalf of whoever drives its line.
    pub(super) fn complete(self: &Arc<Self>, number: ExchangeId, outcome: Outcome) -> Completed {
        let (completed, aside) = {
            let mut state = self.lock();
            state.connection.complete(number, outcome);
            state.places.remove(number);
            let line = state.lines.remove(number);
            // Nothing comes to a line but under our lock, so what is left there stays what it is.
            let left = line.as_ref().map(|line| line.release());
            let is_free = left.is_some_and(|left| left != Left::Items);
            let line = line.as_ref();
            let mut hand = Hand { line, left: Some(number), is_free, ..Hand::default() };
            let aside = state.deliver(&mut hand);
            let is_over = left == Some(Left::Nothing) && !hand.leaves_items;
            (Completed { next: hand.item, is_over }, aside)
        };
        self.start(aside);
        completed
    }

    /// Starts a call of this session's.
    pub(super) fn call(&self, request: Request) -> BoxFuture<Outcome> {
        self.core.call(request)
    }

    fn start(self: &Arc<Self>, aside: Vec<Aside>) {
        for aside in aside {
            match aside {
                Aside::Standing(request) => {
                    let number = request.parts.exchange;
                    let mut call = self.call(*request);
                    // Polled once, so that it knows from now on what changes.
                    let begun = calls::poll(&mut call, &mut Context::from_waker(Waker::noop()));
                    if begun.is_pending() {
                        self.park(Parked { number, call });
                    }
                }
                Aside::Notice(request) => {
                    let number = request.parts.exchange;
                    let mut call = self.call(*request);
                    let session = self.clone();
                    spawn(async move {
                        let outcome = std::future::poll_fn(|cx| calls::poll(&mut call, cx)).await;
                        // It has left its line long ago.
                        let _ = session.complete(number, outcome);
                    });
                }
            }
        }
    }

    /// The revision that was agreed on, once it was.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.lock().connection.revision()
    }

    /// Whether no other request can belong to it.
    pub(super) fn is_for_one_request(&self) -> bool {
        self.id.is_empty()
    }

    /// A new stream, if the client can come back to it.
    pub(super) fn new_stream(self: &Arc<Self>) -> Option<StreamLog> {
        if self.is_for_one_request() {
            return None;
        }
        let number = {
            let mut state = self.lock();
            state.streams += 1;
            let number = state.streams;
            state.going_on.insert(number);
            number
        };
        Some(StreamLog { number, log: self.log(number), session: self.clone() })
    }

    /// Whether a stream goes on, if there ever was one with that number.
    pub(super) async fn knows(&self, stream: u64) -> Result<Option<bool>, Error> {
        if stream == STANDALONE {
            return Ok(Some(true));
        }
        let copy = self.copy();
        if copy.is_some_and(|copy| record::copy_of(stream) != u64::from(copy)) {
            return self.is_marked(stream).await.map(Some);
        }
        let state = self.lock();
        Ok((stream <= state.streams).then(|| state.going_on.contains(&stream)))
    }

    /// The log of a stream.
    pub(super) fn log(&self, stream: u64) -> EventLog {
        let kept = self.core.limits().resumption;
        EventLog::new(self.core.config.store.clone(), &self.id, stream, kept)
    }

    /// Writes a message into a log; gives the place that it has there. A store that fails keeps
    /// nobody from hearing the message, only from coming back to it.
    pub(super) async fn record(
        &self,
        log: &EventLog,
        message: &[u8],
        is_last: bool,
    ) -> Option<Position> {
        let position = log.append(message, is_last).await.ok()?;
        // Nobody can come back to a session that is over, and its logs may be deleted already.
        if self.is_over() {
            let _ = log.delete().await;
        }
        Some(position)
    }

    /// The line of messages that belong to no call.
    pub(super) fn standalone(&self) -> Arc<Line> {
        self.lock().standalone.clone()
    }

    /// Whether the session has been of no use since a moment, or was never opened in time.
    pub(super) fn is_idle(&self, now: Instant, idle: Duration, opening: Duration) -> bool {
        let mut state = self.lock();
        let is_busy = self.is_busy();
        if is_busy {
            // Noted here, now and then, rather than whenever something ends.
            state.used = now;
        }
        let allowed = if state.is_initialized { idle } else { opening };
        !is_busy && allowed <= now.saturating_duration_since(state.used)
    }

    /// When it was last of use, unless it is now.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        (!self.is_busy()).then_some(state.used)
    }

    /// Whether an answer or a stream is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    /// Gives up questions whose time is over.
    pub(super) fn handle_timeout(self: &Arc<Self>, now: Instant) {
        let aside = {
            let mut state = self.lock();
            if state.connection.poll_timeout().is_none_or(|deadline| now < deadline) {
                return;
            }
            state.connection.handle_timeout(now);
            state.deliver(&mut Hand::default())
        };
        self.start(aside);
    }

    /// Resolves when the session is closed.
    pub(super) fn closed(self: &Arc<Self>) -> BoxFuture<()> {
        self.until(|state| state.is_closed)
    }

    /// Resolves when something has ended.
    fn until(
        self: &Arc<Self>,
        has_ended: impl Fn(&State) -> bool + Send + 'static,
    ) -> BoxFuture<()> {
        let session = self.clone();
        Box::pin(async move {
            loop {
                let mut ended = pin!(session.ended.notified());
                // Awaited before it is looked at, so that the end is not missed in between.
                ended.as_mut().enable();
                if has_ended(&session.lock()) {
                    return;
                }
                ended.await;
            }
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(connection: ServerConnection, standalone: Arc<Line>) -> Self {
        Self {
            connection,
            lines: Numbered::default(),
            places: Numbered::default(),
            standalone,
            standing: Standing::None,
            listener: Listener::default(),
            used: now(),
            is_initialized: false,
            is_closed: false,
            is_elsewhere: false,
            share: None,
            is_relaying: false,
            streams: STANDALONE,
            going_on: HashSet::new(),
        }
    }

    /// Brings what the connection wants done and sent to the right lines. The hand belongs to
    /// whoever brought a message, or drove a call: what is answered at once is answered there.
    fn deliver(&mut self, hand: &mut Hand<'_>) -> Vec<Aside> {
        // Messages first: what a call said goes to its line before that ends.
        while let Some(transmit) = self.connection.poll_transmit() {
            let of_call = match transmit.route {
                Route::Exchange(number) if hand.left == Some(number) => hand.line,
                Route::Exchange(number) => self.lines.get(number),
                Route::Standalone => None,
            };
            let line = match transmit.role {
                // Closing the stream says the same.
                Role::Cancels => continue,
                Role::Ends => of_call.or(hand.line),
                Role::Opens | Role::Within => of_call,
            };
            let item = Item::Message(transmit.role, transmit.frame);
            match line {
                Some(line) => hand.give(line, item),
                None => {
                    self.standalone.push(item);
                    if !self.listener.is_open() {
                        self.standalone.drop_oldest();
                    }
                }
            }
        }
        let mut aside = Vec::new();
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Call(request) => {
                    let number = request.parts.exchange;
                    if request.parts.extensions.get::<EveryResource>().is_some() {
                        self.close_line(number);
                        self.is_initialized = true;
                        aside.push(Aside::Standing(request));
                    } else if is_notice(&request) {
                        self.close_line(number);
                        aside.push(Aside::Notice(request));
                    } else if let Some(line) = self.lines.get(number) {
                        hand.give(line, Item::Call(request));
                    }
                }
                Event::Cancelled(number) => {
                    if let Some(line) = self.lines.get(number) {
                        hand.give(line, Item::Cancelled(number));
                    }
                    self.close_line(number);
                }
            }
        }
        aside
    }

    /// A call has nothing more to say.
    fn close_line(&mut self, number: ExchangeId) {
        self.places.remove(number);
        if let Some(line) = self.lines.remove(number) {
            line.release();
        }
    }
}

/// Whether a call only tells the service something.
fn is_notice(request: &Request) -> bool {
    request.parts.method.row().kind == method::Kind::Notification
}

/// The log of a stream that has not come to its end; it has when this is dropped.
pub(super) struct StreamLog {
    pub(super) number: u64,
    log: EventLog,
    session: Arc<Session>,
}

impl StreamLog {
    /// Says that the stream goes on, before the client can know that there is one.
    pub(super) async fn begin(&self) {
        self.session.mark(self.number).await;
    }

    /// As [`Session::record`]. After the last message the stream has ended, whether or not the
    /// store took it.
    pub(super) async fn record(&self, message: &[u8], is_last: bool) -> Option<Position> {
        let position = self.session.record(&self.log, message, is_last).await;
        if is_last {
            self.end();
            self.session.unmark(self.number).await;
            if position.is_none() {
                // Other endpoints that follow the stream look again, and find that it has ended.
                let _ = self.log.nudge().await;
            }
        }
        position
    }

    fn end(&self) {
        if self.session.lock().going_on.remove(&self.number) {
            self.session.ended.notify_waiters();
        }
    }
}

impl Drop for StreamLog {
    fn drop(&mut self) {
        self.end();
    }
}

/// The way back from handlers to their session.
struct Back(Weak<Session>);

impl Sink for Back {
    fn poll_ready(&self, exchange: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let Some(session) = self.0.upgrade() else { return Poll::Ready(()) };
        let state = session.lock();
        if state.is_closed {
            return Poll::Ready(());
        }
        state.lines.get(exchange).unwrap_or(&state.standalone).poll_room(cx)
    }

    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let Some(session) = self.0.upgrade() else { return Err(outgoing) };
        let aside = {
            let mut state = session.lock();
            if state.is_closed {
                return Err(outgoing);
            }
            let line = state.lines.get(exchange).unwrap_or(&state.standalone);
            if line.is_full() {
                // A client that reads too slowly misses progress and logs, nothing else.
                return if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) };
            }
            if let Outgoing::Pause(after) = outgoing {
                line.push(Item::Pause(after));
                return Ok(());
            }
            state.connection.emit(exchange, outgoing, now());
            state.deliver(&mut Hand::default())
        };
        session.start(aside);
        Ok(())
    }
}
