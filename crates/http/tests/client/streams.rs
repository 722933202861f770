//! Streams of sessions: how the client resumes them, and when it gives up.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CallError, CallRequest};
use bowline_proto::limits::Limits;
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{Link, PendingCall, connect};
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{
    FakeServer, ReceivedRequest, User, config, done, fake, opening, patient, session, tool,
};

/// A session with a call, and the request for it.
async fn called(request: CallRequest) -> (Link, FakeServer, PendingCall, ReceivedRequest) {
    let (link, mut fake, _) = session().await;
    let call = link.call(request, None);
    let received = fake.expect("tools/call").await;
    (link, fake, call, received)
}

// spec: HTTP-18, HTTP-20, RESUME-4, RESUME-7
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_early_is_resumed_after_the_time_that_the_server_names() {
    let (_link, mut fake, call, received) = called(tool("slow")).await;
    let id = received.id();
    let events = received.events();
    events.write("id: a/1\nretry: 7000\ndata:\n\n");
    drop(events);
    let left = Instant::now();
    let get = fake.expect_get().await;
    assert_eq!(left.elapsed(), Duration::from_secs(7));
    assert_eq!(get.header("last-event-id"), Some("a/1"));
    assert_eq!(get.header("mcp-session-id"), Some("first"));
    assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
    let events = get.events();
    events.write("id: a/2\ndata:\n\n");
    events.cut();
    let get = fake.expect_get().await;
    assert_eq!(get.header("last-event-id"), Some("a/2"));
    get.events().result(&id, &done());
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_event_ids_is_lost() {
    let (_link, mut fake, call, received) = called(tool("slow")).await;
    let events = received.events();
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    drop(events);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.ends_with("the server closed the stream before the answer"), "{reason}");
    assert!(fake.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_new_events_is_given_up_after_ten_resumptions() {
    type Waste = fn(ReceivedRequest);
    let wastes: [(&str, Waste); 3] = [
        ("streams that end at once", |received| drop(received.events())),
        ("streams with nothing but a place", |received| {
            received.events().write("id: z\ndata:\n\n");
        }),
        ("errors", |received| received.status(502)),
    ];
    for (what, waste) in wastes {
        let (_link, mut fake, call, received) = called(patient("slow")).await;
        received.events().write("id: a\ndata:\n\n");
        let begun = Instant::now();
        for _ in 0..10 {
            waste(fake.expect_get().await);
        }
        let CallError::Failed { kind, .. } = call.await.unwrap_err() else { panic!("{what}") };
        assert_eq!(kind, FailureKind::Lost, "{what}");
        assert!(begun.elapsed() < Duration::from_secs(600), "{what}");
        assert!(fake.is_idle(), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_permanent_refusal_ends_the_resumption_at_once() {
    for status in [400, 401, 403, 404, 405, 200] {
        let (_link, mut fake, call, received) = called(patient("slow")).await;
        received.events().write("id: a\ndata:\n\n");
        fake.expect_get().await.respond(status, &[("content-type", "text/plain")], "no");
        let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
        assert_eq!(kind, FailureKind::Lost, "the server may have done what was asked");
        assert!(reason.starts_with("GET http://server.example/mcp: "), "{reason}");
        assert!(reason.contains(&status.to_string()), "{reason}");
        assert!(fake.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_comes_back_to_a_busy_server_after_the_time_that_it_names() {
    for status in [429, 503] {
        let (_link, mut fake, call, received) = called(patient("slow")).await;
        let id = received.id();
        received.events().write("id: a\ndata:\n\n");
        fake.expect_get().await.respond(status, &[("retry-after", "100")], "");
        let left = Instant::now();
        let get = fake.expect_get().await;
        assert_eq!(left.elapsed(), Duration::from_secs(100));
        get.events().result(&id, &done());
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_be_polled_is_polled() {
    let (_link, mut fake, call, received) = called(patient("slow")).await;
    let id = received.id();
    received.events().write("id: 0\nretry: 5000\ndata:\n\n");
    for round in 1..=30 {
        let get = fake.expect_get().await;
        get.events().write(&format!("id: {round}\nretry: 5000\ndata:\n\n"));
    }
    fake.expect_get().await.events().result(&id, &done());
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn silence_after_regular_comments_breaks_a_stream() {
    let (_link, mut fake, call, received) = called(patient("slow")).await;
    let id = received.id();
    let events = received.events();
    events.write("id: a\ndata:\n\n");
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(40)).await;
        events.write(":\n\n");
    }
    let silent = Instant::now();
    let get = fake.expect_get().await;
    let after = silent.elapsed().as_millis();
    assert!((45_000..=45_500).contains(&after), "{after}");
    assert_eq!(get.header("last-event-id"), Some("a"));
    get.events().result(&id, &done());
    call.await.unwrap();
}

/// Ids do not mean that the server can send anything again, nor does one comment mean that more will
/// follow.
#[tokio::test(start_paused = true)]
async fn a_server_that_shows_no_signs_of_life_may_take_as_long_as_the_call() {
    for beginning in ["", "id: a\ndata:\n\n", ": hello\n\n"] {
        let (_link, mut fake, call, received) = called(patient("slow")).await;
        let id = received.id();
        let events = received.events();
        events.write(beginning);
        tokio::time::sleep(Duration::from_secs(6 * 3600)).await;
        assert!(fake.is_idle(), "a stream that began with {beginning:?} was given up");
        events.result(&id, &done());
        call.await.unwrap();
    }
}

// spec: HTTP-38
#[tokio::test(start_paused = true)]
async fn the_stream_of_the_server_may_be_silent_for_as_long_as_there_is_no_news() {
    let (_link, mut fake, user, get) = opening().await;
    let events = get.events();
    tokio::time::sleep(Duration::from_secs(6 * 3600)).await;
    assert!(fake.is_idle(), "a question that comes while there is no stream may be lost");
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    user.changed.notified().await;
}

// spec: HTTP-38, HTTP-40
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_taken_is_asked_for_until_it_is_free() {
    let (_link, mut fake, user, get) = opening().await;
    get.status(409);
    // A server that does not ask whether its peer is alive may take a quarter of an hour to notice.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1000) {
        let refused = Instant::now();
        fake.expect_get().await.status(409);
        assert!(refused.elapsed() <= Duration::from_secs(30));
    }
    let events = fake.expect_get().await.events();
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    user.changed.notified().await;
    assert_eq!(user.diagnostics(), [""; 0]);
}

// spec: HTTP-18, HTTP-38, HTTP-44, RESUME-4
#[tokio::test(start_paused = true)]
async fn the_stream_of_the_server_is_opened_again() {
    let (_link, mut fake, user, get) = opening().await;
    let events = get.events();
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    events.message(&change);
    user.changed.notified().await;
    drop(events);
    let get = fake.expect_get().await;
    assert!(get.header("last-event-id").is_none());
    let events = get.events();
    events.write("id: 1\n");
    events.message(&change);
    user.changed.notified().await;
    events.cut();
    let get = fake.expect_get().await;
    assert_eq!(get.header("last-event-id"), Some("1"));
    get.status(401);
    user.noticed.notified().await;
    let [what] = &user.diagnostics()[..] else { panic!("{:?}", user.diagnostics()) };
    assert!(what.starts_with("the server's own messages are not heard: GET "), "{what}");
}

/// A connection that takes messages of up to 4 KiB, in the current revision or in a session.
async fn short_of_room(revision: Revision) -> (Link, FakeServer) {
    let (transport, mut fake) = fake();
    let mut limits = Limits::for_client();
    limits.frame = 4096;
    let config = Arc::into_inner(config(&[revision])).unwrap().with_limits(limits);
    let link = connect(transport, Arc::new(config), Arc::new(User::default()));
    let server = async {
        match revision {
            Revision::V2026_07_28 => fake.discover().await,
            _ => fake.shake_hands(Some("first")).await,
        }
    };
    let (link, ()) = tokio::join!(link, server);
    (link.unwrap(), fake)
}

/// Answers to this request that are too long, each with the id at another place. The last one has it
/// where the client cannot find it.
fn long_answers(id: &serde_json::Value) -> [String; 3] {
    let long = "\",\"id\":77}".repeat(2000);
    let result = json!({ "content": [{ "type": "text", "text": long }] });
    [
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#),
        format!(r#"{{"result":{result},"id":{id},"other":{result}}}"#),
    ]
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_fails_its_call_wherever_its_id_is() {
    for revision in [Revision::V2026_07_28, Revision::V2025_11_25] {
        let (link, mut fake) = short_of_room(revision).await;
        for n in 0..3 {
            let call = link.call(tool("dump"), None);
            let received = fake.expect("tools/call").await;
            let id = received.id();
            let events = received.events();
            events.write(&format!("id: a\ndata: {}\n\n", long_answers(&id)[n]));
            // A message without an id counts as the answer when its stream ends.
            if n == 2 {
                drop(events);
            }
            let error = call.await.unwrap_err();
            assert!(matches!(error, CallError::TooLong(_)), "{revision} {n}: {error}");
            assert_eq!(error.to_string(), "the server's answer is longer than 4096 bytes");
            assert!(fake.is_idle(), "it does not resume the stream");
        }
        for n in 0..3 {
            let call = link.call(tool("dump"), None);
            let received = fake.expect("tools/call").await;
            let body = long_answers(&received.id())[n].clone();
            received.respond(200, &[("content-type", "application/json")], &body);
            let error = call.await.unwrap_err();
            assert!(matches!(error, CallError::TooLong(_)), "{revision} {n}: {error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_notification_that_is_too_long_is_not_taken_for_the_answer() {
    let (link, mut fake) = short_of_room(Revision::V2026_07_28).await;
    let call = link.call(tool("work"), None);
    let received = fake.expect("tools/call").await;
    let id = received.id();
    let events = received.events();
    let params = json!({ "level": "info", "data": "x".repeat(10_000) });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    events.message(&log);
    events.result(&id, &done());
    call.await.unwrap();
    let call = link.call(tool("work"), None);
    let events = fake.expect("tools/call").await.events();
    events.message(&log);
    drop(events);
    let CallError::Failed { kind, .. } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
}
