//! The open lanes of one server, and which asker holds each.
//!
//! A server with a handshake names no call when it asks on stdio. So a lane whose server may ask
//! serves one asker at a time: a session, with all its calls, or a single call of a caller without
//! one. A session gets its last lane again while that is free.

mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bowline_proto::callers::CallerId;
use bowline_proto::sync::lock;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};

use super::key::{LaneKey, SessionId};
use super::recall::OpenQuestion;
use crate::supervise::{Endings, Supervised};

/// The lanes of one server.
#[derive(Debug, Default)]
pub(super) struct LanePool {
    open: Mutex<Vec<Lane>>,
    /// Whether no lane is given out any more. Changes only while `open` is locked.
    is_closed: AtomicBool,
    /// Notified when an asker has left a lane.
    freed: Notify,
    /// Changes when callers share lanes that did not share them before.
    regroups: watch::Sender<()>,
    /// Changes when a lane is started, fails to start or is stopped.
    phases: watch::Sender<()>,
    endings: Endings,
    /// Counts the questions of calls that held lanes.
    questions: AtomicU64,
}

#[derive(Debug)]
struct Lane {
    key: LaneKey,
    supervised: Supervised,
    holder: Option<Holder>,
    /// The session that held it last.
    last: Option<SessionId>,
    /// Questions of the calls that hold it, the oldest first, which have no answer yet.
    asked: Vec<OpenQuestion>,
    /// How many calls have taken it, and how many callers follow resources on it. They need its server,
    /// even if they have no lease yet.
    uses: usize,
}

/// The asker that holds a lane.
#[derive(Debug)]
struct Holder {
    /// `None` for a single call of a caller without a session.
    session: Option<SessionId>,
    peer: Option<CallerId>,
    calls: usize,
}

/// The lane that a call or a subscription needs.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) key: LaneKey,
    pub(super) session: Option<SessionId>,
    /// The address that the call comes from, if that is known.
    pub(super) peer: Option<CallerId>,
    /// Whether no other asker may use the lane meanwhile.
    pub(super) is_exclusive: bool,
    pub(super) purpose: LanePurpose,
}

/// What a lane is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LanePurpose {
    /// A call, or a subscription to resources: the server is started if it does not run.
    Start,
    /// A subscription to lists: it waits until a call starts the server.
    Wait,
    /// The same for a caller that listened on another lane before. No lane is closed for it: two such
    /// callers would close each other's lanes without end.
    Move,
}

/// The most lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MostLanes {
    /// Of one owner, for callers that the server may ask.
    pub(super) per_owner: usize,
    /// Of one owner besides, for callers of different capabilities that share lanes.
    pub(super) by_capabilities: usize,
    /// Of one owner, for callers that have a lane to themselves.
    pub(super) isolated: usize,
    pub(super) in_all: usize,
}

/// Why there is no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLane {
    /// Other askers hold all lanes that the owner may have.
    Held,
    /// Calls from the same address hold all lanes that are not left to others.
    HeldByPeer,
    /// Too many lanes are open.
    Full,
    /// The server was stopped for good.
    Closed,
}

impl LanePool {
    /// A lane for a call; makes one if there is none.
    ///
    /// # Errors
    ///
    /// If the limits allow no more, or the pool is closed.
    pub(super) fn take(
        self: &Arc<Self>,
        wanted: &Wanted,
        most: MostLanes,
        make: impl FnOnce() -> Supervised,
    ) -> Result<TakenLane, NoLane> {
        let mut open = self.lock();
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(NoLane::Closed);
        }
        open.extract_if(.., |lane| lane.key.is_over()).for_each(Lane::close);
        if wanted.is_exclusive && has_its_share(&open, wanted, most.per_owner) {
            return Err(NoLane::HeldByPeer);
        }
        let opens = best(&open, wanted).is_none_or(|at| !open[at].counts());
        if opens && wanted.purpose == LanePurpose::Start {
            make_room(&mut open, wanted, most)?;
        }
        let at = match best(&open, wanted) {
            Some(at) => at,
            None => {
                if open.len() >= most.in_all && wanted.purpose != LanePurpose::Move {
                    // Closing a lane tells the callers that listen on it.
                    open.extract_if(.., |lane| !lane.counts()).for_each(Lane::close);
                }
                if open.len() >= most.in_all {
                    return Err(NoLane::Full);
                }
                let key = wanted.key.clone();
                open.push(Lane::new(key, make()));
                open.len() - 1
            }
        };
        Ok(self.give(&mut open[at], wanted))
    }

    /// The lane of a connection that runs, for a call that no other connection can serve. `None` if
    /// the connection has ended, or belongs to other callers.
    pub(super) fn take_running(
        self: &Arc<Self>,
        wanted: &Wanted,
        generation: u64,
    ) -> Option<Result<TakenLane, NoLane>> {
        let mut open = self.lock();
        let is_it = |lane: &&mut Lane| {
            lane.key.has_callers_of(&wanted.key) && lane.supervised.runs(generation)
        };
        let lane = open.iter_mut().find(is_it)?;
        let is_held = lane.holder.as_ref().is_some_and(|holder| !holder.is_of(&wanted.session));
        if wanted.is_exclusive && is_held {
            return Some(Err(NoLane::Held));
        }
        Some(Ok(self.give(lane, wanted)))
    }

    fn give(self: &Arc<Self>, lane: &mut Lane, wanted: &Wanted) -> TakenLane {
        lane.uses += 1;
        let (supervised, is_held) = (lane.supervised.clone(), wanted.is_exclusive);
        if is_held {
            lane.last.clone_from(&wanted.session);
            match &mut lane.holder {
                Some(holder) => holder.calls += 1,
                None => lane.holder = Some(Holder::of(wanted)),
            }
        }
        TakenLane { supervised, pool: self.clone(), is_held }
    }

    /// Takes the lane on which a caller listens, because the caller follows resources there.
    ///
    /// # Errors
    ///
    /// If its server does not run, and the limits do not allow that it is started; or if the lane was
    /// closed.
    pub(super) fn hold(
        self: &Arc<Self>,
        supervised: &Supervised,
        most: MostLanes,
    ) -> Result<TakenLane, NoLane> {
        let mut open = self.lock();
        let place = |open: &[Lane]| open.iter().position(|lane| lane.supervised == *supervised);
        let at = place(&open).ok_or(NoLane::Closed)?;
        let key = open[at].key.clone();
        let wanted = Wanted {
            key,
            session: None,
            peer: None,
            is_exclusive: false,
            purpose: LanePurpose::Start,
        };
        if !open[at].counts() {
            make_room(&mut open, &wanted, most)?;
        }
        // Making room may have removed a lane before it.
        let at = place(&open).ok_or(NoLane::Closed)?;
        Ok(self.give(&mut open[at], &wanted))
    }

    /// The lane that suits a caller best, if its server runs or is about to run.
    pub(super) fn best_open(&self, wanted: &Wanted) -> Option<Supervised> {
        let open = self.lock();
        let lane = &open[best(&open, wanted)?];
        lane.is_open().then(|| lane.supervised.clone())
    }

    /// Whether calls with this key may use a lane, and its server runs or is being started.
    pub(super) fn serves(&self, supervised: &Supervised, key: &LaneKey) -> bool {
        let is_it = |lane: &Lane| lane.supervised == *supervised && lane.key == *key;
        self.lock().iter().any(is_it) && !supervised.is_stopped()
    }

    /// Waits until an asker leaves a lane. Counts from the moment when this is called.
    pub(super) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    /// Lets callers of different capabilities share lanes from now on: each request states them.
    pub(super) fn share_between_capabilities(&self) {
        self.lock().iter_mut().for_each(|lane| lane.key.share_between_capabilities());
        self.regroups.send_replace(());
    }

    /// Waits until there may be room for another lane. Counts from the moment when this is called.
    pub(super) fn room(&self) -> impl Future<Output = ()> {
        let (freed, mut phases) = (self.freed(), self.phases.subscribe());
        async move {
            tokio::select! {
                () = freed => {}
                // Fails only if the pool is gone, which this borrows.
                _ = phases.changed() => {}
            }
        }
    }

    /// Tells when a lane is started, fails to start or is stopped. Lanes send to it.
    pub(super) fn phases(&self) -> &watch::Sender<()> {
        &self.phases
    }

    /// The connections that are being closed. Lanes note theirs.
    pub(super) fn endings(&self) -> &Endings {
        &self.endings
    }

    /// Tells when callers share lanes that did not share them before.
    pub(super) fn regroups(&self) -> watch::Receiver<()> {
        self.regroups.subscribe()
    }

    /// All lanes.
    pub(super) fn all(&self) -> Vec<Supervised> {
        self.lock().iter().map(|lane| lane.supervised.clone()).collect()
    }

    /// Gives out no lane any more, and returns those that were given out.
    pub(super) fn close(&self) -> Vec<Supervised> {
        let open = self.lock();
        self.is_closed.store(true, Ordering::Relaxed);
        open.iter().map(|lane| lane.supervised.clone()).collect()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Whether it is closed, and its connections have ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed() && self.endings.are_over()
    }

    /// Waits until no call has taken a lane.
    pub(super) async fn drained(&self) {
        loop {
            let freed = self.freed();
            if self.lock().iter().all(|lane| lane.uses == 0) {
                return;
            }
            freed.await;
        }
    }

    fn leave(&self, taken: &TakenLane) {
        let mut open = self.lock();
        let lane = open.iter_mut().find(|lane| lane.supervised == taken.supervised);
        let Some(lane) = lane else {
            drop(open);
            // It may have been the one that `drained` waits for.
            return self.freed.notify_waiters();
        };
        lane.uses -= 1;
        let mut is_freed = lane.uses == 0;
        if taken.is_held
            && let Some(holder) = &mut lane.holder
        {
            holder.calls -= 1;
            if holder.calls == 0 {
                lane.holder = None;
                is_freed = true;
            }
        }
        drop(open);
        if is_freed {
            self.freed.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        lock(&self.open)
    }
}

/// The place of the lane that suits a call best.
fn best(open: &[Lane], wanted: &Wanted) -> Option<usize> {
    let ranks = open.iter().enumerate().filter_map(|(at, lane)| Some((lane.rank(wanted)?, at)));
    ranks.min().map(|(_, at)| at)
}

/// Whether calls from the address of this one hold all lanes of the owner that they may. One lane is left
/// to other addresses, or a peer with slow calls could keep all others from a server for long. A session
/// that holds a lane goes on with it.
fn has_its_share(open: &[Lane], wanted: &Wanted, per_owner: usize) -> bool {
    if wanted.peer.is_none() || per_owner < 2 {
        return false;
    }
    let of_owner = open.iter().filter(|lane| lane.key.has_owner_of(&wanted.key));
    let holders: Vec<&Holder> = of_owner.filter_map(|lane| lane.holder.as_ref()).collect();
    let goes_on = holders.iter().any(|holder| holder.is_of(&wanted.session));
    !goes_on && holders.iter().filter(|it| it.peer == wanted.peer).count() >= per_owner - 1
}

/// Checks that a lane may be opened for a call.
fn make_room(open: &mut Vec<Lane>, wanted: &Wanted, most: MostLanes) -> Result<(), NoLane> {
    let key = &wanted.key;
    if wanted.is_exclusive {
        return make_room_for_asker(open, key, most.per_owner).map_err(|NoRoom| NoLane::Held);
    }
    let is_full = if key.is_of_askers() {
        let most = most.per_owner.saturating_add(most.by_capabilities);
        make_room_for_asker(open, key, most).is_err()
    } else {
        key.is_isolated() && isolated(open, key) >= most.isolated
    };
    if is_full { Err(NoLane::Full) } else { Ok(()) }
}

/// Calls use all lanes that an owner may have.
struct NoRoom;

/// Checks that another lane may be opened that declares exactly what its callers can do. If their owner
/// has too many, closes one that nothing uses.
fn make_room_for_asker(open: &mut Vec<Lane>, key: &LaneKey, most: usize) -> Result<(), NoRoom> {
    let is_counted =
        |lane: &Lane| lane.key.is_of_askers() && lane.key.has_owner_of(key) && lane.counts();
    if open.iter().filter(|lane| is_counted(lane)).count() < most {
        return Ok(());
    }
    let is_unused = |lane: &Lane| lane.uses == 0 && lane.supervised.is_unused();
    let unused = open.iter().position(|lane| is_counted(lane) && is_unused(lane));
    open.remove(unused.ok_or(NoRoom)?).close();
    Ok(())
}

/// How many lanes the isolated callers of one owner have. They are not closed for others, since their
/// servers may remember their callers.
fn isolated(open: &[Lane], key: &LaneKey) -> usize {
    let is_counted =
        |lane: &&Lane| lane.key.is_isolated() && lane.key.has_owner_of(key) && lane.counts();
    open.iter().filter(is_counted).count()
}

impl Holder {
    fn of(wanted: &Wanted) -> Self {
        Self { session: wanted.session.clone(), peer: wanted.peer.clone(), calls: 1 }
    }

    /// Whether it is this session. A call without a session is alone.
    fn is_of(&self, session: &Option<SessionId>) -> bool {
        session.is_some() && self.session == *session
    }
}

impl Lane {
    fn new(key: LaneKey, supervised: Supervised) -> Self {
        Self { key, supervised, holder: None, last: None, asked: Vec::new(), uses: 0 }
    }

    /// Whether it has a process or session, or is about to get one.
    fn is_open(&self) -> bool {
        self.holder.is_some() || !self.supervised.is_stopped()
    }

    /// Whether it counts against the limits: it is open, or a call or a caller that follows resources
    /// may open it at any moment.
    fn counts(&self) -> bool {
        self.uses > 0 || self.is_open()
    }

    /// How well the lane suits a call, the least best; `None` if it does not.
    fn rank(&self, wanted: &Wanted) -> Option<u8> {
        if self.key != wanted.key {
            return None;
        }
        let is_same = |session: &Option<SessionId>| session.is_some() && *session == wanted.session;
        match &self.holder {
            Some(holder) if holder.is_of(&wanted.session) => Some(0),
            Some(_) if wanted.is_exclusive => None,
            // A caller that listens has made the lane, but nothing has used it.
            _ if !self.is_open() => Some(4),
            _ if is_same(&self.last) => Some(1),
            // Another session would like to keep it.
            _ if self.last.as_ref().is_some_and(|session| !session.is_over()) => Some(3),
            _ => Some(2),
        }
    }

    /// Closes it in the background.
    fn close(self) {
        tokio::spawn(self.supervised.close());
    }
}

/// The use of a lane by one call, or by a caller that follows resources. The lane is not closed for
/// others meanwhile.
#[derive(Debug)]
pub(super) struct TakenLane {
    pub(super) supervised: Supervised,
    pool: Arc<LanePool>,
    /// Whether the lane is held for the asker of the call.
    is_held: bool,
}

impl TakenLane {
    pub(super) fn pool(&self) -> &Arc<LanePool> {
        &self.pool
    }

    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }
}

impl Drop for TakenLane {
    fn drop(&mut self) {
        self.pool.leave(self);
    }
}

#[cfg(test)]
mod tests;
