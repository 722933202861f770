//! Servers that speak only the transport of 2024-11-05.

use std::sync::Arc;

use bowline_proto::client::{CallError, NegotiationError};
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{ConnectError, Link, connect};
use bowline_types::revision::Revision;
use serde_json::json;

use crate::support::{Events, FakeServer, User, config, done, fake, tool};

/// Refuses the POST of a handshake, and returns the GET that follows.
async fn refuse(fake: &mut FakeServer, status: u16) -> crate::support::ReceivedRequest {
    fake.expect("server/discover").await.status(status);
    fake.expect("initialize").await.respond(status, &[], "Cannot POST");
    let get = fake.expect_get().await;
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    get
}

/// A connection to a server that names the address to post to.
async fn connected(status: u16, endpoint: &str) -> (Link, FakeServer, Arc<User>, Events) {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        let events = refuse(&mut fake, status).await.events();
        events.write(&format!("event: endpoint\ndata: {endpoint}\n\n"));
        let shake = fake.expect("initialize").await;
        assert_eq!(shake.uri, "http://server.example/messages?session=1");
        let id = shake.id();
        shake.respond(202, &[], "Accepted");
        events.result(
            &id,
            &json!({ "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} }, "serverInfo": { "name": "old", "version": "1" } }),
        );
        fake.expect("notifications/initialized").await.status(202);
        events
    };
    let (link, events) =
        tokio::join!(connect(transport, config(&Revision::ALL), user.clone()), server);
    (link.unwrap(), fake, user, events)
}

// spec: SSE1-3, BC-2, BC-3, BC-4, BC-5, BC-6
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_posts_may_name_another_address_for_them() {
    for (status, endpoint) in [
        (400, "/messages?session=1"),
        (404, "messages?session=1"),
        (405, "http://server.example/messages?session=1"),
    ] {
        let (link, mut fake, _, events) = connected(status, endpoint).await;
        assert_eq!(link.profile().revision, Revision::V2024_11_05);
        let call = link.call(tool("echo"), None);
        let received = fake.expect("tools/call").await;
        assert_eq!(received.uri, "http://server.example/messages?session=1");
        let id = received.id();
        received.respond(202, &[], "Accepted");
        events.write("event: message\n");
        events.result(&id, &done());
        call.await.unwrap();
        assert!(fake.is_idle(), "there is one stream and no session");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_refused_at_that_address_fails() {
    let (link, mut fake, _, _events) = connected(404, "/messages?session=1").await;
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.respond(400, &[], "no such session");
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Refused(400));
    assert!(reason.starts_with("POST http://server.example/messages?…: 400"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn the_connection_ends_with_the_stream() {
    let (link, mut fake, user, events) = connected(404, "/messages?session=1").await;
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.status(202);
    drop(events);
    assert_eq!(call.await.unwrap_err(), CallError::Closed);
    assert!(link.closed().await.is_none());
    assert!(user.diagnostics()[0].starts_with("GET http://server.example/mcp: "));
}

#[tokio::test(start_paused = true)]
async fn an_address_of_another_origin_is_not_used() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        let events = refuse(&mut fake, 405).await.events();
        events.write("event: endpoint\ndata: http://evil.example/messages\n\n");
        events.given_up().await;
    };
    let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
    let error = unreachable(link);
    assert!(error.contains("405 Method Not Allowed: Cannot POST"), "{error}");
    assert!(fake.is_idle());
}

#[tokio::test(start_paused = true)]
async fn without_such_a_stream_the_refusal_stands() {
    for status in [404, 405] {
        let (transport, mut fake) = fake();
        let user = Arc::new(User::default());
        let server = async { refuse(&mut fake, 404).await.status(status) };
        let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
        let error = unreachable(link);
        assert!(error.contains("POST http://server.example/mcp: 404 Not Found"), "{error}");
    }
}

// spec: BC-4, BC-5
#[tokio::test(start_paused = true)]
async fn other_refusals_are_no_reason_to_look_for_one() {
    let modern = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2030-01-01"],"requested":"x"}}}"#;
    for (status, body) in [(401, ""), (403, ""), (500, ""), (400, modern)] {
        let (transport, mut fake) = fake();
        let user = Arc::new(User::default());
        let config = config(&[Revision::V2025_11_25, Revision::V2024_11_05]);
        let server = async {
            fake.expect("initialize").await.respond(
                status,
                &[("content-type", "application/json")],
                body,
            );
        };
        let (link, ()) = tokio::join!(connect(transport, config, user), server);
        link.unwrap_err();
        assert!(fake.is_idle(), "{status} {body}");
    }
}

fn unreachable(link: Result<Link, ConnectError>) -> String {
    match link.unwrap_err() {
        ConnectError::Negotiation(NegotiationError::Unreachable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}
