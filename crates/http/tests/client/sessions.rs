//! Until 2025-11-25: a handshake opens a session.

use std::sync::Arc;
use std::time::Duration;

use bowline_http::client::HttpClientLimits;
use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{User, done, fake, link, session, tool};

// spec: SESS-5, SESS-10, PV-1, PV-2, HTTP-38, HTTP-39
#[tokio::test(start_paused = true)]
async fn every_request_after_the_handshake_carries_session_and_revision() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        let received = fake.expect("initialize").await;
        assert!(received.header("mcp-protocol-version").is_none());
        received.initialize(&json!("2025-06-18"), Some("first"));
        let told = fake.expect("notifications/initialized").await;
        let headers = told.headers.clone();
        told.status(202);
        let get = fake.expect_get().await;
        assert_eq!(get.header("accept"), Some("text/event-stream"));
        (headers, get)
    };
    let (link, (told, get)) = tokio::join!(link(transport, Revision::V2025_06_18, &user), server);
    let link = link.unwrap();
    let call = link.call(tool("echo"), None);
    let posted = fake.expect("tools/call").await;
    let headers = [told, get.headers.clone(), posted.headers.clone()];
    posted.result(&done());
    call.await.unwrap();
    let closing = link.close();
    let server = async {
        let received = fake.next().await;
        assert_eq!(received.method, http::Method::DELETE);
        let headers = received.headers.clone();
        received.status(204);
        headers
    };
    let ((), deleted) = tokio::join!(closing, server);
    for headers in headers.iter().chain([&deleted]) {
        assert_eq!(headers["mcp-session-id"], "first");
        assert_eq!(headers["mcp-protocol-version"], "2025-06-18");
        assert!(!headers.contains_key("mcp-method"));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_overtakes_the_end_of_the_handshake() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        fake.expect("initialize").await.initialize(&json!("2025-11-25"), Some("first"));
        fake.expect("notifications/initialized").await
    };
    let (link, told) = tokio::join!(link(transport, Revision::V2025_11_25, &user), server);
    let link = link.unwrap();
    let call = link.call(tool("echo"), None);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(fake.is_idle());
    told.status(202);
    for _ in 0..2 {
        let received = fake.next().await;
        match received.rpc_method() {
            "tools/call" => received.result(&done()),
            _ => received.status(405),
        }
    }
    call.await.unwrap();
}

// spec: SESS-9
#[tokio::test(start_paused = true)]
async fn a_lost_session_is_renewed_once_for_all_calls() {
    const CALLS: usize = 20;
    let (link, mut fake, _) = session().await;
    let calls: Vec<_> = (0..CALLS).map(|_| link.call(tool("echo"), None)).collect();
    let mut requests = Vec::new();
    for _ in 0..CALLS {
        requests.push(fake.expect("tools/call").await);
    }
    // One is slow to arrive, and finds a new session in place when it is refused.
    let late = requests.pop().unwrap();
    for received in requests {
        assert_eq!(received.header("mcp-session-id"), Some("first"));
        received.respond(404, &[("content-type", "application/json")], "{}");
    }
    let shake = fake.expect("initialize").await;
    assert!(shake.header("mcp-session-id").is_none());
    shake.initialize(&json!("2025-11-25"), Some("second"));
    fake.expect("notifications/initialized").await.status(202);
    late.status(404);
    let mut answered = 0;
    while answered < CALLS {
        let received = fake.next().await;
        assert_eq!(received.header("mcp-session-id"), Some("second"));
        match received.rpc_method() {
            "tools/call" => {
                received.result(&done());
                answered += 1;
            }
            _ => received.status(405),
        }
    }
    for call in calls {
        call.await.unwrap();
    }
    assert!(fake.is_idle(), "there was one handshake for all");
}

/// The requests wait for the new session, and the handshake must not wait for them.
// spec: SESS-9
#[tokio::test(start_paused = true)]
async fn a_lost_session_is_renewed_while_all_permits_are_taken() {
    let (transport, mut fake) = fake();
    let mut limits = HttpClientLimits::default();
    limits.exchanges = 2;
    let user = Arc::new(User::default());
    let link = link(transport.with_limits(limits), Revision::V2025_11_25, &user);
    let (link, ()) = tokio::join!(link, fake.shake_hands(Some("first")));
    let link = link.unwrap();
    let calls: Vec<_> = (0..4).map(|_| link.call(tool("echo"), None)).collect();
    fake.expect("tools/call").await.status(404);
    // The other calls have all permits, and the server does not answer them yet.
    let mut requests = Vec::new();
    let shake = loop {
        let received = fake.next().await;
        match received.rpc_method() {
            "initialize" => break received,
            _ => requests.push(received),
        }
    };
    requests.into_iter().for_each(|received| received.status(404));
    shake.initialize(&json!("2025-11-25"), Some("second"));
    let mut answered = 0;
    while answered < calls.len() {
        let received = fake.next().await;
        match received.rpc_method() {
            "tools/call" if received.header("mcp-session-id") == Some("second") => {
                received.result(&done());
                answered += 1;
            }
            "tools/call" => received.status(404),
            "notifications/initialized" => received.status(202),
            _ => received.status(405),
        }
    }
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_again_is_an_error() {
    let (link, mut fake, _) = session().await;
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.status(404);
    fake.shake_hands(Some("second")).await;
    fake.expect("tools/call").await.status(404);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::SessionLost);
    assert!(reason.contains("the session is gone: 404 Not Found"), "{reason}");
}

// spec: HTTP-28
/// The driver would go on in the old revision.
#[tokio::test(start_paused = true)]
async fn a_session_that_is_renewed_in_another_revision_is_given_up_with_that_reason() {
    let (link, mut fake, user) = session().await;
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.status(404);
    fake.expect("initialize").await.initialize(&json!("2025-03-26"), Some("second"));
    call.await.unwrap_err();
    let expected = "2025-03-26";
    let failure = link.closed().await.expect("there is a reason").to_string();
    assert!(failure.contains(expected), "{failure}");
    assert!(user.diagnostics().iter().any(|what| what.contains(expected)));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_by_a_notification() {
    let (link, mut fake, _) = session().await;
    let call = link.call(tool("slow"), None);
    let received = fake.expect("tools/call").await;
    let id = received.id();
    let events = received.events();
    drop(call);
    let told = fake.expect("notifications/cancelled").await;
    assert_eq!(told.json()["params"]["requestId"], id);
    assert_eq!(told.header("mcp-session-id"), Some("first"));
    told.status(202);
    events.given_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_accepted_is_reported() {
    let (link, mut fake, user) = session().await;
    link.notify(Method::RootsListChanged, Default::default());
    let received = fake.expect("notifications/roots/list_changed").await;
    received.respond(500, &[], "out of order");
    user.noticed.notified().await;
    let [what] = &user.diagnostics()[..] else { panic!("{:?}", user.diagnostics()) };
    assert_eq!(what, "POST http://server.example/mcp: 500 Internal Server Error: out of order");
}

#[tokio::test(start_paused = true)]
async fn closing_takes_two_seconds_if_the_server_does_not_answer() {
    let (link, mut fake, _) = session().await;
    let call = link.call(tool("slow"), None);
    let _unanswered = fake.expect("tools/call").await;
    let begun = Instant::now();
    let (outcome, ()) = tokio::join!(call, link.close());
    assert_eq!(outcome.unwrap_err(), CallError::Closed);
    assert_eq!(begun.elapsed().as_secs(), 2);
    assert_eq!(fake.next().await.method, http::Method::DELETE);
    link.close().await;
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_handle_is_dropped() {
    let (link, mut fake, _) = session().await;
    drop(link);
    assert_eq!(fake.next().await.method, http::Method::DELETE);
}
