//! Which lane suits a caller, and how many lanes there may be.

use super::event::{Given, LaneId, LanePurpose, NoLane, UseId, Wanted};
use super::lane::{Holder, Lane};
use super::{LaneTable, Stage, Use};
use crate::lanes::key::{LaneCaller, LaneKey};

impl<C: Clone> LaneTable<C> {
    /// The key of the lane that a caller needs by now.
    pub(super) fn key(&self, caller: &LaneCaller) -> LaneKey {
        caller.key(!self.states_capabilities && (self.is_exact || self.asks))
    }

    /// Whether a call has its lane to itself.
    fn is_exclusive(&self, wanted: &Wanted, key: &LaneKey) -> bool {
        wanted.purpose == LanePurpose::Call && self.asks && key.may_be_asked()
    }

    /// A lane for a call or a subscription; makes one if there is none.
    pub(super) fn take(&mut self, id: UseId, wanted: &Wanted) -> Result<Given, NoLane> {
        if self.stage != Stage::Open {
            return Err(NoLane::Closed);
        }
        while let Some(at) = self.lanes.iter().position(|lane| lane.key.is_over()) {
            self.remove(at);
        }
        let key = self.key(&wanted.caller);
        let holds = self.is_exclusive(wanted, &key);
        let at = match wanted.connection.and_then(|number| self.running(number, &key)) {
            Some(at) if holds && self.is_held_by_other(at, wanted) => return Err(NoLane::Held),
            Some(at) => at,
            None => self.open(wanted, (key, holds))?,
        };
        let lane = &mut self.lanes[at];
        lane.give(&wanted.caller, holds);
        let lane = lane.id;
        self.uses.insert(id, Use { lane, keeps: true, holds, connection: None });
        Ok(Given { lane, holds })
    }

    /// The place of the lane of a connection, which no other can replace.
    fn running(&self, number: u64, key: &LaneKey) -> Option<usize> {
        let is_it = |lane: &Lane<C>| {
            lane.key.has_callers_of(key) && lane.link().is_some_and(|link| link.number == number)
        };
        self.lanes.iter().position(is_it)
    }

    fn is_held_by_other(&self, at: usize, wanted: &Wanted) -> bool {
        let holder = self.lanes[at].holder.as_ref();
        holder.is_some_and(|holder| !holder.is_of(&wanted.caller.session))
    }

    /// The place of the best lane, which is made if there is none.
    fn open(&mut self, wanted: &Wanted, (key, holds): (LaneKey, bool)) -> Result<usize, NoLane> {
        if holds && self.has_its_share(wanted) {
            return Err(NoLane::HeldByPeer);
        }
        let opens = self.best(wanted, &key, holds).is_none_or(|at| !self.lanes[at].counts());
        if opens && matches!(wanted.purpose, LanePurpose::Call | LanePurpose::Start) {
            self.make_room(&key, holds)?;
        }
        if let Some(at) = self.best(wanted, &key, holds) {
            return Ok(at);
        }
        if self.lanes.len() >= self.limits.lanes && wanted.purpose != LanePurpose::Move {
            // Closing a lane notifies the callers that listen on it.
            while let Some(at) = self.lanes.iter().position(|lane| !lane.counts()) {
                self.remove(at);
            }
        }
        if self.lanes.len() >= self.limits.lanes {
            return Err(NoLane::Full);
        }
        let id = LaneId(self.number());
        self.lanes.push(Lane::new(id, key));
        Ok(self.lanes.len() - 1)
    }

    /// The place of the lane that suits a caller best.
    fn best(&self, wanted: &Wanted, key: &LaneKey, holds: bool) -> Option<usize> {
        let rank = |lane: &Lane<C>| lane.rank(key, &wanted.caller.session, holds);
        let ranks = self.lanes.iter().enumerate().filter_map(|(at, lane)| Some((rank(lane)?, at)));
        ranks.min().map(|(_, at)| at)
    }

    /// The lane that suits a caller best for what is no call, if its server runs or is about to run.
    pub(in crate::lanes) fn best_open(&self, caller: &LaneCaller) -> Option<LaneId> {
        let key = self.key(caller);
        let rank = |lane: &Lane<C>| lane.rank(&key, &caller.session, false);
        let ranks = self.lanes.iter().filter_map(|lane| Some((rank(lane)?, lane)));
        let (_, best) = ranks.min_by_key(|(rank, _)| *rank)?;
        best.is_open().then_some(best.id)
    }

    /// The same for a caller that listens on a lane whose server does not run.
    pub(in crate::lanes) fn better_open(
        &self,
        lane: LaneId,
        caller: &LaneCaller,
    ) -> Option<LaneId> {
        self.is_stopped(lane).then(|| self.best_open(caller)).flatten()
    }

    /// Whether calls of a caller may use a lane.
    pub(in crate::lanes) fn suits(&self, lane: LaneId, caller: &LaneCaller) -> bool {
        self.lane(lane).is_some_and(|lane| lane.key == self.key(caller))
    }

    /// Whether a session has a lane to itself.
    pub(in crate::lanes) fn is_isolated(&self, lane: LaneId) -> bool {
        self.lane(lane).is_some_and(|lane| lane.key.is_isolated())
    }

    /// The most lanes that the server may ask on, of one owner.
    fn per_owner(&self) -> usize {
        let limits = &self.limits;
        if self.is_process { limits.process_lanes } else { limits.http_lanes }
    }

    /// The most lanes of one owner that wait for answers. One is kept for calls that ask nothing, if
    /// there are several.
    pub(super) fn most_asking(&self) -> usize {
        self.per_owner().saturating_sub(1).max(1)
    }

    /// Whether calls from the address of this one hold all lanes of the owner that they may. One lane is
    /// left to other addresses, or a peer with slow calls could keep all others from a server for long. A
    /// session that holds a lane goes on with it.
    fn has_its_share(&self, wanted: &Wanted) -> bool {
        let LaneCaller { owner, session, peer, .. } = &wanted.caller;
        let per_owner = self.per_owner();
        if peer.is_none() || per_owner < 2 {
            return false;
        }
        let of_owner = self.lanes.iter().filter(|lane| lane.key.owner == *owner);
        let holders: Vec<&Holder> = of_owner.filter_map(|lane| lane.holder.as_ref()).collect();
        let goes_on = holders.iter().any(|holder| holder.is_of(session));
        !goes_on && holders.iter().filter(|it| it.peer == *peer).count() >= per_owner - 1
    }

    /// Checks that a connection may be opened with this key.
    pub(super) fn make_room(&mut self, key: &LaneKey, holds: bool) -> Result<(), NoLane> {
        let limits = &self.limits;
        let (most, isolated) = (limits.capability_lanes, limits.isolated_lanes);
        if holds {
            return self.make_room_for_asker(key, self.per_owner()).ok_or(NoLane::Held);
        }
        let has_room = if key.is_of_askers() {
            let most = self.per_owner().saturating_add(most);
            self.make_room_for_asker(key, most).is_some()
        } else {
            !key.is_isolated() || self.isolated(key) < isolated
        };
        has_room.then_some(()).ok_or(NoLane::Full)
    }

    /// Checks that another lane may be opened that declares exactly what its callers can do. If their
    /// owner has too many, closes one that nothing uses. `None` if all are in use.
    fn make_room_for_asker(&mut self, key: &LaneKey, most: usize) -> Option<()> {
        let is_counted = |lane: &Lane<C>| {
            lane.key.is_of_askers() && lane.key.owner == key.owner && lane.counts()
        };
        if self.lanes.iter().filter(|lane| is_counted(lane)).count() >= most {
            let at = self.lanes.iter().position(|lane| is_counted(lane) && lane.is_unused())?;
            self.remove(at);
        }
        Some(())
    }

    /// How many lanes the isolated callers of one owner have. They are not closed for others, since
    /// their servers may remember their callers.
    fn isolated(&self, key: &LaneKey) -> usize {
        let is_counted = |lane: &&Lane<C>| {
            lane.key.is_isolated() && lane.key.owner == key.owner && lane.counts()
        };
        self.lanes.iter().filter(is_counted).count()
    }
}
