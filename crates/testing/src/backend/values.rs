//! Values on their own: versions, expiry, and keys in which no letter is special.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bowline_store::backend::{Appended, Backend, Expect, Key, NewItem, Position, Written};
use bowline_store::suite;
use bytes::Bytes;

use super::BackendUnderTest;
use super::threads::{LONG, PATIENCE};

/// How late an entry may expire.
const LATE: Duration = Duration::from_secs(1);

/// Runs the sequential tests, and those of values.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn values(subject: &dyn BackendUnderTest) {
    let stores = AtomicUsize::new(0);
    let make = || async {
        let number = stores.fetch_add(1, Ordering::Relaxed);
        Arc::new(subject.open(&format!("sequential-{number}")).await)
    };
    suite::passes(make).await;
    versions_never_repeat(subject).await;
    expiry_is_neither_early_nor_late(&*subject.open("expiry").await).await;
    expired_entries_do_not_exist(&*subject.open("expired").await).await;
    every_letter_is_literal(subject).await;
}

async fn versions_never_repeat(subject: &dyn BackendUnderTest) {
    let key = Key::new(["version"]);
    let mut versions = HashSet::new();
    for _ in 0..4 {
        // Opened again each time, as after a restart.
        let (one, two) = (subject.open("versions").await, subject.open("versions").await);
        for round in 0..25 {
            for store in [&one, &two] {
                let expiry = if round % 3 == 0 { Duration::ZERO } else { LONG };
                let put = store.put(&key, "x".into(), expiry, Expect::Anything).await;
                let Ok(Written::Yes(version)) = put else {
                    panic!("set without condition: {put:?}")
                };
                assert!(versions.insert(version.0), "a version is never used twice: {version:?}");
                if round % 5 == 0 {
                    store.delete(&key).await.unwrap();
                }
            }
        }
    }
}

/// By how much the clock of a database may differ from that of the test: it counts milliseconds, perhaps
/// on another processor.
const CLOCKS_DIFFER: Duration = Duration::from_millis(2);

/// A point in time by both clocks. A database counts by the time of day, which a machine may set
/// forward at any moment.
struct Begin {
    instant: Instant,
    time: SystemTime,
}

impl Begin {
    fn now() -> Self {
        Self { instant: Instant::now(), time: SystemTime::now() }
    }

    /// The time since, by the clock that counted more.
    fn elapsed(&self) -> Duration {
        self.instant.elapsed().max(self.time.elapsed().unwrap_or_default())
    }
}

async fn expiry_is_neither_early_nor_late(store: &dyn Backend) {
    let (key, log) = (Key::new(["value"]), Key::new(["log"]));
    let expiry = Duration::from_millis(300);
    let begin = Begin::now();
    store.put(&key, "x".into(), expiry, Expect::Anything).await.unwrap();
    store.append(&log, NewItem::new("x", expiry)).await.unwrap();
    let written = Instant::now();
    let (mut has_value, mut has_log) = (true, true);
    while has_value || has_log {
        let asked = Instant::now();
        let is_there = store.get(&key).await.unwrap().is_some();
        let is_log = !store.read(&log, Position(0), 1).await.unwrap().items.is_empty();
        // What is gone was there until its time.
        let elapsed = begin.elapsed();
        let is_early = elapsed + CLOCKS_DIFFER < expiry;
        assert!(
            !is_early || (is_there && is_log),
            "an entry does not expire before its time: after {elapsed:?} of {expiry:?} the value is \
             there: {is_there}, and the log: {is_log}"
        );
        let is_late = asked > written + expiry + LATE;
        assert!(!is_late || !(is_there || is_log), "an entry expires at most a second late");
        (has_value, has_log) = (is_there, is_log);
        tokio::task::yield_now().await;
    }
    assert!(begin.instant.elapsed() < PATIENCE, "reads take long");
    let position = store.append(&log, NewItem::new("again", LONG)).await.unwrap();
    assert_eq!(position, Appended::At(Position(1)), "a log that has expired begins anew");
}

async fn expired_entries_do_not_exist(store: &dyn Backend) {
    let (key, log) = (Key::new(["value"]), Key::new(["log"]));
    let put = store.put(&key, "x".into(), Duration::ZERO, Expect::Anything).await.unwrap();
    let Written::Yes(version) = put else { panic!("set without condition") };
    let put = store.put(&key, "y".into(), LONG, Expect::Version(version)).await.unwrap();
    assert_eq!(put, Written::Conflict, "the version of an expired value does not match");
    assert!(!store.delete(&key).await.unwrap(), "an expired value cannot be deleted");
    store.append(&log, NewItem::new("x", Duration::ZERO)).await.unwrap();
    assert!(!store.delete(&log).await.unwrap(), "an expired log cannot be deleted");
}

/// Letters that are special in patterns, queries, hash tags and paths somewhere.
const PARTS: &[&str] = &[
    "*",
    "?",
    "[a-z]",
    "{a}",
    "{b}",
    "%",
    "_",
    "'",
    "\"",
    "\\",
    "--",
    ";",
    " ",
    ".",
    "..",
    "é",
    "\u{10FFFF}",
    "\n",
    "\r\n",
    "\0",
    "a\0b",
    "A",
    "a",
    "",
];

async fn every_letter_is_literal(subject: &dyn BackendUnderTest) {
    let (one, two) = (subject.open("letters").await, subject.open("letters").await);
    let all: Bytes = (0..=u8::MAX).cycle().take(1000).collect::<Vec<_>>().into();
    for (number, part) in PARTS.iter().enumerate() {
        let value = all.slice(number..);
        one.put(&Key::new(["letters", part]), value.clone(), LONG, Expect::Anything).await.unwrap();
        one.append(&Key::new(["letters", part]), NewItem::new(value, LONG)).await.unwrap();
    }
    let mut expected: Vec<_> = PARTS.iter().map(|part| Key::new(["letters", part])).collect();
    expected.sort();
    let found = two.scan(&Key::new(["letters", ""]), None, 100).await.unwrap();
    assert_eq!(found, expected, "keys are sorted by their bytes, and none is special");
    for (number, part) in PARTS.iter().enumerate() {
        let (key, value) = (Key::new(["letters", part]), all.slice(number..));
        let entry = two.get(&key).await.unwrap().expect("every key has a value of its own");
        assert!(entry.value == value, "values are bytes: {part:?}");
        let read = two.read(&key, Position(0), 10).await.unwrap();
        assert!(read.items.len() == 1 && read.items[0].value == value, "so are items: {part:?}");
        let found = two.scan(&key, None, 100).await.unwrap();
        let is_longer = |key: &&Key| key.as_str().starts_with(&format!("letters/{part}"));
        let longer: Vec<_> = expected.iter().filter(is_longer).cloned().collect();
        assert_eq!(found, longer, "a prefix is no pattern: {part:?}");
    }
    let empty = Key::new(["empty"]);
    one.put(&empty, Bytes::new(), LONG, Expect::Anything).await.unwrap();
    assert_eq!(two.get(&empty).await.unwrap().expect("an empty value is a value").value, "");
}
