//! How the connections of lanes begin and end.
//!
//! After a failure there is a pause, in which calls fail at once instead of waiting. It is drawn at
//! random below a time that doubles with each failure.

use std::time::Instant;

use super::event::{Action, LaneId, Link, Problem, Start, UseId, later};
use super::lane::{Lane, Phase};
use super::{Connecting, LaneTable, Use};
use crate::unavailable::Unavailable;

/// How often the time for a start is doubled at most, if each start so far took too long.
const MOST_DOUBLINGS: u32 = 3;

impl<C: Clone> LaneTable<C> {
    pub(super) fn connect(&mut self, id: UseId, lane: LaneId, start: Start, now: Instant) {
        let unused = Use { lane, keeps: false, holds: false, connection: None };
        self.uses.entry(id).or_insert(unused);
        let connecting = Connecting { id, lane, start };
        match self.link_for(&connecting, now) {
            Some(outcome) => self.actions.push(Action::Connect(id, outcome)),
            None => self.connecting.push(connecting),
        }
    }

    /// Serves those that wait for a connection.
    pub(super) fn serve_connecting(&mut self, now: Instant) {
        let is_due = |it: &Connecting| it.start == Start::WhenAllowed;
        if !self.retry && !self.connecting.iter().any(is_due) {
            return;
        }
        for connecting in std::mem::take(&mut self.connecting) {
            match self.link_for(&connecting, now) {
                Some(outcome) => self.actions.push(Action::Connect(connecting.id, outcome)),
                None => self.connecting.push(connecting),
            }
        }
    }

    /// The connection, or why there is none; `None` if its caller has to wait.
    fn link_for(&mut self, it: &Connecting, now: Instant) -> Option<Result<Link<C>, Problem<C>>> {
        if it.start == Start::WhenAllowed {
            self.keep(it)?;
        }
        let Some(at) = self.place(it.lane) else {
            let problem = Problem::NotStarted(Unavailable::stopped());
            return (it.start == Start::Now).then_some(Err(problem));
        };
        let lane = &mut self.lanes[at];
        match &mut lane.phase {
            Phase::Running(running) => {
                let link = running.link.clone();
                if it.start != Start::Never {
                    running.users += 1;
                    let user = self.uses.get_mut(&it.id)?;
                    user.connection = Some(link.number);
                }
                if it.start == Start::WhenAllowed {
                    self.give_back_lane(it.id, now);
                }
                Some(Ok(link))
            }
            Phase::Paused(until) if now < *until => match it.start {
                Start::Now => lane.problem.clone().map(Err),
                Start::WhenAllowed | Start::Never => None,
            },
            Phase::Stopped | Phase::Paused(_) if it.start != Start::Never => {
                self.dial(at);
                None
            }
            Phase::Stopped | Phase::Paused(_) | Phase::Starting => None,
        }
    }

    /// Keeps a lane for a caller that follows resources. `None` if the limits do not allow that its
    /// server is started.
    fn keep(&mut self, it: &Connecting) -> Option<()> {
        let lane = self.lane(it.lane)?;
        if self.uses.get(&it.id)?.keeps {
            return Some(());
        }
        if !lane.counts() {
            let key = lane.key.clone();
            self.make_room(&key, false).ok()?;
        }
        self.lane_mut(it.lane)?.uses += 1;
        self.uses.get_mut(&it.id)?.keeps = true;
        Some(())
    }

    fn dial(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        lane.phase = Phase::Starting;
        // A server that needs longer would never come otherwise.
        let doublings = lane.slow_starts.min(MOST_DOUBLINGS);
        let limit = self.limits.start.saturating_mul(1 << doublings);
        self.actions.push(Action::Dial(lane.id, lane.key.declared(), limit));
    }

    /// When the pause ends after which a caller that waits has its server started.
    pub(super) fn start_of(&self, it: &Connecting) -> Option<Instant> {
        let keeps = self.uses.get(&it.id).is_some_and(|using| using.keeps);
        match self.lane(it.lane)?.phase {
            Phase::Paused(until) if it.start == Start::WhenAllowed && keeps => Some(until),
            _ => None,
        }
    }

    pub(super) fn started(&mut self, lane: LaneId, link: Link<C>, now: Instant) {
        match self.lane_mut(lane) {
            Some(lane) => lane.run(link, now),
            // It was removed meanwhile, and is counted as ending.
            None => self.actions.push(Action::Close(link.connection)),
        }
        self.changed();
    }

    pub(super) fn not_started(
        &mut self,
        lane: LaneId,
        problem: &Unavailable,
        (now, jitter): (Instant, f64),
    ) {
        let Some(at) = self.place(lane) else { return self.ended() };
        let lane = &mut self.lanes[at];
        lane.failures += 1;
        lane.slow_starts = problem.slow_starts_after(lane.slow_starts);
        let pause = self.limits.pause_of(lane.failures, jitter);
        lane.phase = Phase::Paused(later(now, pause));
        lane.problem = Some(Problem::NotStarted(problem.clone()));
        let id = lane.id;
        let fails = |it: &mut Connecting| it.lane == id && it.start != Start::Never;
        for failed in self.connecting.extract_if(.., fails) {
            let problem = Problem::NotStarted(problem.clone());
            self.actions.push(Action::Connect(failed.id, Err(problem)));
        }
        self.changed();
    }

    pub(super) fn died(&mut self, lane: LaneId, (now, jitter): (Instant, f64)) {
        let limits = &self.limits;
        let Some(lane) = self.lanes.iter_mut().find(|it| it.id == lane) else { return };
        let Phase::Running(running) = &lane.phase else { return };
        if now.duration_since(running.since) >= limits.healthy {
            lane.failures = 0;
        }
        lane.problem = Some(Problem::Ended(running.link.connection.clone()));
        lane.phase = Phase::Paused(later(now, limits.pause_of(lane.failures, jitter)));
        lane.failures += 1;
        self.retry = true;
    }

    /// Stops the servers that nothing has used for long enough.
    pub(super) fn stop_idle(&mut self, now: Instant) {
        let limits = &self.limits;
        for lane in &mut self.lanes {
            if lane.idle_until(limits).is_none_or(|until| now < until) {
                continue;
            }
            if let Phase::Running(running) = std::mem::replace(&mut lane.phase, Phase::Stopped) {
                // It ran until no caller needed it.
                lane.failures = 0;
                self.ending += 1;
                self.actions.push(Action::Close(running.link.connection));
                self.changes += 1;
                self.retry = true;
            }
        }
    }

    pub(super) fn ended(&mut self) {
        self.ending = self.ending.saturating_sub(1);
        self.changed();
    }

    /// Removes a lane, and ends its connection.
    pub(super) fn remove(&mut self, at: usize) {
        let lane = self.lanes.remove(at);
        let action = match lane.phase {
            Phase::Running(running) => Some(Action::Close(running.link.connection)),
            Phase::Starting => Some(Action::Abort(lane.id)),
            Phase::Stopped | Phase::Paused(_) => None,
        };
        self.ending += usize::from(action.is_some());
        self.actions.extend(action);
        self.changed();
    }

    /// The open connections, with their lanes.
    pub(in crate::lanes) fn links(&self) -> impl Iterator<Item = (LaneId, &Link<C>)> {
        self.lanes.iter().filter_map(|lane| Some((lane.id, lane.link()?)))
    }

    /// The open connection of a lane.
    pub(in crate::lanes) fn link(&self, lane: LaneId) -> Option<&Link<C>> {
        self.lane(lane)?.link()
    }

    /// Whether a lane has no connection, and none is being opened.
    pub(in crate::lanes) fn is_stopped(&self, lane: LaneId) -> bool {
        self.lane(lane).is_none_or(Lane::is_stopped)
    }

    /// Whether the last start of the lane failed, or its server ended by itself.
    pub(in crate::lanes) fn has_failed(&self, lane: LaneId) -> bool {
        self.lane(lane).is_some_and(Lane::has_failed)
    }

    /// Why a server does not run, of the first lane that failed.
    pub(in crate::lanes) fn problem(&self) -> Option<&Problem<C>> {
        self.lanes.iter().filter(|lane| lane.has_failed()).find_map(|lane| lane.problem.as_ref())
    }
}

impl<C> Lane<C> {
    fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Paused(_))
    }
}
