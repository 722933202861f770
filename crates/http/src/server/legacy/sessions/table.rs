//! The sessions of an endpoint, and which of them has been idle longest: of all, and of each caller.
//!
//! Only a session itself knows when it was last in use, so a request need not lock the table to note
//! it. The table orders sessions by when they were in use as far as it knows, which is never later
//! than the truth. So if the first in order has not been in use since, no other has been idle longer.
//! Otherwise it is moved to its true place, and the next is asked.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// How many sessions are asked to find one that can make room. More would be needed only if all of
/// these were in use since they were last asked; then the one of them that has been idle longest makes
/// room.
const LOOKS: usize = 64;

/// A session, as far as the table needs to know it. A trait, so that tests need no real sessions.
pub(super) trait Idle: Clone {
    fn id(&self) -> &str;

    /// When it was last in use. `None` if it is now.
    fn idle_since(&self) -> Option<Instant>;
}

/// Sessions by id, and in the order in which they make room. Behind one lock per endpoint; every
/// operation is short and waits for nothing.
pub(super) struct Table<S, C> {
    /// With a keyed hash: a client could open sessions until some ids collide, and keep only those.
    by_id: HashMap<String, Kept<S, C>>,
    /// All sessions, the one that makes room first at the front.
    order: Order<S>,
    /// The same for each caller that has sessions.
    of_callers: HashMap<C, Order<S>>,
    bounds: Bounds,
    /// The number of the turn that was given last.
    last: u64,
}

/// A session with its place in the two orders: of all sessions, and of those of its caller.
struct Kept<S, C> {
    session: S,
    caller: C,
    /// Its key in both orders.
    turn: Turn,
}

/// When a session was in use as far as the table knows, and a number that makes the pair unique.
type Turn = (Instant, u64);

type Order<S> = BTreeMap<Turn, S>;

/// How many sessions there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) all: usize,
    pub(super) of_caller: usize,
}

/// Why there is no room for one more session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Full {
    /// There are too many, and none is idle.
    OfAll,
    /// There are too many of this caller, and none of them is idle.
    OfCaller,
}

impl<S: Idle, C: Clone + Eq + Hash> Table<S, C> {
    pub(super) fn new(bounds: Bounds) -> Self {
        let (by_id, order, of_callers) = Default::default();
        Self { by_id, order, of_callers, bounds, last: 0 }
    }

    pub(super) fn get(&self, id: &str) -> Option<&S> {
        self.by_id.get(id).map(|kept| &kept.session)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &S> {
        self.by_id.values().map(|kept| &kept.session)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Adds a session whose id is new. If there were too many, removes and returns the one that has
    /// been idle longest: of this caller if the caller has too many, otherwise of all.
    ///
    /// # Errors
    ///
    /// If there are too many and none of them is idle.
    pub(super) fn insert(
        &mut self,
        session: S,
        caller: C,
        now: Instant,
    ) -> Result<Option<S>, Full> {
        let of_caller = self.of_callers.get(&caller).map_or(0, BTreeMap::len);
        let evicted = if of_caller >= self.bounds.of_caller {
            Some(self.longest_idle(Some(&caller), now).ok_or(Full::OfCaller)?)
        } else if self.len() >= self.bounds.all {
            Some(self.longest_idle(None, now).ok_or(Full::OfAll)?)
        } else {
            None
        };
        let evicted = evicted.and_then(|session| self.remove(session.id()));
        self.last += 1;
        let turn = (now, self.last);
        self.order.insert(turn, session.clone());
        self.of_callers.entry(caller.clone()).or_default().insert(turn, session.clone());
        self.by_id.insert(session.id().to_owned(), Kept { session, caller, turn });
        Ok(evicted)
    }

    /// Takes a session out of the table and of both orders. It is not closed by that.
    pub(super) fn remove(&mut self, id: &str) -> Option<S> {
        let Kept { session, caller, turn } = self.by_id.remove(id)?;
        self.order.remove(&turn);
        if let Some(order) = self.of_callers.get_mut(&caller) {
            order.remove(&turn);
            if order.is_empty() {
                self.of_callers.remove(&caller);
            }
        }
        Some(session)
    }

    /// Takes all sessions out.
    pub(super) fn take(&mut self) -> Vec<S> {
        let empty = Self::new(self.bounds);
        std::mem::replace(self, empty).by_id.into_values().map(|kept| kept.session).collect()
    }

    /// Notes that a session was in use at a moment. The sweep calls it for sessions in use, so that
    /// the order is seldom far from the truth.
    pub(super) fn touch(&mut self, id: &str, used: Instant) {
        let Some(kept) = self.by_id.get_mut(id) else { return };
        let before = kept.turn;
        kept.turn = (used, before.1);
        let orders = [Some(&mut self.order), self.of_callers.get_mut(&kept.caller)];
        for order in orders.into_iter().flatten() {
            if let Some(session) = order.remove(&before) {
                order.insert(kept.turn, session);
            }
        }
    }

    /// The session that has been idle longest, of a caller or of all, among the first in order.
    fn longest_idle(&mut self, caller: Option<&C>, now: Instant) -> Option<S> {
        let mut longest: Option<(Instant, S)> = None;
        for _ in 0..LOOKS {
            let order = match caller {
                Some(caller) => self.of_callers.get(caller)?,
                None => &self.order,
            };
            let Some((&(turn, _), session)) = order.first_key_value() else { break };
            let (session, since) = (session.clone(), session.idle_since());
            match since {
                Some(since) if since <= turn => return Some(session),
                // The rest of the order was in use at this moment too.
                _ if turn >= now => break,
                since => {
                    self.touch(session.id(), since.unwrap_or(now));
                    if let Some(since) = since
                        && longest.as_ref().is_none_or(|(longest, _)| since < *longest)
                    {
                        longest = Some((since, session));
                    }
                }
            }
        }
        longest.map(|(_, session)| session)
    }
}

#[cfg(test)]
mod tests;
