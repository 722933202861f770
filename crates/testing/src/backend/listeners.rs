//! Topics with several publishers and listeners, on two handles.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bowline_store::backend::{BoxStream, Expect, Key, Position};
use bowline_store::events::EventLog;
use bytes::Bytes;

use super::BackendUnderTest;
use super::threads::{LONG, PATIENCE, next_message, on_threads};

const PUBLISHERS: usize = 4;
/// Of each publisher. A backend must hold this many of all publishers for a listener that does not
/// read.
const MESSAGES: u64 = 8;
/// More than a backend may hold for a listener that does not read.
const FLOOD: u64 = 5000;

/// Listeners get what is published while they listen, in order. One that is slow learns that it has
/// missed messages.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn listeners(subject: &dyn BackendUnderTest) {
    messages_keep_their_order(subject).await;
    nothing_earlier_arrives(subject).await;
    a_slow_listener_is_bounded(subject).await;
    replays_miss_nothing(subject).await;
}

async fn messages_keep_their_order(subject: &dyn BackendUnderTest) {
    let topic = Key::new(["topic"]);
    let stores = [subject.open("order").await, subject.open("order").await];
    let mut streams = Vec::new();
    for store in &stores {
        streams.push(store.listen(&topic).await.unwrap());
    }
    for round in 0..5 {
        let (handles, topic) = (stores.clone(), topic.clone());
        on_threads(PUBLISHERS, move |publisher| {
            let (store, topic) = (handles[publisher % 2].clone(), topic.clone());
            async move {
                for number in 0..MESSAGES {
                    let message = format!("{round} {publisher} {number}");
                    store.publish(&topic, message.into()).await.unwrap();
                }
            }
        })
        .await;
        for stream in &mut streams {
            has_all_in_order(stream, round).await;
        }
    }
}

async fn has_all_in_order(stream: &mut BoxStream<'static, Bytes>, round: u64) {
    let mut next: HashMap<u64, u64> = HashMap::new();
    for _ in 0..PUBLISHERS as u64 * MESSAGES {
        let message = next_message(stream).await;
        let text = std::str::from_utf8(&message).expect("a message is as it was published");
        let numbers: Vec<u64> = text.split(' ').map(|part| part.parse().unwrap()).collect();
        let [in_round, publisher, number] = numbers[..] else { panic!("not a message: {text}") };
        let expected = next.entry(publisher).or_default();
        let is_next = in_round == round && number == *expected;
        assert!(is_next, "messages of one publisher arrive once and in order: {text}");
        *expected += 1;
    }
}

async fn nothing_earlier_arrives(subject: &dyn BackendUnderTest) {
    let topic = Key::new(["topic"]);
    let (one, two) = (subject.open("earlier").await, subject.open("earlier").await);
    for number in 0..20_u32 {
        one.publish(&topic, format!("before {number}").into()).await.unwrap();
        let mut here = one.listen(&topic).await.unwrap();
        let mut there = two.listen(&topic).await.unwrap();
        let message = Bytes::from(format!("after {number}"));
        one.publish(&topic, message.clone()).await.unwrap();
        for stream in [&mut here, &mut there] {
            let first = next_message(stream).await;
            assert_eq!(first, message, "a listener gets nothing that is older than itself");
        }
    }
}

async fn a_slow_listener_is_bounded(subject: &dyn BackendUnderTest) {
    let topic = Key::new(["topic"]);
    let (one, two) = (subject.open("slow").await, subject.open("slow").await);
    let mut streams = [one.listen(&topic).await.unwrap(), two.listen(&topic).await.unwrap()];
    for number in 1..=FLOOD {
        one.publish(&topic, number.to_string().into()).await.unwrap();
    }
    for stream in &mut streams {
        let (mut count, mut last, mut is_warned) = (0, 0, false);
        while last < FLOOD {
            // The newest may come late to the other handle, or be lost; so it is sent again.
            let next = tokio::time::timeout(PATIENCE / 20, next_message(stream)).await;
            let Ok(message) = next else {
                one.publish(&topic, FLOOD.to_string().into()).await.unwrap();
                continue;
            };
            if message.is_empty() {
                is_warned = true;
                continue;
            }
            let number: u64 = std::str::from_utf8(&message).unwrap().parse().unwrap();
            assert!(number > last, "messages of one publisher arrive in order");
            let is_next = number == last + 1;
            assert!(
                is_next || is_warned,
                "an empty message comes before the first after missed ones"
            );
            (count, last, is_warned) = (count + 1, number, false);
        }
        assert!(count < FLOOD, "a listener that does not read misses messages");
    }
    let key = Key::new(["value"]);
    one.put(&key, "x".into(), LONG, Expect::Anything).await.expect("the store still works");
}

/// A replay on one handle follows a writer on the other.
async fn replays_miss_nothing(subject: &dyn BackendUnderTest) {
    const EVENTS: u64 = 300;
    const WAITING: u64 = 20;
    let (writer, reader) = (subject.open("replay").await, subject.open("replay").await);
    let log = EventLog::new(reader, "session", 1, LONG);
    let mut replay = log.replay(Position(0)).await.unwrap_or_else(|_| panic!("no gap yet"));
    let writing = Arc::new(EventLog::new(writer, "session", 1, LONG));
    let write = move |log: Arc<EventLog>, events: RangeInclusive<u64>| async move {
        for number in events {
            log.append(number.to_string().as_bytes(), number == EVENTS).await.unwrap();
        }
    };
    // So the replay reads several events at once, however slow the writer is.
    write(writing.clone(), 1..=WAITING).await;
    let writes = on_threads(1, move |_| write(writing.clone(), WAITING + 1..=EVENTS));
    let reads = async {
        for number in 1..=EVENTS {
            let event = tokio::time::timeout(PATIENCE, replay.next()).await;
            let event = event.expect("a replay gets every event");
            let event = event.unwrap_or_else(|error| panic!("a replay goes on: {error:?}"));
            assert_eq!(event.message, number.to_string(), "in order, once");
        }
    };
    tokio::join!(writes, reads);
}
