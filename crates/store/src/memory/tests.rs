//! The memory backend passes the suite and keeps its limits.

use super::*;
use crate::events::{EventLog, ReplayError};
use crate::inbox::MOST_WAITING;
use crate::suite;

const LONG: Duration = Duration::from_secs(3600);

fn limits(change: impl FnOnce(&mut MemoryLimits)) -> MemoryLimits {
    let mut limits = MemoryLimits::default();
    change(&mut limits);
    limits
}

#[tokio::test]
async fn memory_passes_the_suite() {
    suite::passes(|| async { Arc::new(MemoryBackend::default()) }).await;
}

#[tokio::test]
async fn a_log_drops_its_oldest_items_and_reports_it() {
    for limits in [limits(|it| it.log_items = 3), limits(|it| it.log_bytes = 3 * (1 + OVERHEAD))] {
        let memory = Arc::new(MemoryBackend::new(limits));
        let log = EventLog::new(memory.clone(), "session", 1, LONG);
        for _ in 0..10 {
            log.append(b"", false).await.unwrap();
        }
        assert!(matches!(log.replay(Position(6)).await, Err(ReplayError::Gap)));
        let mut replay = log.replay(Position(7)).await.unwrap();
        for expected in 8..=10 {
            assert_eq!(replay.next().await.unwrap().position, Position(expected));
        }
    }
}

#[tokio::test]
async fn the_newest_item_stays_even_beyond_the_limit() {
    let memory = MemoryBackend::new(limits(|it| it.log_bytes = 10));
    let log = Key::new(["log"]);
    for value in ["short", "much longer than the limit"] {
        memory.append(&log, NewItem::new(value, LONG)).await.unwrap();
    }
    let read = memory.read(&log, Position(1), 10).await.unwrap();
    assert_eq!(read.items[0].value, "much longer than the limit");
}

#[tokio::test]
async fn the_log_that_expires_first_makes_room_and_keeps_its_positions() {
    let memory = MemoryBackend::new(limits(|it| it.bytes = 1000));
    let (quiet, busy) = (Key::new(["quiet"]), Key::new(["busy"]));
    memory.append(&quiet, NewItem::new(vec![0; 300], LONG)).await.unwrap();
    memory.append(&busy, NewItem::new(vec![0; 300], LONG * 2)).await.unwrap();
    let position = memory.append(&busy, NewItem::new(vec![0; 300], LONG * 2)).await.unwrap();
    assert_eq!(position, Appended::At(Position(2)));
    let read = memory.read(&quiet, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.items.len()), (Position(2), 0));
    assert_eq!(
        memory.append(&quiet, NewItem::new("again", LONG)).await.unwrap(),
        Appended::At(Position(2))
    );
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_changes_nothing() {
    let memory = MemoryBackend::new(limits(|it| it.bytes = 1000));
    let (key, log) = (Key::new(["key"]), Key::new(["log"]));
    memory.put(&key, "kept".into(), LONG, Expect::Anything).await.unwrap();
    memory.append(&log, NewItem::new("kept", LONG)).await.unwrap();
    let huge = Bytes::from(vec![0; 2000]);
    let error = memory.put(&key, huge.clone(), LONG, Expect::Anything).await.unwrap_err();
    assert!(error.to_string().contains("1000 bytes"), "{error}");
    assert!(memory.append(&log, NewItem::new(huge, LONG)).await.is_err());
    assert_eq!(memory.get(&key).await.unwrap().unwrap().value, "kept");
    assert_eq!(memory.read(&log, Position(0), 10).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_value_may_be_replaced_in_a_store_that_is_full() {
    let memory = MemoryBackend::new(limits(|it| it.bytes = 100));
    let key = Key::new(["k"]);
    for value in ["a", "b"] {
        let value = Bytes::from(value.repeat(100 - OVERHEAD - 1));
        assert!(memory.put(&key, value, LONG, Expect::Anything).await.is_ok());
    }
}

#[tokio::test]
async fn an_expired_entry_cannot_be_deleted() {
    let memory = MemoryBackend::default();
    let key = Key::new(["key"]);
    memory.put(&key, "x".into(), Duration::ZERO, Expect::Anything).await.unwrap();
    memory.append(&key, NewItem::new("x", Duration::ZERO)).await.unwrap();
    assert!(!memory.delete(&key).await.unwrap());
}

#[tokio::test]
async fn no_bytes_are_counted_after_everything_is_removed() {
    let memory = MemoryBackend::default();
    for number in 0..100 {
        let key = Key::new(["value", &number.to_string()]);
        let log = Key::new(["log", &number.to_string()]);
        let expiry = if number % 2 == 0 { Duration::ZERO } else { LONG };
        memory.put(&key, "value".into(), expiry, Expect::Anything).await.unwrap();
        memory.append(&log, NewItem::new("item", LONG)).await.unwrap();
        memory.append(&log, NewItem::new("item", expiry)).await.unwrap();
        if number % 2 == 1 {
            assert!(memory.delete(&key).await.unwrap() && memory.delete(&log).await.unwrap());
        }
    }
    drop(memory.listen(&Key::new(["topic"])).await.unwrap());
    assert_eq!(memory.bytes(), 0);
    let state = memory.lock();
    assert!(state.values.is_empty() && state.logs.is_empty() && state.topics.is_empty());
    assert!(state.expiries.is_empty());
}

#[tokio::test]
async fn a_slow_listener_learns_that_it_missed_the_oldest_values() {
    let memory = MemoryBackend::default();
    let topic = Key::new(["topic"]);
    let mut listener = memory.listen(&topic).await.unwrap();
    let mut next = async || {
        let next = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
        String::from_utf8(next.unwrap().to_vec()).unwrap()
    };
    for round in 0..2 {
        let first = if round == 0 { 0 } else { MOST_WAITING + 5 };
        let last = first + MOST_WAITING + 4;
        for number in first..=last {
            memory.publish(&topic, number.to_string().into()).await.unwrap();
        }
        assert_eq!(next().await, "", "read again");
        let oldest: usize = next().await.parse().unwrap();
        assert!(oldest >= first + 5, "no more than `MOST_WAITING` wait: {oldest}");
        for number in oldest + 1..=last {
            assert_eq!(next().await, number.to_string(), "no other one was missed");
        }
    }
}
