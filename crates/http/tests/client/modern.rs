//! 2026-07-28: no sessions, every request carries all that it needs.

use std::sync::Arc;

use bowline_http::client::HttpClientLimits;
use bowline_proto::client::{CallError, CallRequest};
use bowline_proto::mirror::ParamHeader;
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{CallObserver, connect};
use bowline_transport::tap::Tap;
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{User, config, done, fake, link, modern, tool};

// spec: HTTP-3, HTTP-4, HTTP-7, HTTP-15, HDR-1, HDR-2, HDR-3, HDR-4, HDR-5, XMH-2, XMH-18
#[tokio::test(start_paused = true)]
async fn every_request_is_a_post_whose_headers_repeat_it() {
    let (link, mut fake, _) = modern().await;
    let mut request = tool("größe");
    request.headers = vec![ParamHeader { name: "Region".into(), value: "eu".into() }];
    let call = link.call(request, None);
    let received = fake.expect("tools/call").await;
    for (name, expected) in [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?Z3LDtsOfZQ==?="),
        ("mcp-param-region", "eu"),
    ] {
        assert_eq!(received.header(name), Some(expected), "{name}");
    }
    let message = received.json();
    let claimed = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    assert_eq!(claimed, "2026-07-28");
    assert!(received.header("mcp-session-id").is_none());
    received.result(&done());
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_through_a_tap_has_its_headers_and_its_answer() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let connecting = connect(
        Tap::new(transport, |_, _: &[u8]| {}),
        config(&[Revision::V2026_07_28]),
        user.clone(),
    );
    let (link, ()) = tokio::join!(connecting, fake.discover());
    let link = link.unwrap();
    let call = link.call(tool("echo"), None);
    let received = fake.expect("tools/call").await;
    assert_eq!(received.header("mcp-method"), Some("tools/call"));
    assert_eq!(received.header("mcp-protocol-version"), Some("2026-07-28"));
    received.respond(500, &[], "out of order");
    let CallError::Failed { kind, .. } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Refused(500), "the failure finds its call by the id");
}

#[tokio::test(start_paused = true)]
async fn open_subscriptions_hold_up_no_call() {
    let (transport, mut fake) = fake();
    let mut limits = HttpClientLimits::default();
    limits.exchanges = 2;
    let user = Arc::new(User::default());
    let link = link(transport.with_limits(limits), Revision::V2026_07_28, &user);
    let (link, ()) = tokio::join!(link, fake.discover());
    let link = link.unwrap();
    let listen = || CallRequest::new(Method::SubscriptionsListen, Object::default());
    let _subscriptions = [(); 2].map(|()| link.call(listen(), None));
    let mut streams = Vec::new();
    for _ in 0..2 {
        streams.push(fake.expect("subscriptions/listen").await.events());
    }
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.result(&done());
    call.await.unwrap();
}

/// Passes progress on.
struct Watcher(mpsc::UnboundedSender<f64>);

impl CallObserver for Watcher {
    fn progress(&mut self, progress: ProgressParams) {
        let _ = self.0.send(progress.progress);
    }
}

// spec: HTTP-14, HTTP-35
#[tokio::test(start_paused = true)]
async fn an_answer_may_be_a_stream_with_notifications_and_comments_before() {
    let (link, mut fake, _) = modern().await;
    let mut request = tool("slow");
    request.progress = true;
    let (sender, mut progress) = mpsc::unbounded_channel();
    let call = link.call(request, Some(Box::new(Watcher(sender))));
    let received = fake.expect("tools/call").await;
    let id = received.id();
    let events = received.events();
    events.write(": hello\n\n");
    events.message(&json!({ "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": id, "progress": 0.5 } }));
    assert_eq!(progress.recv().await, Some(0.5));
    events.write(":\n\nevent: noise\ndata: none of ours\n\n");
    events.result(&id, &done());
    call.await.unwrap();
    // A call that has its answer does not wait for the stream to end.
    events.given_up().await;
}

// spec: CANC-14, CANC-16
#[tokio::test(start_paused = true)]
async fn a_dropped_call_hangs_up_and_sends_nothing() {
    let (link, mut fake, _) = modern().await;
    let unanswered = link.call(tool("slow"), None);
    let received = fake.expect("tools/call").await;
    drop(unanswered);
    received.given_up().await;

    let begun = link.call(tool("slow"), None);
    let events = fake.expect("tools/call").await.events();
    drop(begun);
    events.given_up().await;

    // The next request is the next call, and no cancellation.
    let call = link.call(tool("quick"), None);
    fake.expect("tools/call").await.result(&done());
    call.await.unwrap();
}

// spec: HTTP-36
#[tokio::test(start_paused = true)]
async fn a_broken_stream_is_lost_even_if_it_has_event_ids() {
    let (link, mut fake, _) = modern().await;
    let call = link.call(tool("slow"), None);
    let events = fake.expect("tools/call").await.events();
    events.write("id: 1\nretry: 10\ndata:\n\n");
    events.cut();
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.contains("POST http://server.example/mcp: "), "{reason}");
    assert!(reason.contains("cable pulled"), "{reason}");
    assert!(fake.is_idle(), "nothing is resumed");
}

// spec: ERA-4, ERA-10
#[tokio::test(start_paused = true)]
async fn a_modern_refusal_is_corrected_and_not_taken_for_an_old_server() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        let received = fake.expect("server/discover").await;
        let body = json!({ "jsonrpc": "2.0", "id": received.id(), "error": { "code": -32022,
            "message": "unsupported", "data": { "supported": ["2026-07-28"], "requested": "x" } } });
        received.respond(400, &[("content-type", "application/json")], &body.to_string());
        fake.discover().await;
    };
    let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
    assert_eq!(link.unwrap().profile().revision, Revision::V2026_07_28);
}

// spec: ERA-8, ERA-9, ERA-10
#[tokio::test(start_paused = true)]
async fn any_other_refusal_means_an_old_server() {
    let nameless = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}}"#;
    for (status, body) in [(400, ""), (400, nameless), (404, "<html>"), (405, "")] {
        let (transport, mut fake) = fake();
        let user = Arc::new(User::default());
        let server = async {
            let received = fake.expect("server/discover").await;
            assert_eq!(received.header("mcp-protocol-version"), Some("2026-07-28"));
            received.respond(status, &[("content-type", "application/json")], body);
            fake.shake_hands(None).await;
        };
        let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
        assert_eq!(link.unwrap().profile().revision, Revision::V2025_11_25, "{status} {body}");
    }
}
