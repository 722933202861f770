//! Tests that every backend must pass.
//!
//! [`passes`] runs them all. Call it in a test of the backend, with a function that makes a new and
//! empty one:
//!
//! ```
//! # use std::sync::Arc;
//! # use bowline_store::{MemoryBackend, suite};
//! # async fn test() {
//! suite::passes(|| async { Arc::new(MemoryBackend::default()) }).await;
//! # }
//! ```
//!
//! The tests use the trait alone and never wait: what has to expire gets an expiry of zero. A
//! backend for a database runs them against a real instance. `bowline_testing::backend` runs them
//! too, and tests what several callers, outages and crashes do to a backend.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;

use crate::backend::{Backend, BoxStream, Expect, Key, LogSlice, Position, Version, Written};
use crate::events::{EventLog, ReplayError};

/// An expiry that does not pass while these tests run.
const LONG: Duration = Duration::from_secs(3600);

/// Runs all tests, each with a new backend from `make`.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn passes<M, F, B>(make: M)
where
    M: Fn() -> F,
    F: Future<Output = Arc<B>>,
    B: Backend,
{
    values_are_kept(&*make().await).await;
    values_are_set_only_as_expected(&*make().await).await;
    values_expire(&*make().await).await;
    keys_are_scanned_in_order(&*make().await).await;
    logs_count_from_one(&*make().await).await;
    logs_are_read_from_anywhere(&*make().await).await;
    logs_expire_and_are_deleted(&*make().await).await;
    topics_reach_all_listeners(&*make().await).await;
    events_are_replayed_once_and_in_order(make().await).await;
    the_end_and_a_gap_are_reported(make().await).await;
}

async fn values_are_kept(store: &impl Backend) {
    let key = Key::new(["values", "a"]);
    assert_eq!(store.get(&key).await.unwrap(), None, "there is no value at first");
    let first = put(store, &key, "1", Expect::Anything).await.expect("set without condition");
    let entry = store.get(&key).await.unwrap().expect("the value is there");
    assert_eq!((entry.value, entry.version), (Bytes::from("1"), first));
    let second = put(store, &key, "2", Expect::Anything).await.expect("set again");
    assert_ne!(first, second, "a version is never used twice");
    assert!(store.delete(&key).await.unwrap(), "something was deleted");
    assert!(!store.delete(&key).await.unwrap(), "nothing is left to delete");
    assert_eq!(store.get(&key).await.unwrap(), None, "what was deleted is gone");
    let third = put(store, &key, "3", Expect::Anything).await.expect("set after a deletion");
    assert!(third != first && third != second, "a deletion does not reset versions");
}

async fn values_are_set_only_as_expected(store: &impl Backend) {
    let key = Key::new(["values", "guarded"]);
    let first = put(store, &key, "1", Expect::Absent).await.expect("there is no value");
    assert_eq!(put(store, &key, "2", Expect::Absent).await, None, "there is a value");
    let second = put(store, &key, "2", Expect::Version(first)).await.expect("the version is right");
    assert_eq!(
        put(store, &key, "3", Expect::Version(first)).await,
        None,
        "the version is outdated"
    );
    let entry = store.get(&key).await.unwrap().expect("a conflict removes nothing");
    assert_eq!((entry.value, entry.version), (Bytes::from("2"), second));
    store.delete(&key).await.unwrap();
    let stale = put(store, &key, "3", Expect::Version(second)).await;
    assert_eq!(stale, None, "the version of a deleted value does not match");
}

async fn values_expire(store: &impl Backend) {
    let key = Key::new(["values", "brief"]);
    store.put(&key, "x".into(), Duration::ZERO, Expect::Anything).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), None, "it has expired");
    assert_eq!(store.scan(&key, None, 10).await.unwrap(), [], "nor is it found");
    put(store, &key, "y", Expect::Absent).await.expect("what expired counts as absent");
    let forever = store.put(&key, "z".into(), Duration::MAX, Expect::Anything).await;
    assert!(matches!(forever, Ok(Written::Yes(_))), "as long as can be is long: {forever:?}");
    assert!(store.get(&key).await.unwrap().is_some(), "and not over at once");
}

async fn keys_are_scanned_in_order(store: &impl Backend) {
    let key = |name: &str| Key::new(["scan", name]);
    for name in ["c", "a", "b"] {
        put(store, &key(name), name, Expect::Anything).await.expect("set");
    }
    for other in [Key::new(["scam", "a"]), Key::new(["scax", "a"])] {
        put(store, &other, "", Expect::Anything).await.expect("set");
    }
    let prefix = Key::new(["scan", ""]);
    let all = [key("a"), key("b"), key("c")];
    assert_eq!(store.scan(&prefix, None, 10).await.unwrap(), all);
    assert_eq!(store.scan(&prefix, None, 2).await.unwrap(), all[..2], "no more than asked for");
    assert_eq!(store.scan(&prefix, Some(&key("a")), 10).await.unwrap(), all[1..], "after a key");
    assert_eq!(store.scan(&prefix, Some(&key("c")), 10).await.unwrap(), [], "after the last");
    let before = Key::new(["a"]);
    assert_eq!(store.scan(&prefix, Some(&before), 10).await.unwrap(), all, "after one before all");
}

async fn logs_count_from_one(store: &impl Backend) {
    let log = Key::new(["log", "a"]);
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "a log that does not exist is empty");
    for expected in 1..=5 {
        let position = store.append(&log, text(expected), LONG).await.unwrap();
        assert_eq!(position, Position(expected), "positions have no gaps");
    }
    let other = store.append(&Key::new(["log", "b"]), text(1), LONG).await.unwrap();
    assert_eq!(other, Position(1), "each log has positions of its own");
}

async fn logs_are_read_from_anywhere(store: &impl Backend) {
    let log = Key::new(["log", "read"]);
    for number in 1..=5 {
        store.append(&log, text(number), LONG).await.unwrap();
    }
    for after in 0..=5 {
        let found = read(store, &log, after).await;
        assert_eq!((found.oldest, found.next), (Position(1), Position(6)), "after {after}");
        let items: Vec<_> =
            found.items.iter().map(|item| (item.position.0, item.value.clone())).collect();
        let expected: Vec<_> = (after + 1..=5).map(|number| (number, text(number))).collect();
        assert_eq!(items, expected, "after {after}");
    }
    let two = store.read(&log, Position(1), 2).await.unwrap();
    assert_eq!(two.items.iter().map(|item| item.position.0).collect::<Vec<_>>(), [2, 3]);
    let beyond = read(store, &log, u64::MAX).await;
    assert_eq!(
        (beyond.next, beyond.items.len()),
        (Position(6), 0),
        "there is nothing beyond the end"
    );
}

async fn logs_expire_and_are_deleted(store: &impl Backend) {
    let log = Key::new(["log", "brief"]);
    store.append(&log, text(1), Duration::ZERO).await.unwrap();
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "it has expired");
    store.append(&log, text(1), LONG).await.unwrap();
    store.append(&log, text(2), LONG).await.unwrap();
    assert_eq!(read(store, &log, 0).await.items.len(), 2, "each item prolongs the log");
    assert!(store.delete(&log).await.unwrap(), "something was deleted");
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "what was deleted is gone");
}

async fn topics_reach_all_listeners(store: &impl Backend) {
    let (topic, other) = (Key::new(["topic", "a"]), Key::new(["topic", "b"]));
    store.publish(&topic, "no listener yet".into()).await.unwrap();
    let mut one = store.listen(&topic).await.unwrap();
    let mut two = store.listen(&topic).await.unwrap();
    store.publish(&other, "elsewhere".into()).await.unwrap();
    store.publish(&topic, "1".into()).await.unwrap();
    store.publish(&topic, "2".into()).await.unwrap();
    for listener in [&mut one, &mut two] {
        assert_eq!(received(listener).await, "1", "from now on, in order");
        assert_eq!(received(listener).await, "2");
    }
    drop(one);
    store.publish(&topic, "3".into()).await.unwrap();
    assert_eq!(received(&mut two).await, "3", "the other listener still receives");
}

async fn events_are_replayed_once_and_in_order(store: Arc<impl Backend>) {
    let log = EventLog::new(store, "session", 7, LONG);
    let mut early = log.replay(Position(0)).await.expect("an empty log has no gap");
    assert!(is_waiting(early.next()), "there is no event yet");
    // More than one read returns.
    for number in 1..=200 {
        log.append(&text(number), false).await.unwrap();
    }
    let mut late = log.replay(Position(150)).await.expect("all events are stored");
    let mut live = log.follow().await.unwrap();
    assert_eq!(live.position(), Position(200));
    log.append(b"last", true).await.unwrap();
    for (replay, from) in [(&mut early, 1), (&mut late, 151), (&mut live, 201)] {
        for number in from..=200 {
            let event = replay.next().await.unwrap();
            assert_eq!((event.position, &event.message), (Position(number), &text(number)));
            assert!(!event.is_last);
        }
        let last = replay.next().await.unwrap();
        assert_eq!((&*last.message, last.is_last), (&b"last"[..], true));
        assert!(replay.next_stored().await.unwrap().is_none(), "no event follows the last");
    }
}

async fn the_end_and_a_gap_are_reported(store: Arc<impl Backend>) {
    let log = EventLog::new(store, "session", 8, LONG);
    log.append(b"1", false).await.unwrap();
    for beyond in [2, u64::MAX] {
        let gap = log.replay(Position(beyond)).await;
        assert!(matches!(gap, Err(ReplayError::Gap)), "{beyond} was never sent");
    }
    let mut replay = log.replay(Position(0)).await.expect("the event is still stored");
    assert_eq!(replay.next().await.unwrap().position, Position(1));
    log.delete().await.unwrap();
    let gap = log.replay(Position(1)).await;
    assert!(matches!(gap, Err(ReplayError::Gap)), "the deleted event is a gap");
    let other = EventLog::new(log.backend().clone(), "session", 80, LONG);
    other.append(b"other", false).await.unwrap();
    let mut replay = log.replay(Position(0)).await.expect("an empty log has no gap");
    assert!(
        replay.next_stored().await.unwrap().is_none(),
        "events of another stream do not appear"
    );
}

async fn put(store: &impl Backend, key: &Key, value: &str, expect: Expect) -> Option<Version> {
    match store.put(key, Bytes::copy_from_slice(value.as_bytes()), LONG, expect).await.unwrap() {
        Written::Yes(version) => Some(version),
        Written::Conflict => None,
    }
}

async fn read(store: &impl Backend, log: &Key, after: u64) -> LogSlice {
    store.read(log, Position(after), 1000).await.unwrap()
}

async fn received(listener: &mut BoxStream<'static, Bytes>) -> Bytes {
    let next = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
    next.expect("a topic does not end while it has a listener")
}

/// Whether a future is pending when it is polled once.
fn is_waiting(future: impl Future) -> bool {
    let mut future = std::pin::pin!(future);
    matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
}

fn text(number: u64) -> Bytes {
    Bytes::from(number.to_string())
}
