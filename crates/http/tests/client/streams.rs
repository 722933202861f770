//! Streams of sessions: come back to, and given up.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{User, done, double, link, patient, session, tool};

// spec: HTTP-18, HTTP-20, RESUME-4, RESUME-7
#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_early_goes_on_where_it_was_left_when_the_server_says() {
    let (link, mut double, _) = session().await;
    let call = link.call(tool("slow"), None);
    let knock = double.expect("tools/call").await;
    let id = knock.id();
    let events = knock.events();
    events.write("id: a/1\nretry: 7000\ndata:\n\n");
    drop(events);
    let left = Instant::now();
    let get = double.expect_get().await;
    assert_eq!(left.elapsed(), Duration::from_secs(7));
    assert_eq!(get.header("last-event-id"), Some("a/1"));
    assert_eq!(get.header("mcp-session-id"), Some("first"));
    assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
    let events = get.events();
    events.write("id: a/2\ndata:\n\n");
    events.cut();
    let get = double.expect_get().await;
    assert_eq!(get.header("last-event-id"), Some("a/2"));
    get.events().result(&id, &done());
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_place_is_lost() {
    let (link, mut double, _) = session().await;
    let call = link.call(tool("slow"), None);
    let events = double.expect("tools/call").await.events();
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    drop(events);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.ends_with("the server closed the stream before the answer"), "{reason}");
    assert!(double.is_idle());
}

/// How a server can keep clients busy.
#[tokio::test(start_paused = true)]
async fn a_server_that_brings_nothing_is_left_after_ten_times() {
    type Waste = fn(crate::support::Knock);
    let wastes: [(&str, Waste); 3] = [
        ("streams that end at once", |knock| drop(knock.events())),
        ("streams with nothing but a place", |knock| {
            knock.events().write("id: z\ndata:\n\n");
        }),
        ("errors", |knock| knock.status(502)),
    ];
    for (what, waste) in wastes {
        let (link, mut double, _) = session().await;
        let call = link.call(patient("slow"), None);
        double.expect("tools/call").await.events().write("id: a\ndata:\n\n");
        let begun = Instant::now();
        for _ in 0..10 {
            waste(double.expect_get().await);
        }
        let CallError::Failed { kind, .. } = call.await.unwrap_err() else { panic!("{what}") };
        assert_eq!(kind, FailureKind::Lost, "{what}");
        assert!(begun.elapsed() < Duration::from_secs(600), "{what}");
        assert!(double.is_idle(), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_will_not_change_ends_it_at_once() {
    for status in [400, 401, 403, 404, 405, 200] {
        let (link, mut double, _) = session().await;
        let call = link.call(patient("slow"), None);
        double.expect("tools/call").await.events().write("id: a\ndata:\n\n");
        double.expect_get().await.respond(status, &[("content-type", "text/plain")], "no");
        let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
        assert_eq!(kind, FailureKind::Lost, "the server may have done what was asked");
        assert!(reason.starts_with("GET http://server.example/mcp: "), "{reason}");
        assert!(reason.contains(&status.to_string()), "{reason}");
        assert!(double.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_says_when_to_come_back() {
    for status in [429, 503] {
        let (link, mut double, _) = session().await;
        let call = link.call(patient("slow"), None);
        let knock = double.expect("tools/call").await;
        let id = knock.id();
        knock.events().write("id: a\ndata:\n\n");
        double.expect_get().await.respond(status, &[("retry-after", "100")], "");
        let left = Instant::now();
        let get = double.expect_get().await;
        assert_eq!(left.elapsed(), Duration::from_secs(100));
        get.events().result(&id, &done());
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_be_polled_is_polled() {
    let (link, mut double, _) = session().await;
    let call = link.call(patient("slow"), None);
    let knock = double.expect("tools/call").await;
    let id = knock.id();
    knock.events().write("id: 0\nretry: 5000\ndata:\n\n");
    for round in 1..=30 {
        let get = double.expect_get().await;
        get.events().write(&format!("id: {round}\nretry: 5000\ndata:\n\n"));
    }
    double.expect_get().await.events().result(&id, &done());
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn silence_where_there_were_signs_of_life_is_a_break() {
    let (link, mut double, _) = session().await;
    let call = link.call(patient("slow"), None);
    let knock = double.expect("tools/call").await;
    let id = knock.id();
    let events = knock.events();
    events.write("id: a\ndata:\n\n");
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(40)).await;
        events.write(":\n\n");
    }
    let silent = Instant::now();
    let get = double.expect_get().await;
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
        let (link, mut double, _) = session().await;
        let call = link.call(patient("slow"), None);
        let knock = double.expect("tools/call").await;
        let id = knock.id();
        let events = knock.events();
        events.write(beginning);
        tokio::time::sleep(Duration::from_secs(6 * 3600)).await;
        assert!(double.is_idle(), "a stream that began with {beginning:?} was given up");
        events.result(&id, &done());
        call.await.unwrap();
    }
}

// spec: HTTP-38
#[tokio::test(start_paused = true)]
async fn the_stream_of_the_server_may_be_silent_for_as_long_as_there_is_no_news() {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        double.expect("initialize").await.initialize(&json!("2025-11-25"), Some("first"));
        double.expect("notifications/initialized").await.status(202);
        double.expect_get().await.events()
    };
    let (link, events) = tokio::join!(link(transport, Revision::V2025_11_25, &user), server);
    let _link = link.unwrap();
    tokio::time::sleep(Duration::from_secs(6 * 3600)).await;
    assert!(double.is_idle(), "a question that comes while there is no stream may be lost");
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    user.changed.notified().await;
}

// spec: HTTP-38, HTTP-40
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_taken_is_asked_for_until_it_is_free() {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        double.expect("initialize").await.initialize(&json!("2025-11-25"), Some("first"));
        double.expect("notifications/initialized").await.status(202);
        double.expect_get().await.status(409);
    };
    let (link, ()) = tokio::join!(link(transport, Revision::V2025_11_25, &user), server);
    let _link = link.unwrap();
    // A server that does not ask whether its peer is alive may take a quarter of an hour to notice.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1000) {
        let refused = Instant::now();
        double.expect_get().await.status(409);
        assert!(refused.elapsed() <= Duration::from_secs(30));
    }
    let events = double.expect_get().await.events();
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    user.changed.notified().await;
    assert_eq!(user.odd_things(), [""; 0]);
}

// spec: HTTP-18, HTTP-38, HTTP-44, RESUME-4
#[tokio::test(start_paused = true)]
async fn the_stream_of_the_server_is_opened_again() {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        double.expect("initialize").await.initialize(&json!("2025-11-25"), Some("first"));
        double.expect("notifications/initialized").await.status(202);
        double.expect_get().await.events()
    };
    let (link, events) = tokio::join!(link(transport, Revision::V2025_11_25, &user), server);
    let _link = link.unwrap();
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    events.message(&change);
    user.changed.notified().await;
    drop(events);
    let get = double.expect_get().await;
    assert!(get.header("last-event-id").is_none());
    let events = get.events();
    events.write("id: 1\n");
    events.message(&change);
    user.changed.notified().await;
    events.cut();
    let get = double.expect_get().await;
    assert_eq!(get.header("last-event-id"), Some("1"));
    get.status(401);
    user.noticed.notified().await;
    let [what] = &user.odd_things()[..] else { panic!("{:?}", user.odd_things()) };
    assert!(what.starts_with("the server's own messages are not heard: GET "), "{what}");
}
