//! The lanes that wait for answers of their callers, and which of them gives way to other calls.
//!
//! Of several lanes of an owner all but one may wait for answers, so calls that ask nothing are served
//! while users think. Beyond that the peer with the most waiting lanes gives one up, the one that has
//! waited longest. A question that is answered within a moment never gives way, nor does one whose lane
//! another call of its session holds: that would free no lane.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bowline_proto::callers::CallerId;
use bowline_proto::request::Owner;

use super::LaneTable;
use super::event::{Action, NoLane, UseId};
use super::lane::{Lane, OpenQuestion};
use crate::lanes::key::LaneCaller;

/// How long a question may wait in any case.
const MOMENT: Duration = Duration::from_secs(1);

impl<C: Clone> LaneTable<C> {
    /// Notes that a call on a lane asks. If too many lanes of its owner wait for answers then, one gives
    /// way.
    pub(super) fn ask(&mut self, number: u64, call: UseId, peer: Option<CallerId>, now: Instant) {
        let lane = self.uses.get(&call).map(|it| it.lane);
        let Some(at) = lane.and_then(|lane| self.place(lane)) else { return };
        let lane = &mut self.lanes[at];
        lane.asked.push(OpenQuestion { number, since: now, peer, call });
        let owner = lane.key.owner.clone();
        let waiting = self.asking(&owner);
        if waiting.len() > self.most_asking() {
            self.give_way(&waiting, now, MOMENT);
        }
    }

    pub(super) fn answered(&mut self, number: u64) {
        self.lanes.iter_mut().for_each(|lane| lane.asked.retain(|it| it.number != number));
    }

    /// Lets a call that waits for an answer give way to a caller that needs a lane: if too many lanes of
    /// its owner wait for answers, or one has waited for too long. A peer that holds all its lanes gets
    /// one of its own.
    pub(super) fn recall_for(&mut self, caller: &LaneCaller, why: NoLane, now: Instant) {
        let (mut waiting, mut most) = (self.asking(&caller.owner), self.most_asking());
        if why == NoLane::HeldByPeer {
            waiting.retain(|at| self.lanes[*at].asked.iter().all(|it| it.peer == caller.peer));
            most = most.saturating_sub(1).max(1);
        }
        let is_over = waiting.len() > most;
        let age = if is_over { MOMENT } else { self.limits.unanswered };
        self.give_way(&waiting, now, age);
    }

    /// The places of the lanes of an owner that wait for answers.
    fn asking(&self, owner: &Owner) -> Vec<usize> {
        let waits = |lane: &Lane<C>| !lane.asked.is_empty() && lane.key.owner == *owner;
        (0..self.lanes.len()).filter(|at| waits(&self.lanes[*at])).collect()
    }

    /// Ends the calls of the lane that gives way, among those whose questions are so old. Without its
    /// questions the lane does not count as waiting.
    fn give_way(&mut self, waiting: &[usize], now: Instant, age: Duration) {
        let first = |at: &usize| self.lanes[*at].asked.first().map(|first| (first, *at));
        let firsts: Vec<(&OpenQuestion, usize)> = waiting.iter().filter_map(first).collect();
        let of_peer =
            |peer: &Option<CallerId>| firsts.iter().filter(|(it, _)| it.peer == *peer).count();
        let may_go = firsts.iter().filter(|(first, at)| {
            now.duration_since(first.since) >= age && self.lanes[*at].only_asks()
        });
        let chosen = may_go.min_by_key(|(first, _)| (Reverse(of_peer(&first.peer)), first.number));
        let Some(at) = chosen.map(|(_, at)| *at) else { return };
        let calls = self.lanes[at].asking_calls();
        self.lanes[at].asked.clear();
        self.actions.extend(calls.into_iter().map(Action::Recall));
    }
}

impl<C> Lane<C> {
    fn asking_calls(&self) -> BTreeSet<UseId> {
        self.asked.iter().map(|question| question.call).collect()
    }

    /// Whether all calls that hold it wait for answers.
    fn only_asks(&self) -> bool {
        let calls = self.asking_calls().len();
        self.holder.as_ref().is_none_or(|holder| holder.calls == calls)
    }
}
