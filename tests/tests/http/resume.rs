//! Clients that lose their connection and resume: they get every message exactly once.

use std::sync::Arc;

use bowline_http::store::MemoryBackend;
use bowline_http::store::memory::MemoryLimits;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::faulty_store::bytes_beside_leases;
use crate::test_server::{Random, Session, TestServer, limits, text_of, within};
use crate::wire::{Event, Wire};

fn memory(change: impl FnOnce(&mut MemoryLimits)) -> Arc<MemoryBackend> {
    let mut limits = MemoryLimits::default();
    change(&mut limits);
    Arc::new(MemoryBackend::new(limits))
}

/// The stream and the position in the id of an event.
fn place(event: &Event) -> (u64, u64) {
    let (stream, position) = event.id.as_ref().unwrap().split_once('.').unwrap();
    (stream.parse().unwrap(), position.parse().unwrap())
}

/// Runs a call that sends `count` messages before its answer; returns the number of its stream.
async fn ended_stream(server: &TestServer, session: &Session, count: usize) -> u64 {
    server.handlers.step(count + 1);
    let mut wire = server.stream(&session.call("tell", json!({ "count": count }))).await;
    place(&within(wire.messages()).await[0]).0
}

/// Resumes after an event.
async fn resumed(server: &TestServer, session: &Session, id: &str) -> Wire {
    server.stream(&session.resume(id)).await
}

// spec: RESUME-4, RESUME-5, RESUME-6, RESUME-7, HTTP-27, HTTP-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_gets_every_message_of_a_call_however_often_its_connection_breaks() {
    const WORDS: u64 = 40;
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    for seed in 1..=10 {
        let mut random = Random(seed * 0x9E37_79B9);
        server.handlers.step(1);
        let mut wire = server.stream(&session.call("tell", json!({ "count": WORDS }))).await;
        let mut last = within(wire.event()).await.unwrap();
        let mut heard = Vec::new();
        let mut given = 1;
        loop {
            let steps = random.below(6);
            given += steps;
            server.handlers.step(steps as usize);
            for _ in 0..random.below(4).min(given - heard.len() as u64) {
                if let Some(event) = within(wire.message()).await {
                    heard.push(event.clone());
                    last = event;
                }
            }
            if heard.len() as u64 == WORDS + 1 || given > WORDS {
                break;
            }
            match random.below(3) {
                0 => wire.reset(),
                _ => drop(wire),
            }
            wire = resumed(&server, &session, last.id.as_ref().unwrap()).await;
        }
        heard.extend(within(wire.messages()).await);
        let stream = place(&last).0;
        let places: Vec<_> = heard.iter().map(place).collect();
        let expected: Vec<_> = (1..=WORDS + 1).map(|position| (stream, position)).collect();
        assert_eq!(places, expected, "seed {seed}");
        for (number, event) in heard.iter().take(WORDS as usize).enumerate() {
            assert_eq!(event.json()["params"]["data"], (number + 1).to_string());
        }
        assert_eq!(text_of(&heard.last().unwrap().json()), format!("told {WORDS}"));
        // Permits that the call did not use must not reach the next call.
        server.handlers.take_back();
    }
}

// spec: RESUME-5, HTTP-44, HTTP-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_gets_changes_in_order_however_often_the_get_stream_breaks() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut wire = server.stream(&session.get()).await;
    let mut last = within(wire.event()).await.unwrap();
    let mut random = Random(7);
    for position in 1..=100 {
        let is_open = random.below(2) == 0;
        if is_open {
            server.notify.tools_changed();
        }
        if random.below(2) == 0 {
            drop(wire);
            wire = resumed(&server, &session, last.id.as_ref().unwrap()).await;
        }
        if !is_open {
            server.notify.tools_changed();
        }
        let event = within(wire.message()).await.unwrap();
        assert_eq!(place(&event), (0, position), "nothing lost, nothing twice");
        last = event;
    }
}

// spec: RESUME-5, HTTP-27
#[tokio::test]
async fn a_client_that_resumes_later_gets_its_answer() {
    let server = TestServer::open().await;
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = server.session(revision).await;
        server.handlers.step(1);
        let mut wire = server.stream(&session.call("tell", json!({ "count": 2 }))).await;
        let first = within(wire.message()).await.unwrap();
        drop(wire);
        server.handlers.step(2);
        server.handlers.running(0).await;
        // A client may resume the end of a stream as often as it likes.
        for _ in 0..2 {
            let mut wire = resumed(&server, &session, first.id.as_ref().unwrap()).await;
            let rest = within(wire.messages()).await;
            assert_eq!(rest.iter().map(|event| place(event).1).collect::<Vec<_>>(), [2, 3]);
            assert_eq!(text_of(&rest[1].json()), "told 2");
            assert!(wire.is_whole());
        }
        let end = format!("{}.3", place(&first).0);
        let mut wire = resumed(&server, &session, &end).await;
        assert_eq!(within(wire.messages()).await, [], "after the end there is nothing to wait for");
    }
}

// spec: RESUME-6
#[tokio::test]
async fn resuming_from_an_event_id_of_another_session_is_400() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    server.handlers.step(2);
    let mut wire = server.stream(&session.call("tell", json!({ "count": 1 }))).await;
    let stream = place(&within(wire.messages()).await[0]).0;
    let others = [
        "".to_owned(),
        "nonsense".to_owned(),
        "1".to_owned(),
        "1.".to_owned(),
        ".1".to_owned(),
        "-1.0".to_owned(),
        "1.0.0".to_owned(),
        "+1.0".to_owned(),
        format!("{}.0", stream + 1),
        format!("{stream}.3"),
        format!("{stream}.{}", u64::MAX),
        format!("{}.0", u64::MAX),
        format!("0.{}", u64::MAX),
        "0.1".to_owned(),
        "99999999999999999999.0".to_owned(),
    ];
    for id in others {
        let answer = server.ask(&session.resume(&id)).await;
        assert_eq!(answer.status(), 400, "{id}: {answer:?}");
    }
    let twice = session.resume("1.0").with("Last-Event-ID", "1.0");
    assert_eq!(server.ask(&twice).await.status(), 400);
    // Events of another session are not sent in this one.
    let other = server.session(Revision::V2025_11_25).await;
    let answer = server.ask(&other.resume(&format!("{stream}.1"))).await;
    assert_eq!(answer.status(), 400, "{answer:?}");
}

// spec: RESUME-5
#[tokio::test]
async fn resuming_after_lost_events_is_an_error_and_skips_nothing() {
    let store = memory(|it| it.log_items = 3);
    let server = TestServer::with(|http| http.store(store)).await;
    let session = server.session(Revision::V2025_11_25).await;
    let stream = ended_stream(&server, &session, 8).await;
    for position in 0..=5 {
        let answer = server.ask(&session.resume(&format!("{stream}.{position}"))).await;
        assert_eq!(answer.status(), 400, "{position}: {answer:?}");
        assert!(answer.reason().contains("not kept any more"), "{answer:?}");
    }
    let mut wire = resumed(&server, &session, &format!("{stream}.6")).await;
    assert_eq!(within(wire.messages()).await.len(), 3);
}

// spec: RESUME-5
#[tokio::test]
async fn resuming_an_open_stream_after_lost_events_is_an_error_at_every_endpoint() {
    let store = memory(|it| it.log_items = 3);
    let a = TestServer::with(|http| http.store(store.clone())).await;
    let b = TestServer::with(|http| http.store(store.clone())).await;
    let session = a.session(Revision::V2025_11_25).await;
    a.handlers.step(6);
    let mut wire = a.stream(&session.call("tell", json!({ "count": 8 }))).await;
    let mut last = None;
    for _ in 0..6 {
        last = within(wire.message()).await;
    }
    let stream = place(&last.unwrap()).0;
    for server in [&a, &b] {
        // Positions up to 2 are before the oldest event that is kept, 7 is of no event yet.
        for position in [0, 1, 2, 7] {
            let answer = server.ask(&session.resume(&format!("{stream}.{position}"))).await;
            assert_eq!(answer.status(), 400, "{position}: {answer:?}");
            assert!(answer.reason().contains("not kept any more"), "{answer:?}");
        }
        let mut wire = resumed(server, &session, &format!("{stream}.3")).await;
        assert_eq!(place(&within(wire.message()).await.unwrap()), (stream, 4));
    }
    a.handlers.step(3);
    assert_eq!(within(wire.messages()).await.len(), 3, "the first client has missed nothing");
}

// spec: RESUME-5
#[tokio::test]
async fn resuming_the_get_stream_after_lost_events_is_an_error_and_ends_no_other_stream() {
    let store = memory(|it| it.log_items = 3);
    let server = TestServer::with(|http| http.store(store)).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    for position in 1..=5 {
        server.notify.tools_changed();
        assert_eq!(place(&within(get.message()).await.unwrap()), (0, position));
    }
    for position in [0, 1, 6] {
        let answer = server.ask(&session.resume(&format!("0.{position}"))).await;
        assert_eq!(answer.status(), 400, "{position}: {answer:?}");
        assert!(answer.reason().contains("not kept any more"), "{answer:?}");
    }
    server.notify.tools_changed();
    assert_eq!(place(&within(get.message()).await.unwrap()), (0, 6), "the open stream goes on");
    let mut wire = resumed(&server, &session, "0.3").await;
    for position in 4..=6 {
        assert_eq!(place(&within(wire.message()).await.unwrap()), (0, position));
    }
}

// spec: RESUME-5
#[tokio::test]
async fn resuming_a_stream_that_ended_long_ago_is_an_error() {
    let server = TestServer::limited(|it| it.resumption = std::time::Duration::ZERO).await;
    let session = server.session(Revision::V2025_11_25).await;
    let stream = ended_stream(&server, &session, 1).await;
    for position in 0..=2 {
        let answer = server.ask(&session.resume(&format!("{stream}.{position}"))).await;
        assert_eq!(answer.status(), 400, "{position}: {answer:?}");
    }
}

// spec: RESUME-2
#[tokio::test]
async fn an_open_stream_stays_resumable_while_other_streams_get_messages() {
    // The server keeps nothing of ended streams, and keeps open ones.
    let server = TestServer::limited(|it| it.resumption = std::time::Duration::ZERO).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    server.handlers.step(1);
    let mut post = server.stream(&session.call("tell", json!({ "count": 2 }))).await;
    let first = within(post.message()).await.unwrap();
    drop(post);
    for position in 1..=3 {
        server.notify.tools_changed();
        assert_eq!(place(&within(get.message()).await.unwrap()), (0, position));
    }
    let mut post = resumed(&server, &session, first.id.as_ref().unwrap()).await;
    server.handlers.step(1);
    assert_eq!(place(&within(post.message()).await.unwrap()).1, 2);
}

// spec: HTTP-17, HTTP-18, HTTP-19, RESUME-7
#[tokio::test]
async fn a_call_may_close_its_stream_and_ask_the_client_to_resume_later() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut wire = server.stream(&session.call("pause", json!({ "milliseconds": 1234 }))).await;
    let mut events = Vec::new();
    while let Some(event) = within(wire.event()).await {
        events.push(event);
    }
    assert!(wire.is_whole(), "the connection is closed in order");
    let place = events[0].id.clone().expect("a place to come back to");
    assert_eq!(events.last().unwrap().retry, Some(1234));
    assert!(events.iter().all(|event| !event.has_message()));
    let mut wire = resumed(&server, &session, &place).await;
    server.handlers.step(1);
    let answer = within(wire.messages()).await;
    assert_eq!(text_of(&answer[0].json()), "back again");
}

// spec: HTTP-24
#[tokio::test]
async fn a_call_does_not_close_the_stream_of_an_older_client() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_06_18).await;
    let mut wire = server.stream(&session.call("pause", json!({ "milliseconds": 1 }))).await;
    server.handlers.step(1);
    let answer = within(wire.messages()).await;
    assert_eq!(text_of(&answer[0].json()), "back again");
}

// spec: SESS-8
#[tokio::test]
async fn the_store_keeps_nothing_of_an_ended_session() {
    let store = memory(|it| it.bytes = 1 << 20);
    let kept = store.clone();
    let limits = limits(|it| it.resumption = std::time::Duration::ZERO);
    let server = TestServer::with(|http| http.store(store).limits(limits)).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    server.notify.tools_changed();
    within(get.message()).await.unwrap();
    server.handlers.step(1);
    let mut post = server.stream(&session.call("tell", json!({ "count": 2 }))).await;
    within(post.message()).await.unwrap();
    assert!(kept.bytes() > 0);
    assert_eq!(server.ask(&session.delete()).await.status(), 204);
    assert_eq!(within(post.messages()).await, [], "a call ends with its session");
    within(async {
        while bytes_beside_leases(&kept).await > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
