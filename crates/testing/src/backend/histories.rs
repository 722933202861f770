//! Random operations of several callers at once, each of which must take effect at one instant.
//!
//! Linearizability holds for a store if it holds for each of its keys, so each key has a history of
//! its own. A failed write counts as "maybe"; a failed read counts as never made.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bowline_store::backend::{Appended, Backend, Expect, Key, NewItem, Position, Version, Written};
use bytes::Bytes;
use tokio::task::{JoinError, JoinSet};

use super::BackendUnderTest;
use super::linearizable::{Model, Timed, is_linearizable};
use super::random::Random;
use super::threads::{LONG, on_threads};

/// How many histories run at the same time, each on keys of its own.
const AT_ONCE: u64 = 4;
const CALLERS: usize = 8;
/// Of each caller: 1,000 operations in all.
const OPERATIONS: u64 = 125;
const VALUES: u64 = 4;
const LOGS: u64 = 2;

/// [Histories](BackendUnderTest::histories) of 1,000 operations each, by eight callers on two handles.
///
/// # Panics
///
/// If a history is not linearizable. The message names the seed.
pub async fn histories(subject: &dyn BackendUnderTest) {
    let stores = [subject.open("histories").await, subject.open("histories").await];
    let (count, mut running) = (subject.histories(), JoinSet::new());
    for first in 0..AT_ONCE.min(count) {
        let stores = stores.clone();
        running.spawn(async move {
            for seed in (first..count).step_by(AT_ONCE as usize) {
                run(stores.clone(), seed).await;
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap_or_else(go_on_panicking);
    }
}

/// Records one history, and checks it.
async fn run(stores: [Arc<dyn Backend>; 2], seed: u64) {
    let clock = Arc::new(AtomicU64::new(0));
    let recorded = on_threads(CALLERS, move |caller| {
        let store = stores[caller % 2].clone();
        let numbers = (caller as u64 + 1) << 32;
        let random = Random::new(seed * CALLERS as u64 + caller as u64);
        let clock = clock.clone();
        let seen = HashMap::new();
        Caller { store, seed, clock, random, numbers, seen, history: History::default() }.run()
    });
    let recorded = recorded.await;
    // On another thread: the others go on, and a backend may have its connection on this one.
    let checked = tokio::task::spawn_blocking(move || History::check(recorded, seed)).await;
    checked.unwrap_or_else(go_on_panicking);
}

fn go_on_panicking(error: JoinError) {
    std::panic::resume_unwind(error.into_panic());
}

/// What was called on a value, and what it returned. Values and versions are numbers.
#[derive(Clone, Debug)]
enum ValueCall {
    Get(Option<(u64, u64)>),
    /// The version is `None` if it conflicted, and if the call failed and no read has seen its value.
    Put {
        value: u64,
        expect: Expect,
        written: Option<u64>,
        is_conflict: bool,
    },
    /// `None` if it failed.
    Delete(Option<bool>),
}

impl Model for ValueCall {
    type State = Option<(u64, Option<u64>)>;

    fn after(&self, state: &Self::State) -> Option<Self::State> {
        match self {
            Self::Get(found) => {
                let expected = found.map(|(value, version)| (value, Some(version)));
                (expected == *state).then_some(*state)
            }
            Self::Put { value, expect, written, is_conflict } => {
                let is_expected = match expect {
                    Expect::Anything => true,
                    Expect::Absent => state.is_none(),
                    Expect::Version(version) => {
                        state.is_some_and(|(_, now)| now == Some(version.0))
                    }
                };
                match (is_expected, is_conflict) {
                    (true, false) => Some(Some((*value, *written))),
                    (false, true) => Some(*state),
                    _ => None,
                }
            }
            Self::Delete(was_there) => {
                was_there.is_none_or(|was_there| was_there == state.is_some()).then_some(None)
            }
        }
    }
}

/// What was called on a log, and what it returned. Items are numbers.
#[derive(Clone, Debug)]
enum LogCall {
    /// The position is `None` if it failed.
    Append {
        item: u64,
        position: Option<u64>,
    },
    Read {
        after: u64,
        next: u64,
        items: Vec<(u64, u64)>,
    },
    /// `None` if it failed.
    Delete(Option<bool>),
}

impl Model for LogCall {
    type State = Vec<u64>;

    fn after(&self, state: &Vec<u64>) -> Option<Vec<u64>> {
        let next = state.len() as u64 + 1;
        match self {
            Self::Append { item, position } => {
                let is_next = position.is_none_or(|position| position == next);
                is_next.then(|| state.iter().copied().chain([*item]).collect())
            }
            Self::Read { after, next: seen, items } => {
                let stored = (1..).zip(state.iter().copied());
                let is_same = stored.skip(*after as usize).eq(items.iter().copied());
                (*seen == next && is_same).then(|| state.clone())
            }
            Self::Delete(was_there) => {
                let was_there = was_there.unwrap_or(!state.is_empty());
                (was_there != state.is_empty()).then(Vec::new)
            }
        }
    }
}

/// The calls on each key.
#[derive(Default)]
struct History {
    values: HashMap<u64, Vec<Timed<ValueCall>>>,
    logs: HashMap<u64, Vec<Timed<LogCall>>>,
}

impl History {
    fn check(callers: Vec<Self>, seed: u64) {
        let mut all = Self::default();
        for history in callers {
            for (key, calls) in history.values {
                all.values.entry(key).or_default().extend(calls);
            }
            for (key, calls) in history.logs {
                all.logs.entry(key).or_default().extend(calls);
            }
        }
        for (key, mut calls) in all.values {
            find_versions(&mut calls);
            assert!(is_linearizable(&calls), "value {key} of history {seed} is linearizable");
        }
        for (key, calls) in all.logs {
            assert!(is_linearizable(&calls), "log {key} of history {seed} is linearizable");
        }
    }
}

/// A write that failed, and took effect, has the version that a read has found its value with. Every
/// value is written once.
fn find_versions(calls: &mut [Timed<ValueCall>]) {
    let gets = calls.iter().filter_map(|it| match it.call {
        ValueCall::Get(found) => found,
        _ => None,
    });
    let found: HashMap<_, _> = gets.collect();
    for it in calls {
        if let ValueCall::Put { value, written, is_conflict: false, .. } = &mut it.call
            && written.is_none()
        {
            *written = found.get(value).copied();
        }
    }
}

/// One of the callers.
struct Caller {
    store: Arc<dyn Backend>,
    seed: u64,
    clock: Arc<AtomicU64>,
    random: Random,
    /// The last number that was written as a value or an item; no other caller has it.
    numbers: u64,
    /// The version that each value was last seen with.
    seen: HashMap<u64, Version>,
    history: History,
}

impl Caller {
    async fn run(mut self) -> History {
        for _ in 0..OPERATIONS {
            if self.random.below(3) > 0 {
                self.use_value().await;
            } else {
                self.use_log().await;
            }
        }
        self.history
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    async fn use_value(&mut self) {
        let number = self.random.below(VALUES);
        let key = Key::new(["value", &self.seed.to_string(), &number.to_string()]);
        let began = self.tick();
        let (call, has_failed) = match self.random.below(10) {
            0..4 => {
                let Ok(entry) = self.store.get(&key).await else { return };
                if let Some(entry) = &entry {
                    self.seen.insert(number, entry.version);
                }
                let found = entry.map(|entry| (read_number(&entry.value), entry.version.0));
                (ValueCall::Get(found), false)
            }
            4..9 => self.put(number, &key).await,
            _ => {
                let deleted = self.store.delete(&key).await.ok();
                (ValueCall::Delete(deleted), deleted.is_none())
            }
        };
        let returned = self.tick();
        let timed = Timed { began, returned: (!has_failed).then_some(returned), call };
        self.history.values.entry(number).or_default().push(timed);
    }

    async fn put(&mut self, number: u64, key: &Key) -> (ValueCall, bool) {
        let seen = self.seen.get(&number).copied();
        let expect = match (self.random.below(4), seen) {
            (0, _) => Expect::Anything,
            (1, _) | (_, None) => Expect::Absent,
            (_, Some(version)) => Expect::Version(version),
        };
        self.numbers += 1;
        let value = self.numbers;
        let put = self.store.put(key, number_bytes(value), LONG, expect).await;
        let written = match put {
            Ok(Written::Yes(version)) => Some(version),
            Ok(Written::Conflict) | Err(_) => None,
        };
        self.seen.extend(written.map(|version| (number, version)));
        let (is_conflict, has_failed) = (matches!(put, Ok(Written::Conflict)), put.is_err());
        let written = written.map(|version| version.0);
        (ValueCall::Put { value, expect, written, is_conflict }, has_failed)
    }

    async fn use_log(&mut self) {
        let number = self.random.below(LOGS);
        let key = Key::new(["log", &self.seed.to_string(), &number.to_string()]);
        let began = self.tick();
        let (call, has_failed) = match self.random.below(20) {
            0..11 => {
                self.numbers += 1;
                let item = self.numbers;
                let new = NewItem::new(number_bytes(item), LONG);
                let appended = self.store.append(&key, new).await.ok();
                let position = appended.and_then(Appended::position).map(|position| position.0);
                (LogCall::Append { item, position }, position.is_none())
            }
            11..19 => {
                let after = self.random.below(30);
                let Ok(read) = self.store.read(&key, Position(after), 1000).await else { return };
                let item = |item: bowline_store::backend::LogItem| {
                    (item.position.0, read_number(&item.value))
                };
                let items = read.items.into_iter().map(item).collect();
                (LogCall::Read { after, next: read.next.0, items }, false)
            }
            _ => {
                let deleted = self.store.delete(&key).await.ok();
                (LogCall::Delete(deleted), deleted.is_none())
            }
        };
        let returned = self.tick();
        let timed = Timed { began, returned: (!has_failed).then_some(returned), call };
        self.history.logs.entry(number).or_default().push(timed);
    }
}

fn number_bytes(number: u64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn read_number(value: &Bytes) -> u64 {
    value[..].try_into().map(u64::from_be_bytes).expect("a value is as it was written")
}
