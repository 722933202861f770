//! Whoever answers a POST or feeds a stream drives the calls that speak there.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::request::{ExchangeId, Response as Outcome};
use bowline_proto::transmit::Role;
use bowline_store::backend::Position;
use bowline_transport::BoxFuture;
use bowline_transport::task::spawn_on;
use bytes::Bytes;

use super::super::calls;
use super::item::{Item, Line};
use super::session::{Busy, Ear, Opened, Received, Session, Start, StreamLog};

/// Something to send.
pub(super) enum Said {
    /// A message.
    Message(Role, Bytes),
    /// Send the client away for a while.
    Pause(Duration),
}

/// Drives what speaks on one line.
///
/// Dropping it is no cancellation: what runs is driven to its end by a task, and what it says is
/// written into the log, if there is one, for a client that comes back. Only if the session lasts
/// for one request, it is: its client can neither come back nor cancel in any other way.
pub(super) struct Drive {
    busy: Busy,
    /// What comes before all that waits on the line.
    first: Option<Item>,
    line: Arc<Line>,
    /// Whether the line is known to be over.
    is_over: bool,
    calls: Running,
    /// Where what is said is written, once it goes out as a stream.
    logged: Option<Box<Logged>>,
    /// Whether it drives the subscription on behalf of the session too.
    follows: bool,
    is_answered: bool,
    is_detached: bool,
}

/// What is said and written into a log.
struct Logged {
    log: StreamLog,
    /// What was said last and is not in the log for certain.
    unrecorded: Option<(Role, Bytes)>,
}

impl Drive {
    /// Drives what a message led to.
    pub(super) fn new(busy: Busy, received: Received) -> Self {
        let mut drive = Self::along(busy, received.line);
        drive.first = received.first;
        drive
    }

    /// Drives what comes to a line.
    pub(super) fn along(busy: Busy, line: Arc<Line>) -> Self {
        Self {
            busy,
            first: None,
            line,
            is_over: false,
            calls: Running::default(),
            logged: None,
            follows: false,
            is_answered: false,
            is_detached: false,
        }
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.busy.session
    }

    /// Drives the subscription on behalf of the session too.
    pub(super) fn follow(&mut self) {
        self.follows = true;
    }

    /// Writes what is said into a log from now on, `first` included.
    pub(super) fn log_to(&mut self, log: StreamLog, first: &Said) {
        self.logged = Some(Box::new(Logged { log, unrecorded: None }));
        self.note(first);
    }

    /// The stream that is logged is about to begin.
    pub(super) async fn begin(&mut self) {
        if let Some(logged) = &self.logged {
            logged.log.begin().await;
        }
    }

    /// Whether no call runs and nothing waits to be said.
    pub(super) fn is_quiet(&self) -> bool {
        self.first.is_none() && self.calls.is_empty() && self.line.is_empty()
    }

    /// The next thing to send, or `None` when there will be nothing more. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Said> {
        let said = std::future::poll_fn(|cx| self.poll_next(cx)).await?;
        self.note(&said);
        Some(said)
    }

    /// Writes a message into the log; gives the place that it has there.
    pub(super) async fn record(&mut self, role: Role, message: &[u8]) -> Option<Position> {
        let is_last = role == Role::Ends;
        if is_last {
            // What cannot be written now is written after the next call.
            let _ = self.session().save().await;
        }
        let position = match &mut self.logged {
            Some(logged) => {
                let position = logged.log.record(message, is_last).await;
                logged.unrecorded = None;
                position
            }
            None => None,
        };
        self.is_answered |= is_last;
        position
    }

    /// Nothing more will come: whoever comes back for an answer that was cancelled is told so.
    pub(super) async fn finish(&mut self) {
        if let (Some(logged), false) = (&self.logged, self.is_answered) {
            logged.log.record(b"", true).await;
        }
        self.logged = None;
    }

    /// Remembers what has yet to be recorded, in case that nobody is left to do so.
    fn note(&mut self, said: &Said) {
        if let (Some(logged), Said::Message(role, message)) = (&mut self.logged, said) {
            logged.unrecorded = Some((*role, message.clone()));
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        if let Some(first) = self.first.take() {
            // Most often a call that ends at once, and then the line is not looked at.
            if let Some(said) = self.take_up(first) {
                return Poll::Ready(Some(said));
            }
            if let ControlFlow::Break(said) = self.poll_calls(cx) {
                return Poll::Ready(Some(said));
            }
        }
        loop {
            while let Some(item) = self.line.take() {
                if let Some(said) = self.take_up(item) {
                    return Poll::Ready(Some(said));
                }
            }
            match self.poll_calls(cx) {
                ControlFlow::Break(said) => return Poll::Ready(Some(said)),
                ControlFlow::Continue(true) => continue,
                ControlFlow::Continue(false) => {}
            }
            self.poll_standing(cx);
            self.line.register(cx);
            // Looked at only now: what happened before we registered woke nobody.
            if !self.line.is_empty() {
                continue;
            }
            if self.line.is_over() || self.session().is_closed() {
                return Poll::Ready(None);
            }
            return Poll::Pending;
        }
    }

    /// Does what came on the line; gives what there is to send.
    fn take_up(&mut self, item: Item) -> Option<Said> {
        match item {
            Item::Call(request) => {
                let number = request.parts.exchange;
                let call = self.session().call(*request);
                self.calls.add(number, call);
                None
            }
            Item::Cancelled(number) => {
                self.calls.remove(number);
                None
            }
            Item::Message(role, message) => Some(Said::Message(role, message)),
            Item::Pause(after) => Some(Said::Pause(after)),
        }
    }

    fn poll_standing(&mut self, cx: &mut Context<'_>) {
        if self.follows {
            self.session().poll_standing(Ear::Only, cx);
        }
    }

    /// Polls every call until there is something to send; gives whether one has ended.
    fn poll_calls(&mut self, cx: &mut Context<'_>) -> ControlFlow<Said, bool> {
        let mut has_ended = false;
        while let Some((number, outcome)) = self.calls.poll(cx) {
            let completed = self.session().complete(number, outcome);
            has_ended = true;
            self.is_over = completed.is_over;
            if let Some(said) = completed.next.and_then(|item| self.take_up(item)) {
                return ControlFlow::Break(said);
            }
        }
        ControlFlow::Continue(has_ended)
    }

    /// Drives on without anybody who listens.
    async fn drive_on(mut self) {
        let unrecorded = self.logged.as_mut().and_then(|logged| logged.unrecorded.take());
        if let Some((role, message)) = unrecorded {
            self.record(role, &message).await;
        }
        while let Some(said) = self.next().await {
            if let Said::Message(role, message) = said {
                self.record(role, &message).await;
            }
        }
        self.finish().await;
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        let is_recorded = self.logged.as_ref().is_none_or(|logged| logged.unrecorded.is_none());
        let is_over = is_recorded && (self.is_over || self.line.is_over());
        let session = self.session();
        if self.is_detached || is_over || session.is_for_one_request() || session.is_closed() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let rest = Self {
            busy: self.busy.successor(),
            first: self.first.take(),
            line: self.line.clone(),
            is_over: self.is_over,
            calls: std::mem::take(&mut self.calls),
            logged: self.logged.take(),
            follows: false,
            is_answered: self.is_answered,
            is_detached: true,
        };
        spawn_on(&runtime, rest.drive_on());
    }
}

/// Calls under way: most often one, for which no list is made.
#[derive(Default)]
struct Running {
    one: Option<(ExchangeId, BoxFuture<Outcome>)>,
    others: Vec<(ExchangeId, BoxFuture<Outcome>)>,
}

impl Running {
    fn add(&mut self, number: ExchangeId, call: BoxFuture<Outcome>) {
        match self.one {
            None => self.one = Some((number, call)),
            Some(_) => self.others.push((number, call)),
        }
    }

    fn remove(&mut self, number: ExchangeId) {
        self.one.take_if(|(other, _)| *other == number);
        self.others.retain(|(other, _)| *other != number);
    }

    fn is_empty(&self) -> bool {
        self.one.is_none() && self.others.is_empty()
    }

    /// Polls every call until one ends.
    fn poll(&mut self, cx: &mut Context<'_>) -> Option<(ExchangeId, Outcome)> {
        if let Some((number, call)) = &mut self.one
            && let Poll::Ready(outcome) = calls::poll(call, cx)
        {
            let number = *number;
            self.one = None;
            return Some((number, outcome));
        }
        for (at, (number, call)) in self.others.iter_mut().enumerate() {
            if let Poll::Ready(outcome) = calls::poll(call, cx) {
                let number = *number;
                drop(self.others.swap_remove(at));
                return Some((number, outcome));
            }
        }
        None
    }
}

/// What a session says outside of calls, heard by the stream that tells of it.
pub(super) struct Listening {
    pub(super) session: Arc<Session>,
    line: Arc<Line>,
    ear: Ear,
    /// The last event of the log that is for us to tell.
    until: Arc<AtomicU64>,
    /// What was taken last and is not in the log for certain.
    unrecorded: Option<(Role, Bytes)>,
    stopped: BoxFuture<()>,
    _busy: Option<Busy>,
}

impl Listening {
    /// Opens the GET stream; gives the last event of the log that is not for it to tell.
    pub(super) fn new(session: &Arc<Session>, start: Start) -> (Self, Position) {
        let Opened { line, number, until, after } = session.listen(start);
        let mut listening = Self::along(line, session.clone());
        listening.ear = Ear::Stream(number);
        listening.until = until;
        listening._busy = Some(Busy::new(session.clone()));
        (listening, after)
    }

    /// Listens on behalf of another endpoint. No use of the session: that is where the stream is.
    pub(super) fn relay(session: Arc<Session>) -> Self {
        Self::along(session.standalone(), session)
    }

    fn along(line: Arc<Line>, session: Arc<Session>) -> Self {
        let (ear, until, unrecorded, _busy) = (Ear::Relay, Arc::default(), None, None);
        let stopped = session.core.stopped();
        Self { session, line, ear, until, unrecorded, stopped, _busy }
    }

    /// Whether another stream, here or elsewhere, has taken over.
    pub(super) fn is_superseded(&self) -> bool {
        !self.session.hears(self.ear) && !self.session.is_closed()
    }

    /// Whether an event of the log is for us to tell.
    pub(super) fn may_tell(&self, position: Position) -> bool {
        self.session.may_tell(&self.until, position)
    }

    /// The next message, or `None` when somebody else listens, or nobody should. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        let (role, message) = std::future::poll_fn(|cx| self.poll_next(cx)).await?;
        self.unrecorded = Some((role, message.clone()));
        Some(message)
    }

    /// The last message will be heard, whatever becomes of us.
    pub(super) fn recorded(&mut self) {
        self.unrecorded = None;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Role, Bytes)>> {
        loop {
            // Registered before anything is looked at, so that nothing is missed.
            self.line.register(cx);
            if !self.session.hears(self.ear) || self.stopped.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            self.session.poll_standing(self.ear, cx);
            match self.line.take() {
                Some(Item::Message(role, message)) => {
                    return Poll::Ready(Some((role, message)));
                }
                Some(_) => {}
                None => return Poll::Pending,
            }
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some((role, message)) = self.unrecorded.take() {
            self.line.put_back(Item::Message(role, message));
        }
        match self.ear {
            Ear::Stream(listener) => self.session.stop_listening(listener),
            Ear::Relay => self.session.stop_relaying(),
            Ear::Only => {}
        }
    }
}
