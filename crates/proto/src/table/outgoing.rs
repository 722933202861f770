//! Requests that this side sent and that await an answer, with their deadlines.
//!
//! Ids count up from 1 and are never reused. The answer to a cancelled or timed-out request is
//! recognised as late; an answer to any other id is unknown.
//!
//! A client has its calls here, a server the questions to its client. The value says what to do
//! with the answer. Time is passed in; [`next_deadline`](OutgoingRequests::next_deadline) says when
//! to look again.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use bowline_types::id::RequestId;

use super::hash::CountedKeys;

/// Requests that await an answer, each with a value of the caller.
///
/// Ids are never reused (RPC-4), so an answer cannot reach the wrong request, however late it
/// comes.
#[derive(Debug)]
pub struct OutgoingRequests<T> {
    waiting: HashMap<i64, Entry<T>, CountedKeys>,
    /// The same requests in the order in which they time out.
    deadlines: BTreeSet<(Instant, i64)>,
    /// The newest ids that are not awaited any more, at most `remembered`.
    abandoned: VecDeque<i64>,
    remembered: usize,
    last: i64,
}

/// A request that awaits an answer.
#[derive(Debug)]
struct Entry<T> {
    value: T,
    deadline: Instant,
    timing: Timing,
    /// Set while its clock is stopped: its own timeout and its longest time.
    held: Option<Box<(Duration, Duration)>>,
    /// When its clock began.
    since: Instant,
}

/// How long a request may take. Progress may restart the first time (TIME-5) but never moves the
/// second (TIME-6).
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How long to wait without a sign of life.
    pub timeout: Duration,
    /// The latest time, whatever signs of life there are.
    pub maximum: Instant,
}

/// A request that timed out.
#[derive(Debug, PartialEq, Eq)]
pub struct Expired<T> {
    /// Its id.
    pub id: i64,
    /// The value that was stored with it.
    pub value: T,
    /// Whether [`Timing::maximum`] was reached, and not only [`Timing::timeout`].
    pub at_maximum: bool,
    /// Whether its clock had been [stopped](OutgoingRequests::hold) for too long.
    pub was_held: bool,
}

/// The request that an answer names. A late answer is dropped in silence (CANC-9); an unknown one
/// is worth a line in a log.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken<T> {
    /// The request was awaited.
    Awaited(T),
    /// The request was cancelled or timed out before.
    Late,
    /// No such request, or it was answered already.
    Unknown,
}

impl<T> OutgoingRequests<T> {
    /// An empty table that remembers the ids of `remembered` cancelled requests.
    pub fn new(remembered: usize) -> Self {
        Self {
            waiting: HashMap::default(),
            deadlines: BTreeSet::new(),
            abandoned: VecDeque::new(),
            remembered,
            last: 0,
        }
    }

    /// Continues after this id, because another connection uses the ids up to it.
    #[must_use]
    pub fn counting_on(mut self, last: i64) -> Self {
        self.count_after(last);
        self
    }

    /// The same, for a table in use.
    pub fn count_after(&mut self, last: i64) {
        self.last = last;
    }

    /// The id that the next [`insert`](Self::insert) will give.
    pub fn next_id(&self) -> i64 {
        self.last + 1
    }

    /// Adds a request and gives its id.
    pub fn insert(&mut self, value: T, timing: Timing, now: Instant) -> i64 {
        self.last += 1;
        let deadline = timing.deadline(now);
        self.deadlines.insert((deadline, self.last));
        self.waiting.insert(self.last, Entry { value, deadline, timing, held: None, since: now });
        self.last
    }

    /// The id for a request whose answer is ignored: it counts as late. For requests such as
    /// `resources/unsubscribe`, whose outcome changes nothing.
    pub fn unawaited(&mut self) -> i64 {
        self.last += 1;
        self.remember(self.last);
        self.last
    }

    /// Removes the request that an answer names.
    pub fn take(&mut self, id: &RequestId) -> Taken<T> {
        let Some(id) = id.as_integer() else { return Taken::Unknown };
        match self.remove(id) {
            Some(value) => Taken::Awaited(value),
            None if self.abandoned.contains(&id) => Taken::Late,
            None => Taken::Unknown,
        }
    }

    /// Cancels a request. Its answer will be late. Gives the value, so that the caller can tell the
    /// peer.
    pub fn abandon(&mut self, id: i64) -> Option<T> {
        let value = self.remove(id)?;
        self.remember(id);
        Some(value)
    }

    /// The value of a request that is still awaited.
    pub fn get(&self, id: i64) -> Option<&T> {
        self.waiting.get(&id).map(|entry| &entry.value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, id: i64) -> Option<&mut T> {
        self.waiting.get_mut(&id).map(|entry| &mut entry.value)
    }

    /// Restarts the timeout of a request that showed a sign of life.
    pub fn touch(&mut self, id: i64, now: Instant) {
        if let Some(entry) = self.waiting.get_mut(&id) {
            self.deadlines.remove(&(entry.deadline, id));
            entry.deadline = entry.timing.deadline(now);
            self.deadlines.insert((entry.deadline, id));
        }
    }

    /// Sets other times for a request.
    pub fn retime(&mut self, id: i64, timing: Timing, now: Instant) {
        if let Some(entry) = self.waiting.get_mut(&id) {
            entry.timing = timing;
            self.touch(id, now);
        }
    }

    /// Stops the clock of a request that cannot be sent yet, for at most this long.
    pub fn hold(&mut self, id: i64, longest: Duration, now: Instant) {
        if let Some(entry) = self.waiting.get_mut(&id).filter(|entry| entry.held.is_none()) {
            let maximum = now.checked_add(longest).unwrap_or(entry.timing.maximum);
            let timing = Timing { timeout: longest, maximum };
            let own = std::mem::replace(&mut entry.timing, timing);
            let longest = own.maximum.saturating_duration_since(entry.since);
            entry.held = Some(Box::new((own.timeout, longest)));
            self.touch(id, now);
        }
    }

    /// Starts the clock of a request anew, because the request is sent anew.
    pub fn release(&mut self, id: i64, now: Instant) {
        let Some(entry) = self.waiting.get_mut(&id) else { return };
        let Some(held) = entry.held.take() else { return };
        let (timeout, longest) = *held;
        let maximum = now.checked_add(longest).unwrap_or(entry.timing.maximum);
        (entry.since, entry.timing) = (now, Timing { timeout, maximum });
        self.touch(id, now);
    }

    /// Restarts every timeout, while the peer waits for this side.
    pub fn touch_all(&mut self, now: Instant) {
        for id in self.ids() {
            self.touch(id, now);
        }
    }

    /// Removes the next request that has timed out. Call it until it gives `None`. The request
    /// counts as abandoned.
    pub fn expire(&mut self, now: Instant) -> Option<Expired<T>> {
        let &(deadline, id) = self.deadlines.first()?;
        if now < deadline {
            return None;
        }
        let entry = self.waiting.get(&id);
        let at_maximum = entry.is_some_and(|entry| entry.timing.maximum <= now);
        let was_held = entry.is_some_and(|entry| entry.held.is_some());
        self.abandon(id).map(|value| Expired { id, value, at_maximum, was_held })
    }

    /// When the next request times out.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// How many requests await an answer.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no request awaits an answer.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The ids of all requests, in the order they were sent.
    pub fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<_> = self.waiting.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The id of the first request that satisfies a condition.
    pub fn find(&self, mut condition: impl FnMut(&T) -> bool) -> Option<i64> {
        self.ids().into_iter().find(|id| self.waiting.get(id).is_some_and(|e| condition(&e.value)))
    }

    /// Remembers an id, so that its answer is recognised as late.
    fn remember(&mut self, id: i64) {
        self.abandoned.push_back(id);
        if self.abandoned.len() > self.remembered {
            self.abandoned.pop_front();
        }
    }

    fn remove(&mut self, id: i64) -> Option<T> {
        let entry = self.waiting.remove(&id)?;
        self.deadlines.remove(&(entry.deadline, id));
        Some(entry.value)
    }
}

impl Timing {
    fn deadline(self, now: Instant) -> Instant {
        // A timeout that is too long to add is cut at the maximum.
        now.checked_add(self.timeout).map_or(self.maximum, |deadline| deadline.min(self.maximum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn start() -> Instant {
        Instant::now()
    }

    fn timing(now: Instant) -> Timing {
        Timing { timeout: Duration::from_secs(10), maximum: now + Duration::from_secs(25) }
    }

    // spec: RPC-4, RPC-5
    #[test]
    fn an_id_is_never_used_again() {
        let now = start();
        let mut table = OutgoingRequests::new(4);
        let first = table.insert('a', timing(now), now);
        assert_eq!(table.take(&first.into()), Taken::Awaited('a'));
        assert_ne!(table.insert('b', timing(now), now), first);
    }

    #[test]
    fn a_late_answer_differs_from_an_unknown_one() {
        let now = start();
        let mut table = OutgoingRequests::new(1);
        let ids: Vec<_> = "abc".chars().map(|c| table.insert(c, timing(now), now)).collect();
        table.abandon(ids[0]);
        table.abandon(ids[1]);
        assert_eq!(table.take(&ids[1].into()), Taken::Late);
        assert_eq!(table.take(&ids[0].into()), Taken::Unknown, "only one is remembered");
        assert_eq!(table.take(&99.into()), Taken::Unknown);
        assert_eq!(table.take(&"1".into()), Taken::Unknown);
    }

    #[test]
    fn the_answer_to_a_request_that_awaits_none_is_late() {
        let now = start();
        let mut table = OutgoingRequests::new(4);
        let first = table.insert('a', timing(now), now);
        let second = table.unawaited();
        assert_eq!(second, first + 1);
        assert_eq!(table.take(&second.into()), Taken::Late);
        assert_eq!(table.next_id(), second + 1);
    }

    #[test]
    fn a_request_can_be_given_more_time() {
        let now = start();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut table = OutgoingRequests::new(4);
        let id = table.insert('a', timing(now), now);
        let more = Timing { timeout: Duration::from_secs(100), maximum: after(200) };
        table.retime(id, more, after(5));
        assert_eq!(table.next_deadline(), Some(after(105)));
        assert_eq!(table.expire(after(104)), None);
    }

    #[test]
    fn the_clock_of_a_request_can_be_stopped_and_started_anew() {
        let now = start();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut table = OutgoingRequests::new(4);
        let id = table.insert('a', timing(now), now);
        table.hold(id, Duration::from_secs(600), after(5));
        // A second stop does not prolong the first.
        table.hold(id, Duration::from_secs(600), after(100));
        assert_eq!(table.next_deadline(), Some(after(605)));
        table.release(id, after(500));
        assert_eq!(table.next_deadline(), Some(after(510)));
        table.touch(id, after(509));
        table.touch(id, after(518));
        assert_eq!(table.next_deadline(), Some(after(525)), "its maximum, from the new start");
        table.hold(id, Duration::from_secs(600), after(520));
        let expired = Expired { id, value: 'a', at_maximum: true, was_held: true };
        assert_eq!(table.expire(after(520 + 600)), Some(expired));
    }

    // spec: TIME-1, TIME-5, TIME-6
    #[test]
    fn a_sign_of_life_restarts_the_clock_up_to_a_maximum() {
        let now = start();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut table = OutgoingRequests::new(4);
        let id = table.insert('a', timing(now), now);
        assert_eq!(table.next_deadline(), Some(after(10)));
        table.touch(id, after(9));
        assert_eq!(table.expire(after(18)), None);
        table.touch(id, after(18));
        assert_eq!(table.next_deadline(), Some(after(25)));
        let expired = Expired { id, value: 'a', at_maximum: true, was_held: false };
        assert_eq!(table.expire(after(25)), Some(expired));
        assert_eq!(table.next_deadline(), None);
    }
}
