//! Who hears what a session says outside of calls: one stream at a time, the newest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Response as Outcome};
use bowline_store::backend::Position;
use bowline_transport::BoxFuture;

use super::super::super::calls;
use super::super::item::Line;
use super::{Session, State};

/// Who drives the subscription on behalf of a session, and hears what it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ear {
    /// A GET stream, by its number.
    Stream(u64),
    /// A task that passes it on to the endpoint that has the GET stream.
    Relay,
    /// The one stream of a session of 2024-11-05.
    Only,
}

/// The GET stream that counts, and its share of the log that all GET streams of a session write.
#[derive(Default)]
pub(super) struct Listener {
    /// Which one it is; an older one ends itself.
    number: u64,
    is_open: bool,
    /// The last event of the log that it may tell, set when another takes over.
    until: Arc<AtomicU64>,
    /// The last event of the log that any of them has told.
    told: u64,
    /// GET streams that are about to be opened.
    coming: usize,
}

/// A GET stream that has been opened.
pub(in super::super) struct Opened {
    pub(in super::super) line: Arc<Line>,
    pub(in super::super) number: u64,
    pub(in super::super) until: Arc<AtomicU64>,
    /// The last event of the log that is not for it to tell.
    pub(in super::super) after: Position,
}

/// Where a GET stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Start {
    /// With the messages from now on; this is the position of the last one in the log.
    Fresh(Position),
    /// With what the client missed after this event.
    Again(Position),
}

/// A GET stream that is about to be opened, as long as this is held.
pub(in super::super) struct Coming(Arc<Session>);

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.lock().listener.coming -= 1;
    }
}

/// The subscription on behalf of a session, which the stream that listens drives.
#[derive(Default)]
pub(super) enum Standing {
    #[default]
    None,
    Parked(Parked),
    /// It is being polled; whether another listener wanted to do so meanwhile.
    Polled {
        is_missed: bool,
    },
}

pub(super) struct Parked {
    pub(super) number: ExchangeId,
    pub(super) call: BoxFuture<Outcome>,
}

impl Listener {
    pub(super) fn has_log(&self) -> bool {
        self.number > 0
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// No GET stream here is to be told anything.
    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    /// For a session whose one stream is always there.
    pub(super) fn always_open() -> Self {
        Self { is_open: true, ..Self::default() }
    }
}

impl State {
    fn hears(&self, ear: Ear) -> bool {
        !self.is_closed
            && match ear {
                Ear::Stream(number) => self.listener.number == number && self.may_listen(),
                Ear::Relay => !self.may_listen(),
                Ear::Only => true,
            }
    }

    /// Takes the subscription to poll it, if nobody does so already.
    fn take_standing(&mut self) -> Option<Parked> {
        match std::mem::take(&mut self.standing) {
            Standing::None => None,
            Standing::Parked(parked) => {
                self.standing = Standing::Polled { is_missed: false };
                Some(parked)
            }
            Standing::Polled { .. } => {
                self.standing = Standing::Polled { is_missed: true };
                None
            }
        }
    }
}

impl Session {
    /// Announces a GET stream, so that the end of another does not make the endpoints forget that
    /// this session is listened to here.
    pub(in super::super) fn announce_listener(self: &Arc<Self>) -> Coming {
        self.lock().listener.coming += 1;
        Coming(self.clone())
    }

    /// Opens a GET stream. One that is open ends: the newest takes over, since nobody can know
    /// whether the client still has the other.
    pub(in super::super) fn listen(&self, start: Start) -> Opened {
        let mut state = self.lock();
        let after = match start {
            Start::Fresh(Position(after)) => after.max(state.listener.told),
            Start::Again(Position(after)) => after,
        };
        let until = Arc::new(AtomicU64::new(u64::MAX));
        let before = std::mem::replace(&mut state.listener.until, until.clone());
        before.fetch_min(after, Ordering::Relaxed);
        state.listener.number += 1;
        state.listener.is_open = true;
        state.standalone.nudge();
        let (line, number) = (state.standalone.clone(), state.listener.number);
        Opened { line, number, until, after: Position(after) }
    }

    /// Whether a GET stream tells an event of the log: each is told by exactly one.
    pub(in super::super) fn may_tell(&self, until: &AtomicU64, Position(at): Position) -> bool {
        let mut state = self.lock();
        let may_tell =
            at <= until.load(Ordering::Relaxed) && !state.is_closed && state.may_listen();
        if may_tell {
            state.listener.told = state.listener.told.max(at);
        }
        may_tell
    }

    pub(in super::super) fn hears(&self, ear: Ear) -> bool {
        self.lock().hears(ear)
    }

    /// Whether there is a GET stream here, or is about to be.
    pub(super) fn is_listened_to(&self) -> bool {
        let state = self.lock();
        state.listener.is_open || state.listener.coming > 0
    }

    /// A GET stream has ended.
    pub(in super::super) fn stop_listening(self: &Arc<Self>, number: u64) {
        let is_last = {
            let mut state = self.lock();
            let is_last = state.listener.number == number;
            state.listener.is_open &= !is_last;
            is_last && !state.is_closed
        };
        if is_last {
            self.release();
        }
    }

    /// Drives the subscription on behalf of the session, for the stream that carries its reports. It
    /// stays with the session: a stream that is never polled again keeps it from nobody.
    pub(in super::super) fn poll_standing(self: &Arc<Self>, ear: Ear, cx: &mut Context<'_>) {
        let parked = {
            let mut state = self.lock();
            if state.hears(ear) { state.take_standing() } else { None }
        };
        let Some(mut parked) = parked else { return };
        match calls::poll(&mut parked.call, cx) {
            Poll::Pending => self.park(parked),
            Poll::Ready(outcome) => {
                self.lock().standing = Standing::None;
                // It has left its line long ago.
                let _ = self.complete(parked.number, outcome);
            }
        }
    }

    /// Keeps the subscription until the stream that listens polls it.
    pub(super) fn park(&self, parked: Parked) {
        let late = {
            let mut state = self.lock();
            if state.is_closed {
                Some(parked)
            } else {
                let before = std::mem::replace(&mut state.standing, Standing::Parked(parked));
                if !matches!(before, Standing::Polled { is_missed: false }) {
                    state.standalone.nudge();
                }
                None
            }
        };
        // A handler must not be dropped under the lock, since it may have something to say.
        drop(late);
    }
}
