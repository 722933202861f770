//! Which connections to one server there are, who uses them and who waits: a state machine without I/O.
//!
//! The driver reports each [`Event`] with its time, and performs the [`Action`]s that follow. Nothing
//! else knows the state of a lane. A caller names its use of a lane by a number of its own, from the
//! moment when it asks for the lane until it leaves it; each wait ends with exactly one action.
//!
//! * `event`: the events that the driver reports, and the actions that it performs.
//! * `lane`: one lane and its connection.
//! * `room`: which lane suits a caller, and the limits.
//! * `connecting`: how connections begin and end.
//! * `questions`: which lane gives way to others while its caller is asked.

mod connecting;
mod event;
mod lane;
mod questions;
mod room;

use std::collections::HashMap;
use std::time::{Duration, Instant};

pub(super) use self::event::{
    Action, Event, Given, LaneId, LanePurpose, Link, NoLane, Problem, Start, UseId, Wanted, later,
};
use self::lane::Lane;
use crate::limits::GatewayLimits;

/// How often a call that waits for a lane looks for one whose question is old enough to give way.
const RECALL_PAUSE: Duration = Duration::from_secs(1);

/// The lanes of one server, over connections of type `C`.
#[derive(Clone, Debug)]
pub(super) struct LaneTable<C> {
    limits: GatewayLimits,
    /// Whether connections are processes, of which there are fewer than of sessions over HTTP.
    is_process: bool,
    /// Whether lanes declare what their callers can do, although the server has asked no question.
    is_exact: bool,
    lanes: Vec<Lane<C>>,
    uses: HashMap<UseId, Use>,
    /// Who waits for a lane, the longest first.
    waiting: Vec<Waiting>,
    /// Who waits for the connection of a lane.
    connecting: Vec<Connecting>,
    /// Whether the server asks questions, as far as it is known.
    asks: bool,
    /// Whether requests to the server state the capabilities of their callers.
    states_capabilities: bool,
    stage: Stage,
    /// Connections and starts that are being ended.
    ending: usize,
    /// The last number that was given out.
    numbers: u64,
    /// Counts what callers that listen react to: lanes that start, stop or are shared anew.
    changes: u64,
    /// Whether callers that wait may get further than before.
    retry: bool,
    actions: Vec<Action<C>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// Gives out no lane any more, and closes those that no call uses.
    Retired,
    Closed,
}

/// The use of a lane.
#[derive(Clone, Debug)]
struct Use {
    lane: LaneId,
    /// Whether it keeps the lane from being closed for others.
    keeps: bool,
    /// Whether no other asker may use the lane.
    holds: bool,
    /// The connection that it keeps from being idle.
    connection: Option<u64>,
}

/// Who waits for a lane.
#[derive(Clone, Debug)]
struct Waiting {
    id: UseId,
    wanted: Wanted,
    /// When it looks for a question that gives way.
    next: Instant,
}

/// Who waits for the connection of a lane.
#[derive(Clone, Debug)]
pub(super) struct Connecting {
    id: UseId,
    lane: LaneId,
    start: Start,
}

impl<C: Clone> LaneTable<C> {
    pub(super) fn new(limits: GatewayLimits, is_process: bool) -> Self {
        Self {
            limits,
            is_process,
            is_exact: false,
            lanes: Vec::new(),
            uses: HashMap::new(),
            waiting: Vec::new(),
            connecting: Vec::new(),
            asks: false,
            states_capabilities: false,
            stage: Stage::Open,
            ending: 0,
            numbers: 0,
            changes: 0,
            retry: false,
            actions: Vec::new(),
        }
    }

    /// Lets lanes declare what their callers can do, although the server has asked no question.
    pub(super) fn set_exact(&mut self, is_exact: bool) {
        self.is_exact = is_exact;
    }

    /// A number that no use, lane or question has.
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Handles an event.
    pub(super) fn on(&mut self, event: Event<C>, now: Instant) -> Vec<Action<C>> {
        match event {
            Event::Take(id, wanted) => self.waiting.push(Waiting { id, wanted, next: now }),
            Event::Connect(id, lane, start) => self.connect(id, lane, start, now),
            Event::Share(id) => self.give_back_lane(id, now),
            Event::Leave(id) => self.leave(id, now),
            Event::Asked(number, call, peer) => self.ask(number, call, peer, now),
            Event::Answered(number) => self.answered(number),
            Event::Asks => self.note_asks(),
            Event::Started { lane, link, states_capabilities } => {
                self.started(lane, link, now);
                self.note_revision(states_capabilities);
            }
            Event::NotStarted { lane, problem, jitter } => {
                self.not_started(lane, &problem, (now, jitter));
            }
            Event::Died { lane, jitter } => self.died(lane, (now, jitter)),
            Event::Ended => self.ended(),
            Event::Retire => self.end(Stage::Retired),
            Event::Close => self.end(Stage::Closed),
            Event::Tick => self.stop_idle(now),
        }
        self.serve_connecting(now);
        self.serve_waiting(now);
        self.retry = false;
        std::mem::take(&mut self.actions)
    }

    /// When the next [`Event::Tick`] is due.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let waiting = self.waiting.iter().map(|it| it.next.min(it.wanted.until.unwrap_or(now)));
        let starts = self.connecting.iter().filter_map(|it| self.start_of(it));
        let idle = self.lanes.iter().filter_map(|lane| lane.idle_until(&self.limits));
        waiting.chain(starts).chain(idle).min()
    }

    /// Notes whether requests state the capabilities of their callers. If so, callers of different
    /// capabilities share lanes.
    pub(super) fn note_revision(&mut self, states_capabilities: bool) {
        if states_capabilities && !self.states_capabilities {
            self.lanes.iter_mut().for_each(|lane| lane.key.share_between_capabilities());
            self.changed();
        }
        self.states_capabilities = states_capabilities;
    }

    /// Notes that the server asks questions.
    pub(super) fn note_asks(&mut self) {
        if !self.asks {
            self.asks = true;
            self.changed();
        }
    }

    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Counts what callers that listen react to.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn is_closed(&self) -> bool {
        self.stage != Stage::Open
    }

    /// Whether it was closed, and all its connections have ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed() && self.lanes.is_empty() && self.ending == 0
    }

    /// Serves those that wait for a lane, in their order, as far as there may be news for them.
    fn serve_waiting(&mut self, now: Instant) {
        for mut waiting in std::mem::take(&mut self.waiting) {
            let until = waiting.wanted.until.unwrap_or(now);
            if !self.retry && now < waiting.next.min(until) {
                self.waiting.push(waiting);
                continue;
            }
            let outcome = self.take(waiting.id, &waiting.wanted);
            match outcome {
                Err(why @ (NoLane::Held | NoLane::HeldByPeer)) if now < until => {
                    self.recall_for(&waiting.wanted.caller, why, now);
                    waiting.next = now + RECALL_PAUSE;
                    self.waiting.push(waiting);
                }
                outcome => self.actions.push(Action::Give(waiting.id, outcome)),
            }
        }
    }

    fn leave(&mut self, id: UseId, now: Instant) {
        self.waiting.retain(|waiting| waiting.id != id);
        self.connecting.retain(|connecting| connecting.id != id);
        self.give_back_lane(id, now);
        let Some(gone) = self.uses.remove(&id) else { return };
        if let Some(connection) = gone.connection
            && let Some(lane) = self.lane_mut(gone.lane)
        {
            lane.give_back_connection(connection, now);
            self.retry = true;
        }
    }

    /// Lets others have the lane of a use, which keeps its connection.
    fn give_back_lane(&mut self, id: UseId, now: Instant) {
        let Some(given) = self.uses.get_mut(&id).filter(|given| given.keeps) else { return };
        let (lane, holds) = (given.lane, given.holds);
        (given.keeps, given.holds) = (false, false);
        let Some(at) = self.place(lane) else { return };
        self.lanes[at].give_back(holds, now);
        self.retry = true;
        if self.stage == Stage::Retired && self.lanes[at].uses == 0 {
            self.remove(at);
        }
    }

    fn end(&mut self, stage: Stage) {
        if self.stage != Stage::Closed {
            self.stage = stage;
        }
        let ends = |lane: &Lane<C>| stage == Stage::Closed || lane.uses == 0;
        while let Some(at) = self.lanes.iter().position(ends) {
            self.remove(at);
        }
        self.changed();
    }

    fn lane(&self, id: LaneId) -> Option<&Lane<C>> {
        self.place(id).map(|at| &self.lanes[at])
    }

    fn lane_mut(&mut self, id: LaneId) -> Option<&mut Lane<C>> {
        self.lanes.iter_mut().find(|lane| lane.id == id)
    }

    fn place(&self, id: LaneId) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.id == id)
    }

    fn changed(&mut self) {
        self.changes += 1;
        self.retry = true;
    }
}

#[cfg(test)]
mod tests;
