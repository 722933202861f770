//! Answers that are none.

use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use serde_json::json;

use crate::support::{Double, done, modern, tool};

const JSON: (&str, &str) = ("content-type", "application/json");

/// How a call fails whose request is answered by the test.
async fn failure(answer: impl AsyncFnOnce(&mut Double)) -> (FailureKind, String) {
    let (link, mut double, _) = modern().await;
    let call = link.call(tool("echo"), None);
    answer(&mut double).await;
    match call.await.unwrap_err() {
        CallError::Failed { kind, reason } => (kind, reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_status_is_told_with_what_the_body_says() {
    let body = format!("<html>\n<h1>Bad gateway</h1>{}", "x".repeat(10_000));
    let (kind, reason) = failure(async |double| double.next().await.respond(502, &[], &body)).await;
    assert_eq!(kind, FailureKind::Refused(502));
    let expected =
        "POST http://server.example/mcp: 502 Bad Gateway: <html> <h1>Bad gateway</h1>xxx";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(reason.len() < 300, "{reason}");
}

#[tokio::test(start_paused = true)]
async fn success_without_an_answer_is_none() {
    for (status, body) in
        [(200, ""), (202, ""), (200, "Welcome!"), (200, r#"{"id":99,"result":{}}"#)]
    {
        let (kind, reason) =
            failure(async |double| double.next().await.respond(status, &[JSON], body)).await;
        assert_eq!(kind, FailureKind::Lost, "{status} {body}");
        assert!(reason.contains(&status.to_string()), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_one_whatever_its_status() {
    let (link, mut double, _) = modern().await;
    for status in [200, 400, 404, 500] {
        let call = link.call(tool("echo"), None);
        let knock = double.expect("tools/call").await;
        let error = json!({ "code": -32601, "message": "not here" });
        let body = json!({ "jsonrpc": "2.0", "id": knock.id(), "error": error }).to_string();
        knock.respond(status, &[JSON], &body);
        let CallError::Refused(error) = call.await.unwrap_err() else { panic!("{status}") };
        assert_eq!(error.message, "not here");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_first_may_have_done_it() {
    let (kind, reason) = failure(async |double| drop(double.next().await)).await;
    assert_eq!(kind, FailureKind::Lost);
    assert_eq!(reason, "POST http://server.example/mcp: no answer: the server is gone");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_as_long_as_a_message_may_be() {
    let long = "x".repeat(4 * 1024 * 1024 + 1);
    let (_, reason) =
        failure(async |double| double.next().await.respond(200, &[JSON], &long)).await;
    assert!(reason.ends_with("the answer is longer than 4194304 bytes"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_followed_within_the_origin() {
    let (link, mut double, _) = modern().await;
    for status in [307, 308] {
        let call = link.call(tool("echo"), None);
        let first = double.expect("tools/call").await;
        let (text, headers) = (first.text.clone(), first.headers.clone());
        first.respond(status, &[("location", "../v2/mcp?x=1")], "");
        let second = double.expect("tools/call").await;
        assert_eq!(second.uri, "http://server.example/v2/mcp?x=1");
        assert_eq!((&second.text, &second.headers), (&text, &headers));
        second.result(&done());
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_that_leads_elsewhere_is_an_error_that_says_where() {
    for (status, to, why) in [
        (307, "http://evil.example/mcp", "another origin"),
        (308, "https://server.example/mcp", "another origin"),
        (307, "//server.example:81/mcp", "another origin"),
        (302, "/login", "only 307 and 308"),
        (303, "/login", "only 307 and 308"),
    ] {
        let (kind, reason) = failure(async |double| {
            double.next().await.respond(status, &[("location", to)], "");
        })
        .await;
        assert_eq!(kind, FailureKind::Refused(status));
        assert!(reason.contains(to.rsplit("//").next().unwrap()), "{reason}");
        assert!(reason.contains(why), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_in_circles_end() {
    let (_, reason) = failure(async |double| {
        for _ in 0..4 {
            double.next().await.respond(307, &[("location", "/mcp")], "");
        }
        assert!(double.is_idle());
    })
    .await;
    assert!(reason.ends_with("more than 3 redirects in a row"), "{reason}");
}
