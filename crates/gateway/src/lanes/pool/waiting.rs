//! The lanes that wait for answers of their callers, and which of them gives way to other calls.
//!
//! Of several lanes of an owner all but one may wait for answers, so calls that ask nothing are served
//! while users think. Beyond that the peer with the most waiting lanes gives one up, the one that has
//! waited longest. A question that is answered within a moment never gives way, nor does one whose lane
//! another call of its session holds: that would free no lane.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bowline_proto::callers::CallerId;
use tokio::time::Instant;

use super::{Lane, LanePool};
use crate::lanes::key::LaneKey;
use crate::lanes::recall::{OpenQuestion, Recall};
use crate::supervise::Supervised;

/// How long a question may wait in any case.
const MOMENT: Duration = Duration::from_secs(1);

impl LanePool {
    /// Notes that a call on a lane asks, until the guard is dropped. If more than `most` lanes of its
    /// owner wait for answers then, one gives way.
    pub(in crate::lanes) fn ask(
        self: &Arc<Self>,
        supervised: &Supervised,
        (peer, recall): (Option<CallerId>, Recall),
        most: usize,
    ) -> QuestionGuard {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let mut open = self.lock();
        let mut recalled = Vec::new();
        if let Some(at) = open.iter().position(|lane| lane.supervised == *supervised) {
            let key = open[at].key.clone();
            open[at].asked.push(OpenQuestion { number, since: Instant::now(), peer, recall });
            let waiting = waiting(&open, &key);
            if waiting.len() > most {
                let is_old = |first: &OpenQuestion| first.since.elapsed() >= MOMENT;
                recalled = give_way(&mut open, &waiting, is_old);
            }
        }
        drop(open);
        recalled.iter().for_each(|question| question.recall.recall());
        QuestionGuard { pool: self.clone(), supervised: supervised.clone(), number }
    }

    /// Lets a lane of this owner, and of this peer if one is named, give way to a call that waits for
    /// one: if more than `most` wait for answers, or one has waited for so long.
    pub(in crate::lanes) fn recall_for(
        &self,
        (key, peer): (&LaneKey, Option<&CallerId>),
        (most, unanswered): (usize, Duration),
    ) {
        let mut open = self.lock();
        let mut waiting = waiting(&open, key);
        if peer.is_some() {
            waiting.retain(|at| open[*at].asked.iter().all(|it| it.peer.as_ref() == peer));
        }
        let age = if waiting.len() > most { MOMENT } else { unanswered };
        let is_old = |first: &OpenQuestion| first.since.elapsed() >= age;
        let recalled = give_way(&mut open, &waiting, is_old);
        drop(open);
        recalled.iter().for_each(|question| question.recall.recall());
    }
}

/// The places of the lanes of an owner that wait for answers.
fn waiting(open: &[Lane], key: &LaneKey) -> Vec<usize> {
    let waits = |lane: &Lane| !lane.asked.is_empty() && lane.key.has_owner_of(key);
    open.iter().enumerate().filter(|(_, lane)| waits(lane)).map(|(at, _)| at).collect()
}

/// Takes the questions of the lane that gives way, among those that may. Without them it does not count
/// as waiting.
fn give_way(
    open: &mut [Lane],
    waiting: &[usize],
    may: impl Fn(&OpenQuestion) -> bool,
) -> Vec<OpenQuestion> {
    let firsts = waiting.iter().filter_map(|at| Some((open[*at].asked.first()?, *at)));
    let firsts: Vec<(&OpenQuestion, usize)> = firsts.collect();
    let of_peer =
        |peer: &Option<CallerId>| firsts.iter().filter(|(it, _)| it.peer == *peer).count();
    let may_go = firsts.iter().filter(|(first, at)| may(first) && open[*at].only_asks());
    let chosen = may_go.min_by_key(|(first, _)| (Reverse(of_peer(&first.peer)), first.number));
    let chosen = chosen.map(|(_, at)| *at);
    chosen.map(|at| std::mem::take(&mut open[at].asked)).unwrap_or_default()
}

impl Lane {
    /// Whether all calls that hold it wait for answers.
    fn only_asks(&self) -> bool {
        let mut calls: Vec<&Recall> = Vec::new();
        for OpenQuestion { recall, .. } in &self.asked {
            if !calls.iter().any(|other| other.is_same(recall)) {
                calls.push(recall);
            }
        }
        self.holder.as_ref().is_none_or(|holder| holder.calls == calls.len())
    }
}

/// An open question, until it is dropped.
pub(in crate::lanes) struct QuestionGuard {
    pool: Arc<LanePool>,
    supervised: Supervised,
    number: u64,
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        let mut open = self.pool.lock();
        if let Some(lane) = open.iter_mut().find(|lane| lane.supervised == self.supervised) {
            lane.asked.retain(|question| question.number != self.number);
        }
    }
}
