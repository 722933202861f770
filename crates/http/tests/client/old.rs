//! Servers that know only the transport of 2024-11-05.

use std::sync::Arc;

use bowline_proto::client::{CallError, NegotiationError};
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{ConnectError, Link, connect};
use bowline_types::revision::Revision;
use serde_json::json;

use crate::support::{Double, Events, User, config, done, double, tool};

/// Refuses the POST of a handshake, and gives the GET that follows.
async fn refuse(double: &mut Double, status: u16) -> crate::support::Knock {
    double.expect("server/discover").await.status(status);
    double.expect("initialize").await.respond(status, &[], "Cannot POST");
    let get = double.expect_get().await;
    assert_eq!(get.header("accept"), Some("text/event-stream"));
    get
}

/// A connection to a server that names where to post.
async fn connected(status: u16, endpoint: &str) -> (Link, Double, Arc<User>, Events) {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        let events = refuse(&mut double, status).await.events();
        events.write(&format!("event: endpoint\ndata: {endpoint}\n\n"));
        let shake = double.expect("initialize").await;
        assert_eq!(shake.uri, "http://server.example/messages?session=1");
        let id = shake.id();
        shake.respond(202, &[], "Accepted");
        events.result(
            &id,
            &json!({ "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} }, "serverInfo": { "name": "old", "version": "1" } }),
        );
        double.expect("notifications/initialized").await.status(202);
        events
    };
    let (link, events) =
        tokio::join!(connect(transport, config(&Revision::ALL), user.clone()), server);
    (link.unwrap(), double, user, events)
}

// spec: SSE1-3, BC-2, BC-3, BC-4, BC-5, BC-6
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_posts_may_name_another_place_for_them() {
    for (status, endpoint) in [
        (400, "/messages?session=1"),
        (404, "messages?session=1"),
        (405, "http://server.example/messages?session=1"),
    ] {
        let (link, mut double, _, events) = connected(status, endpoint).await;
        assert_eq!(link.profile().revision, Revision::V2024_11_05);
        let call = link.call(tool("echo"), None);
        let knock = double.expect("tools/call").await;
        assert_eq!(knock.uri, "http://server.example/messages?session=1");
        let id = knock.id();
        knock.respond(202, &[], "Accepted");
        events.write("event: message\n");
        events.result(&id, &done());
        call.await.unwrap();
        assert!(double.is_idle(), "there is one stream and no session");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_refused_there_fails() {
    let (link, mut double, _, _events) = connected(404, "/messages?session=1").await;
    let call = link.call(tool("echo"), None);
    double.expect("tools/call").await.respond(400, &[], "no such session");
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Refused(400));
    assert!(reason.starts_with("POST http://server.example/messages?…: 400"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn the_connection_ends_with_the_stream() {
    let (link, mut double, user, events) = connected(404, "/messages?session=1").await;
    let call = link.call(tool("echo"), None);
    double.expect("tools/call").await.status(202);
    drop(events);
    assert_eq!(call.await.unwrap_err(), CallError::Closed);
    assert!(link.closed().await.is_none());
    assert!(user.odd_things()[0].starts_with("GET http://server.example/mcp: "));
}

#[tokio::test(start_paused = true)]
async fn a_place_of_another_origin_is_not_used() {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        let events = refuse(&mut double, 405).await.events();
        events.write("event: endpoint\ndata: http://evil.example/messages\n\n");
        events.given_up().await;
    };
    let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
    let error = unreachable(link);
    assert!(error.contains("405 Method Not Allowed: Cannot POST"), "{error}");
    assert!(double.is_idle());
}

#[tokio::test(start_paused = true)]
async fn without_such_a_stream_the_refusal_stands() {
    for status in [404, 405] {
        let (transport, mut double) = double();
        let user = Arc::new(User::default());
        let server = async { refuse(&mut double, 404).await.status(status) };
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
        let (transport, mut double) = double();
        let user = Arc::new(User::default());
        let config = config(&[Revision::V2025_11_25, Revision::V2024_11_05]);
        let server = async {
            double.expect("initialize").await.respond(
                status,
                &[("content-type", "application/json")],
                body,
            );
        };
        let (link, ()) = tokio::join!(connect(transport, config, user), server);
        link.unwrap_err();
        assert!(double.is_idle(), "{status} {body}");
    }
}

fn unreachable(link: Result<Link, ConnectError>) -> String {
    match link.unwrap_err() {
        ConnectError::Negotiation(NegotiationError::Unreachable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}
