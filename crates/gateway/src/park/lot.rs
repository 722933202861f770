//! The calls that are parked, and the outcomes of their last rounds.
//!
//! A call is in one place at a time: parked here, or running in the round that took it out. Once a
//! second a task drops what has expired; it ends when the lot is empty.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, SystemTime};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{Owner, Response};
use bowline_proto::sync::lock;
use bowline_server::seal::{BadState, Binding, Sealer, StateKey, StateKeys};
use bowline_types::error::ErrorObject;
use bowline_types::read::{read, text};
use futures_core::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::limits::ParkLimits;
use super::state::{ParkId, State};
use super::switch::Switch;

/// How often expired calls are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// Calls that wait for the answers of their callers. One lot serves all upstreams of a gateway.
pub struct ParkingLot {
    limits: ParkLimits,
    sealer: Sealer,
    /// The number of this process: a call can be taken out only where it is.
    replica: u64,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    entries: HashMap<ParkId, Entry>,
    is_swept: bool,
}

struct Entry {
    asker: Arc<Asker>,
    place: Place,
    outcomes: Vec<RoundOutcome>,
}

/// Whose call it is.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) owner: Owner,
    pub(super) peer: Option<CallerId>,
}

/// Where a call is.
enum Place {
    Parked(Box<Parked>, Instant),
    /// In the round that took it out.
    Running,
    /// The call has ended.
    Ended,
}

/// The outcome of a round, for a caller that sends its retry again.
struct RoundOutcome {
    round: u32,
    response: Response,
    /// The length of the response.
    bytes: usize,
    until: Instant,
}

/// A call that waits for its caller.
pub(super) struct Parked {
    /// Dropped first, so that the server hears of the cancellation before its questions fail.
    pub(super) call: BoxFuture<'static, Response>,
    pub(super) switch: Arc<Switch>,
    pub(super) id: ParkId,
    /// The round that the caller's answers begin, from 1.
    pub(super) round: u32,
}

/// What a retry finds.
pub(super) enum Taken {
    /// The call, which runs from now on.
    Parked(Box<Parked>),
    /// The same retry came before, and this was its answer.
    Outcome(Response),
    /// The same retry came before, and is not answered yet.
    Running,
    /// Another process with the same keys has the call.
    Elsewhere,
    /// No such call, or not any more.
    Unknown,
}

impl ParkingLot {
    /// An empty lot, whose states only this process can open.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub fn new(limits: ParkLimits) -> Result<Arc<Self>, getrandom::Error> {
        Self::with_keys([StateKey::random()?], limits)
    }

    /// An empty lot whose states are sealed with these keys. A process with the same keys goes on
    /// with the calls of modern servers; a parked call goes on only in the process that has it.
    ///
    /// # Errors
    ///
    /// If the operating system gives no randomness.
    pub fn with_keys(
        keys: impl Into<StateKeys>,
        limits: ParkLimits,
    ) -> Result<Arc<Self>, getrandom::Error> {
        let mut replica = [0; 8];
        getrandom::fill(&mut replica)?;
        // A state must not expire before the call that it names.
        let lifetime = limits.question_timeout + limits.outcomes + SWEEP;
        let sealer = Sealer::new(keys, lifetime);
        let (replica, calls) = (u64::from_ne_bytes(replica), Mutex::default());
        Ok(Arc::new(Self { limits, sealer, replica, calls }))
    }

    /// The limits.
    pub fn limits(&self) -> &ParkLimits {
        &self.limits
    }

    /// How many calls are parked, run again, or are kept for their outcome.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Opens a state for the call that returned it.
    ///
    /// # Errors
    ///
    /// If the state was not sealed here for this call, or has expired.
    pub(super) fn read(&self, sealed: &str, binding: &Binding) -> Result<State, BadState> {
        let opened = self.sealer.open(sealed, binding, system_now())?;
        text(&opened.plain).and_then(read).map_err(|_| BadState)
    }

    /// Seals a state for a call; `None` if it cannot be sealed.
    pub(super) fn seal(&self, state: &State, binding: &Binding) -> Option<String> {
        let plain = serde_json::to_vec(state).ok()?;
        self.sealer.seal(&plain, binding, system_now()).ok()
    }

    /// The state that names a parked call.
    pub(super) fn name(&self, id: ParkId, round: u32) -> State {
        State::Parked { replica: self.replica, id, round }
    }

    /// Parks a call.
    ///
    /// # Errors
    ///
    /// Gives it back if all owners together have too many.
    pub(super) fn park(
        self: &Arc<Self>,
        asker: &Arc<Asker>,
        parked: Box<Parked>,
    ) -> Result<(), Box<Parked>> {
        // Dropped after the lock, because dropping a call runs code of others.
        let ended;
        let mut calls = self.lock();
        let is_known = calls.entries.contains_key(&parked.id);
        let (in_all, of_owner) = calls.parked(&asker.owner);
        // Outcomes count too, since a caller decides how many there are.
        let kept = calls.entries.len() - usize::from(is_known);
        if in_all >= self.limits.in_all || kept >= 2 * self.limits.in_all {
            return Err(parked);
        }
        if of_owner >= self.limits.per_owner {
            ended = calls.end_oldest(&asker.owner, &self.limits);
            if ended.is_none() {
                return Err(parked);
            }
        }
        // From here on another round may begin. A call that is given back goes on in its round.
        parked.switch.disconnect();
        let until = Instant::now() + self.limits.question_timeout;
        let entry = calls.entries.entry(parked.id).or_insert_with(|| Entry {
            asker: asker.clone(),
            place: Place::Ended,
            outcomes: Vec::new(),
        });
        entry.place = Place::Parked(parked, until);
        if !std::mem::replace(&mut calls.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        Ok(())
    }

    /// Takes a call out for the round that a retry begins.
    pub(super) fn take(&self, replica: u64, id: ParkId, round: u32) -> Taken {
        let mut calls = self.lock();
        if replica != self.replica {
            return Taken::Elsewhere;
        }
        let Some(entry) = calls.entries.get_mut(&id) else { return Taken::Unknown };
        if let Some(outcome) = entry.outcomes.iter().find(|outcome| outcome.round == round) {
            return Taken::Outcome(outcome.response.clone());
        }
        match std::mem::replace(&mut entry.place, Place::Running) {
            Place::Parked(parked, _) if parked.round == round => Taken::Parked(parked),
            Place::Running => Taken::Running,
            other => {
                entry.place = other;
                Taken::Unknown
            }
        }
    }

    /// Keeps the outcome of a round for the same retry, if there is room.
    pub(super) fn keep(&self, id: ParkId, round: u32, response: &Response) {
        self.lock().keep((id, round), response, &self.limits);
    }

    /// Notes that a call that ran has ended, or that its caller went away.
    pub(super) fn end(&self, id: ParkId) {
        let mut calls = self.lock();
        if let Some(entry) = calls.entries.get_mut(&id)
            && matches!(entry.place, Place::Running)
        {
            entry.place = Place::Ended;
            if entry.outcomes.is_empty() {
                calls.entries.remove(&id);
            }
        }
    }

    /// Drops what has expired; returns whether anything is left.
    fn drop_expired(&self, now: Instant) -> bool {
        let mut calls = self.lock();
        let mut expired = Vec::new();
        calls.entries.retain(|_, entry| {
            if matches!(entry.place, Place::Parked(_, until) if until <= now) {
                expired.push(std::mem::replace(&mut entry.place, Place::Ended));
            }
            entry.outcomes.retain(|outcome| outcome.until > now);
            !(matches!(entry.place, Place::Ended) && entry.outcomes.is_empty())
        });
        let is_left = !calls.entries.is_empty();
        calls.is_swept = is_left;
        // Outside of the lock, because dropping a call runs code of others.
        drop(calls);
        drop(expired);
        is_left
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        lock(&self.calls)
    }
}

impl Calls {
    /// How many calls are parked, in all and of one owner.
    fn parked(&self, owner: &Owner) -> (usize, usize) {
        let is_parked = |entry: &&Entry| matches!(entry.place, Place::Parked(..));
        let (mut in_all, mut of_owner) = (0, 0);
        for entry in self.entries.values().filter(is_parked) {
            in_all += 1;
            of_owner += usize::from(entry.asker.owner == *owner);
        }
        (in_all, of_owner)
    }

    /// Ends the oldest parked call of an owner, of the peer that has most of them. Otherwise callers
    /// that never answer would keep others without credentials from asking.
    fn end_oldest(&mut self, owner: &Owner, limits: &ParkLimits) -> Option<Box<Parked>> {
        let of_owner = |entry: &Entry| match entry.place {
            Place::Parked(_, until) => Some(until).filter(|_| entry.asker.owner == *owner),
            Place::Running | Place::Ended => None,
        };
        let mut of_peers: HashMap<_, usize> = HashMap::new();
        for entry in self.entries.values().filter(|entry| of_owner(entry).is_some()) {
            *of_peers.entry(&entry.asker.peer).or_default() += 1;
        }
        let parked = self.entries.iter().filter_map(|(id, entry)| {
            Some((Reverse(of_peers.get(&entry.asker.peer)), of_owner(entry)?, *id))
        });
        let (_, _, id) = parked.min_by_key(|(of_peer, until, _)| (*of_peer, *until))?;
        let entry = self.entries.get_mut(&id)?;
        let Place::Parked(parked, _) = std::mem::replace(&mut entry.place, Place::Ended) else {
            return None;
        };
        let error = "this call waited for an answer while others asked; call again";
        self.keep((id, parked.round), &Err(ErrorObject::internal(error)), limits);
        Some(parked)
    }

    /// Keeps the outcome of a round, if there is room.
    fn keep(&mut self, (id, round): (ParkId, u32), response: &Response, limits: &ParkLimits) {
        let (until, bytes) = (Instant::now() + limits.outcomes, length(response));
        let Some(owner) = self.entries.get(&id).map(|entry| entry.asker.owner.clone()) else {
            return;
        };
        if self.make_room(&owner, bytes, limits)
            && let Some(entry) = self.entries.get_mut(&id)
        {
            let response = response.clone();
            entry.outcomes.push(RoundOutcome { round, response, bytes, until });
        }
    }

    /// Makes room for another outcome of an owner; drops the oldest of its others for that. Gives
    /// whether there is room.
    fn make_room(&mut self, owner: &Owner, bytes: usize, limits: &ParkLimits) -> bool {
        if bytes > limits.outcome_bytes_per_owner {
            return false;
        }
        loop {
            let of_all = self.entries.values().flat_map(|entry| &entry.outcomes);
            let in_all: usize = of_all.map(|outcome| outcome.bytes).sum();
            let of_owner = self.entries.values().filter(|entry| entry.asker.owner == *owner);
            let lengths: Vec<usize> = of_owner
                .flat_map(|entry| entry.outcomes.iter().map(|outcome| outcome.bytes))
                .collect();
            let has_room = lengths.len() < limits.outcomes_per_owner
                && lengths.iter().sum::<usize>() + bytes <= limits.outcome_bytes_per_owner
                && in_all + bytes <= limits.outcome_bytes_in_all;
            if has_room || !self.drop_oldest(owner) {
                return has_room;
            }
        }
    }

    /// Drops the oldest outcome of an owner. Gives whether there was one.
    fn drop_oldest(&mut self, owner: &Owner) -> bool {
        let of_owner = self.entries.values_mut().filter(|entry| entry.asker.owner == *owner);
        // The first of an entry is its oldest.
        let with_outcomes = of_owner.filter(|entry| !entry.outcomes.is_empty());
        let Some(entry) = with_outcomes.min_by_key(|entry| entry.outcomes[0].until) else {
            return false;
        };
        entry.outcomes.remove(0);
        true
    }
}

/// How many bytes a response keeps.
fn length(response: &Response) -> usize {
    match response {
        Ok(success) => success.body().as_str().len(),
        Err(error) => {
            error.message.len() + error.data.as_ref().map_or(0, |data| data.as_str().len())
        }
    }
}

/// Drops expired calls until the lot is empty or gone.
async fn sweep(lot: Weak<ParkingLot>) {
    loop {
        sleep(SWEEP).await;
        let is_left = lot.upgrade().is_some_and(|lot| lot.drop_expired(Instant::now()));
        if !is_left {
            return;
        }
    }
}

/// The time that states expire by.
#[allow(clippy::disallowed_methods, reason = "states expire by the clock of the machine")]
fn system_now() -> SystemTime {
    SystemTime::now()
}

impl fmt::Debug for ParkingLot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkingLot").field("calls", &self.len()).finish_non_exhaustive()
    }
}
