//! One lane: its connection, who holds it, and how well it suits a caller.

use std::time::Instant;

use bowline_proto::callers::CallerId;

use super::event::{LaneId, Link, Problem, UseId};
use crate::lanes::key::{LaneCaller, LaneKey, SessionId};
use crate::limits::GatewayLimits;

#[derive(Clone, Debug)]
pub(super) struct Lane<C> {
    pub(super) id: LaneId,
    pub(super) key: LaneKey,
    pub(super) phase: Phase<C>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// Starts in a row that took too long.
    pub(super) slow_starts: u32,
    pub(super) problem: Option<Problem<C>>,
    pub(super) holder: Option<Holder>,
    /// The session that held it last.
    last: Option<SessionId>,
    /// Questions of the calls that hold it, the oldest first, which have no answer yet.
    pub(super) asked: Vec<OpenQuestion>,
    /// How many calls have taken it, and how many callers follow resources on it. They need its server,
    /// even if they have no connection yet.
    pub(super) uses: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Phase<C> {
    Stopped,
    Starting,
    Running(Running<C>),
    /// No start before this time.
    Paused(Instant),
}

#[derive(Clone, Debug)]
pub(super) struct Running<C> {
    pub(super) link: Link<C>,
    pub(super) since: Instant,
    /// How many callers keep the connection from being idle.
    pub(super) users: usize,
    idle_since: Instant,
}

/// The asker that holds a lane.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    /// `None` for a single call of a caller without a session.
    session: Option<SessionId>,
    pub(super) peer: Option<CallerId>,
    pub(super) calls: usize,
}

/// A question of a call that holds a lane.
#[derive(Clone, Debug)]
pub(super) struct OpenQuestion {
    pub(super) number: u64,
    pub(super) since: Instant,
    pub(super) peer: Option<CallerId>,
    pub(super) call: UseId,
}

impl<C> Lane<C> {
    pub(super) fn new(id: LaneId, key: LaneKey) -> Self {
        Self {
            id,
            key,
            phase: Phase::Stopped,
            failures: 0,
            slow_starts: 0,
            problem: None,
            holder: None,
            last: None,
            asked: Vec::new(),
            uses: 0,
        }
    }

    /// Whether there is no connection, and none is being opened.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.phase, Phase::Stopped | Phase::Paused(_))
    }

    /// Whether it has a process or session, or is about to get one.
    pub(super) fn is_open(&self) -> bool {
        self.holder.is_some() || !self.is_stopped()
    }

    /// Whether it counts against the limits: it is open, or a call or a caller that follows resources
    /// may open it at any moment.
    pub(super) fn counts(&self) -> bool {
        self.uses > 0 || self.is_open()
    }

    /// Whether no call and no subscription needs it now.
    pub(super) fn is_unused(&self) -> bool {
        let needs_connection = match &self.phase {
            Phase::Running(running) => running.users > 0,
            Phase::Starting => true,
            Phase::Stopped | Phase::Paused(_) => false,
        };
        self.uses == 0 && !needs_connection
    }

    /// The open connection.
    pub(super) fn link(&self) -> Option<&Link<C>> {
        match &self.phase {
            Phase::Running(running) => Some(&running.link),
            _ => None,
        }
    }

    /// When it is stopped if nothing uses it until then.
    pub(super) fn idle_until(&self, limits: &GatewayLimits) -> Option<Instant> {
        match &self.phase {
            Phase::Running(running) if self.is_unused() => {
                // Without end if it is too long for a time.
                running.idle_since.checked_add(limits.idle)
            }
            _ => None,
        }
    }

    /// Notes that a call uses it from now on.
    pub(super) fn give(&mut self, caller: &LaneCaller, holds: bool) {
        self.uses += 1;
        if holds {
            self.last.clone_from(&caller.session);
            match &mut self.holder {
                Some(holder) => holder.calls += 1,
                None => self.holder = Some(Holder::of(caller)),
            }
        }
    }

    /// Notes that a call uses it no more.
    pub(super) fn give_back(&mut self, holds: bool, now: Instant) {
        self.uses -= 1;
        if holds && let Some(holder) = &mut self.holder {
            holder.calls -= 1;
            if holder.calls == 0 {
                self.holder = None;
            }
        }
        self.note_use(now);
    }

    pub(super) fn run(&mut self, link: Link<C>, now: Instant) {
        (self.slow_starts, self.problem) = (0, None);
        self.phase = Phase::Running(Running { link, since: now, users: 0, idle_since: now });
    }

    pub(super) fn give_back_connection(&mut self, number: u64, now: Instant) {
        if let Phase::Running(running) = &mut self.phase
            && running.link.number == number
        {
            running.users -= 1;
        }
        self.note_use(now);
    }

    /// Notes that it was used until now.
    fn note_use(&mut self, now: Instant) {
        if let Phase::Running(running) = &mut self.phase {
            running.idle_since = now;
        }
    }

    /// How well the lane suits a caller, the least best; `None` if it does not.
    pub(super) fn rank(
        &self,
        key: &LaneKey,
        session: &Option<SessionId>,
        holds: bool,
    ) -> Option<u8> {
        if self.key != *key {
            return None;
        }
        let is_same = |other: &Option<SessionId>| other.is_some() && other == session;
        match &self.holder {
            Some(holder) if holder.is_of(session) => Some(0),
            Some(_) if holds => None,
            // A caller that listens has made the lane, but nothing has used it.
            _ if !self.is_open() => Some(4),
            _ if is_same(&self.last) => Some(1),
            // Another session would like to keep it.
            _ if self.last.as_ref().is_some_and(|session| !session.is_over()) => Some(3),
            _ => Some(2),
        }
    }
}

impl Holder {
    fn of(caller: &LaneCaller) -> Self {
        Self { session: caller.session.clone(), peer: caller.peer.clone(), calls: 1 }
    }

    /// Whether it is this session. A call without a session is alone.
    pub(super) fn is_of(&self, session: &Option<SessionId>) -> bool {
        session.is_some() && self.session == *session
    }
}
