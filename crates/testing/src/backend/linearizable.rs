//! A checker of linearizability, after Wing and Gong, with the cache of Lowe.
//!
//! A history is linearizable if its calls can be put into an order that a sequential model allows
//! and in which no call comes before one that had returned before it began. The search takes the
//! calls that may come next one after the other, and goes back when the model refuses them all. A
//! set of calls that led to a state once need not be tried again.

use std::collections::HashSet;
use std::hash::Hash;

/// A call, when it began and when it returned, by one clock for all callers.
#[derive(Clone, Debug)]
pub(super) struct Timed<C> {
    pub(super) began: u64,
    /// `None` if it failed: it may have taken effect at any time since, or never.
    pub(super) returned: Option<u64>,
    pub(super) call: C,
}

/// What one caller may do at a time.
pub(super) trait Model {
    type State: Clone + Eq + Hash + Default;

    /// The state after this call, or `None` if the call cannot have had its result in this state.
    fn after(&self, state: &Self::State) -> Option<Self::State>;
}

/// Whether the history has an order that the model allows.
pub(super) fn is_linearizable<C: Model>(history: &[Timed<C>]) -> bool {
    Search::new(history).succeeds()
}

/// The events of a history in the order of time, as a list from which calls are taken and to which
/// they return. Event 0 is the head.
struct Search<'a, C: Model> {
    history: &'a [Timed<C>],
    events: Vec<Event>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// The events of a call: its begin, and its return if it returned.
    places: Vec<(usize, Option<usize>)>,
    taken: Vec<u64>,
    /// How many calls returned and are not taken yet.
    open: usize,
}

#[derive(Clone, Copy)]
enum Event {
    Head,
    Begin(usize),
    Return,
}

/// The end of the list.
const END: usize = usize::MAX;

impl<'a, C: Model> Search<'a, C> {
    fn new(history: &'a [Timed<C>]) -> Self {
        let begins = history.iter().enumerate().map(|(call, it)| (it.began, call, true));
        let returns = history.iter().enumerate();
        let returns = returns.filter_map(|(call, it)| Some((it.returned?, call, false)));
        let mut times: Vec<_> = begins.chain(returns).collect();
        times.sort_unstable();
        let mut events = vec![Event::Head];
        let mut places = vec![(0, None); history.len()];
        for (_, call, is_begin) in times {
            if is_begin {
                places[call].0 = events.len();
                events.push(Event::Begin(call));
            } else {
                places[call].1 = Some(events.len());
                events.push(Event::Return);
            }
        }
        let count = events.len();
        let next = (1..=count).map(|event| if event == count { END } else { event }).collect();
        let previous = (0..count).map(|event| event.saturating_sub(1)).collect();
        let taken = vec![0; history.len().div_ceil(64)];
        let open = history.iter().filter(|call| call.returned.is_some()).count();
        Self { history, events, next, previous, places, taken, open }
    }

    fn succeeds(mut self) -> bool {
        let mut seen = HashSet::new();
        let mut state = C::State::default();
        let mut path: Vec<(usize, C::State)> = Vec::new();
        let mut event = self.next[0];
        while self.open > 0 {
            let begun = if event == END { None } else { self.begun(event) };
            if let Some(call) = begun {
                let after = self.history[call].call.after(&state);
                let is_new = |after: &C::State| {
                    let mut taken = self.taken.clone();
                    taken[call / 64] |= 1 << (call % 64);
                    seen.insert((taken, after.clone()))
                };
                match after.filter(is_new) {
                    Some(after) => {
                        path.push((call, std::mem::replace(&mut state, after)));
                        self.take(call);
                        event = self.next[0];
                    }
                    None => event = self.next[event],
                }
            } else {
                // A call has returned here that no order has taken before: go back.
                let Some((call, before)) = path.pop() else { return false };
                state = before;
                self.put_back(call);
                event = self.next[self.places[call].0];
            }
        }
        true
    }

    /// The call that begins at an event, if one does.
    fn begun(&self, event: usize) -> Option<usize> {
        match self.events[event] {
            Event::Begin(call) => Some(call),
            Event::Head | Event::Return => None,
        }
    }

    fn take(&mut self, call: usize) {
        self.taken[call / 64] |= 1 << (call % 64);
        let (begin, returned) = self.places[call];
        self.open -= usize::from(returned.is_some());
        for event in [Some(begin), returned].into_iter().flatten() {
            let (previous, next) = (self.previous[event], self.next[event]);
            self.next[previous] = next;
            if next != END {
                self.previous[next] = previous;
            }
        }
    }

    /// In the opposite order of [`take`](Self::take), so each event finds its old neighbours.
    fn put_back(&mut self, call: usize) {
        self.taken[call / 64] &= !(1 << (call % 64));
        let (begin, returned) = self.places[call];
        self.open += usize::from(returned.is_some());
        for event in [returned, Some(begin)].into_iter().flatten() {
            let (previous, next) = (self.previous[event], self.next[event]);
            self.next[previous] = event;
            if next != END {
                self.previous[next] = event;
            }
        }
    }
}

#[cfg(test)]
mod tests;
