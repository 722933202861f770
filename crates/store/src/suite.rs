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

use crate::backend::{
    Appended, Backend, BoxStream, Expect, Key, LogSlice, Mark, MarkStep, NewItem, Position,
    Version, Written,
};
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
    values_are_renewed(&*make().await).await;
    keys_are_scanned_in_order(&*make().await).await;
    logs_count_from_one(&*make().await).await;
    logs_are_read_from_anywhere(&*make().await).await;
    logs_expire_and_are_deleted(&*make().await).await;
    positions_exceed_what_the_writer_knows(&*make().await).await;
    keeping_a_log_adds_no_item(&*make().await).await;
    marks_fence_writers(&*make().await).await;
    marks_are_values(&*make().await).await;
    topics_reach_all_listeners(&*make().await).await;
    items_wake_listeners(&*make().await).await;
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

async fn values_are_renewed(store: &impl Backend) {
    let key = Key::new(["values", "renewed"]);
    assert_eq!(store.renew(&key, LONG).await.unwrap(), None, "there is no value to renew");
    store.put(&key, "1".into(), Duration::from_secs(1800), Expect::Anything).await.unwrap();
    let before = store.get(&key).await.unwrap();
    for expiry in [LONG, Duration::ZERO, Duration::MAX, LONG] {
        let renewed = store.renew(&key, expiry).await.unwrap();
        assert_eq!(renewed, before, "renewing keeps the value and the version");
    }
    assert_eq!(store.get(&key).await.unwrap(), before, "renewing shortens no life");
    let version = before.map(|entry| entry.version).expect("the value is there");
    let next = put(store, &key, "2", Expect::Version(version)).await;
    assert!(next.is_some(), "the version of a renewed value still matches");
    store.put(&key, "3".into(), Duration::ZERO, Expect::Anything).await.unwrap();
    assert_eq!(store.renew(&key, LONG).await.unwrap(), None, "what has expired stays gone");
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
        let appended = append(store, &log, NewItem::new(text(expected), LONG)).await;
        assert_eq!(appended, at(expected), "positions have no gaps");
    }
    let other = append(store, &Key::new(["log", "b"]), NewItem::new("1", LONG)).await;
    assert_eq!(other, at(1), "each log has positions of its own");
}

async fn logs_are_read_from_anywhere(store: &impl Backend) {
    let log = Key::new(["log", "read"]);
    for number in 1..=5 {
        append(store, &log, NewItem::new(text(number), LONG)).await;
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
    append(store, &log, NewItem::new("1", Duration::ZERO)).await;
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "it has expired");
    append(store, &log, NewItem::new("1", LONG)).await;
    append(store, &log, NewItem::new("2", LONG)).await;
    assert_eq!(read(store, &log, 0).await.items.len(), 2, "each item prolongs the log");
    assert!(store.delete(&log).await.unwrap(), "something was deleted");
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "what was deleted is gone");
}

async fn positions_exceed_what_the_writer_knows(store: &impl Backend) {
    let log = Key::new(["log", "above"]);
    let above = |above| NewItem::new(text(above + 1), LONG).above(Position(above));
    for known in 0..=2 {
        assert_eq!(append(store, &log, above(known)).await, at(known + 1), "the log is not behind");
    }
    assert_eq!(append(store, &log, above(1)).await, at(4), "the log knows more than the writer");
    assert_eq!(read(store, &log, 0).await.items.len(), 4, "and keeps its items");
    assert_eq!(append(store, &log, above(6)).await, at(7), "the log is behind");
    let found = read(store, &log, 0).await;
    assert_eq!((found.oldest, found.next), (Position(7), Position(8)), "its older items are gone");
    assert_eq!(found.items.len(), 1, "the new item is stored");
    assert_eq!(append(store, &log, above(0)).await, at(8), "it counts on from there");
    let new = Key::new(["log", "lost"]);
    assert_eq!(append(store, &new, above(9)).await, at(10), "a log that is lost begins there too");
    assert_eq!(read(store, &new, 0).await.oldest, Position(10));
}

async fn keeping_a_log_adds_no_item(store: &impl Backend) {
    let (log, topic) = (Key::new(["log", "marked"]), Key::new(["topic", "marked"]));
    let mut listener = store.listen(&topic).await.unwrap();
    let keeps = || NewItem::keeping(LONG);
    assert_eq!(append(store, &log, keeps()).await, at(0), "there is no item yet");
    assert!(!store.delete(&log).await.unwrap(), "keeping a log that does not exist begins none");
    let fenced = append(store, &log, keeps().mark(mark("me", MarkStep::Continue))).await;
    assert_eq!(fenced, Appended::Fenced, "a writer without its mark keeps nothing");
    let begins = keeps().mark(mark("me", MarkStep::Begin)).tell(topic.clone(), "news");
    assert_eq!(append(store, &log, begins).await, at(0), "the mark is set without an item");
    assert_eq!(received(&mut listener).await, "news", "listeners hear of it");
    let first = NewItem::new("1", LONG).mark(mark("me", MarkStep::Continue));
    assert_eq!(append(store, &log, first).await, at(1), "keeping took no position");
    assert_eq!(append(store, &log, keeps()).await, at(1), "the newest item is at 1");
    let found = read(store, &log, 0).await;
    assert_eq!((found.next, found.items.len()), (Position(2), 1), "keeping adds no item");
    assert_eq!(append(store, &log, keeps().above(Position(4))).await, at(4), "the log is behind");
    let found = read(store, &log, 0).await;
    assert_eq!((found.oldest, found.next), (Position(5), Position(5)), "its items are gone");
    let ends = keeps().mark(mark("me", MarkStep::End));
    assert_eq!(append(store, &log, ends).await, at(4), "the mark is removed without an item");
    append(store, &log, NewItem::keeping(Duration::ZERO)).await;
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "it was kept for no time");
}

async fn marks_fence_writers(store: &impl Backend) {
    let (log, topic) = (Key::new(["log", "marked"]), Key::new(["topic", "marked"]));
    let mut listener = store.listen(&topic).await.unwrap();
    let item = |owner: &'static str, step| {
        NewItem::new(owner, LONG).mark(mark(owner, step)).tell(topic.clone(), owner)
    };
    for step in [MarkStep::Continue, MarkStep::End] {
        let early = append(store, &log, item("one", step)).await;
        assert_eq!(early, Appended::Fenced, "there is no mark yet: {step:?}");
    }
    assert_eq!(read(store, &log, 0).await, LogSlice::empty(), "a fenced item is not appended");
    assert_eq!(append(store, &log, item("one", MarkStep::Begin)).await, at(1));
    assert_eq!(append(store, &log, item("one", MarkStep::Continue)).await, at(2));
    let other = append(store, &log, item("two", MarkStep::Continue)).await;
    assert_eq!(other, Appended::Fenced, "the mark names another owner");
    assert_eq!(append(store, &log, item("two", MarkStep::End)).await, Appended::Fenced);
    assert_eq!(append(store, &log, item("one", MarkStep::End)).await, at(3));
    let late = append(store, &log, item("one", MarkStep::Continue)).await;
    assert_eq!(late, Appended::Fenced, "the end removed the mark");
    assert_eq!(append(store, &log, item("two", MarkStep::Begin)).await, at(4));
    assert_eq!(append(store, &log, item("one", MarkStep::Begin)).await, at(5), "it is replaced");
    assert_eq!(append(store, &log, item("two", MarkStep::End)).await, Appended::Fenced);
    for expected in ["one", "one", "one", "two", "one"] {
        assert_eq!(received(&mut listener).await, expected, "a fenced item tells nothing");
    }
}

async fn marks_are_values(store: &impl Backend) {
    let (log, key) = (Key::new(["log", "marked"]), mark("", MarkStep::Begin).key);
    let item = |step| NewItem::new("item", LONG).mark(mark("me", step));
    append(store, &log, item(MarkStep::Begin)).await;
    let begun = store.get(&key).await.unwrap().expect("the mark is a value");
    assert_eq!(begun.value, "me");
    append(store, &log, item(MarkStep::Continue)).await;
    let continued = store.get(&key).await.unwrap().expect("the mark stays");
    assert_eq!(continued, begun, "going on keeps the version of the mark");
    assert!(store.delete(&key).await.unwrap(), "the mark can be deleted");
    assert_eq!(append(store, &log, item(MarkStep::Continue)).await, Appended::Fenced);
    append(store, &log, item(MarkStep::Begin)).await;
    append(store, &log, item(MarkStep::End)).await;
    assert_eq!(store.get(&key).await.unwrap(), None, "the end removes the mark");
    let brief = NewItem::new("item", Duration::ZERO).mark(mark("me", MarkStep::Begin));
    append(store, &log, brief).await;
    assert_eq!(store.get(&key).await.unwrap(), None, "the mark expires with the item");
    assert_eq!(append(store, &log, item(MarkStep::End)).await, Appended::Fenced);
}

async fn items_wake_listeners(store: &impl Backend) {
    let (log, topic) = (Key::new(["log", "told"]), Key::new(["topic", "told"]));
    let mut listener = store.listen(&topic).await.unwrap();
    for news in ["1", ""] {
        append(store, &log, NewItem::new("item", LONG).tell(topic.clone(), news)).await;
        assert_eq!(received(&mut listener).await, news, "the item's message arrives");
    }
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

async fn append(store: &impl Backend, log: &Key, item: NewItem) -> Appended {
    store.append(log, item).await.unwrap()
}

fn at(position: u64) -> Appended {
    Appended::At(Position(position))
}

fn mark(owner: &'static str, step: MarkStep) -> Mark {
    Mark { key: Key::new(["mark", "marked"]), owner: owner.into(), step }
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
