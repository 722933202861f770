//! HTTP answers that are no JSON-RPC answers: refusals, redirects, busy servers.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{Link, connect};
use bowline_types::revision::Revision;
use http::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{FakeServer, User, config, done, fake, link, modern, patient, tool};

const JSON: (&str, &str) = ("content-type", "application/json");

/// How a call fails whose request is answered by the test.
async fn failure(answer: impl AsyncFnOnce(&mut FakeServer)) -> (FailureKind, String) {
    let (link, mut fake, _) = modern().await;
    let call = link.call(tool("echo"), None);
    answer(&mut fake).await;
    match call.await.unwrap_err() {
        CallError::Failed { kind, reason } => (kind, reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_reported_with_its_status_and_body() {
    let body = format!("<html>\n<h1>Bad gateway</h1>{}", "x".repeat(10_000));
    let (kind, reason) = failure(async |fake| fake.next().await.respond(502, &[], &body)).await;
    assert_eq!(kind, FailureKind::Refused(502));
    let expected =
        "POST http://server.example/mcp: 502 Bad Gateway: <html> <h1>Bad gateway</h1>xxx";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(reason.len() < 300, "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_success_status_without_an_answer_is_an_error() {
    for (status, body) in
        [(200, ""), (202, ""), (200, "Welcome!"), (200, r#"{"id":99,"result":{}}"#)]
    {
        let (kind, reason) =
            failure(async |fake| fake.next().await.respond(status, &[JSON], body)).await;
        assert_eq!(kind, FailureKind::NoAnswer, "{status} {body}");
        assert!(reason.contains(&status.to_string()), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_counts_whatever_its_status() {
    let (link, mut fake, _) = modern().await;
    for status in [200, 400, 404, 500] {
        let call = link.call(tool("echo"), None);
        let received = fake.expect("tools/call").await;
        let error = json!({ "code": -32601, "message": "not here" });
        let body = json!({ "jsonrpc": "2.0", "id": received.id(), "error": error }).to_string();
        received.respond(status, &[JSON], &body);
        let CallError::Refused(error) = call.await.unwrap_err() else { panic!("{status}") };
        assert_eq!(error.message, "not here");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_connection_breaks_before_the_answer_may_have_run() {
    let (kind, reason) = failure(async |fake| drop(fake.next().await)).await;
    assert_eq!(kind, FailureKind::Lost);
    assert_eq!(reason, "POST http://server.example/mcp: no answer: the server is gone");
}

#[tokio::test(start_paused = true)]
async fn an_answer_longer_than_a_message_may_be_is_an_error() {
    let long = "x".repeat(64 * 1024 * 1024 + 1);
    let (link, mut fake, _) = modern().await;
    let call = link.call(tool("dump"), None);
    fake.expect("tools/call").await.respond(200, &[JSON], &long);
    let error = call.await.unwrap_err();
    assert_eq!(error.to_string(), "the server's answer is longer than 64 MiB");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_echoes_our_credential_in_its_errors_does_not_leak_it() {
    let (transport, mut fake) = fake();
    let mut token = HeaderValue::from_static("Bearer canary-5b1d7c");
    token.set_sensitive(true);
    let transport = transport.with_header(AUTHORIZATION, token);
    let user = Arc::new(User::default());
    let link = link(transport, Revision::V2026_07_28, &user);
    let (link, ()) = tokio::join!(link, fake.discover());
    let link = link.unwrap();
    let echo = "you sent `Bearer canary-5b1d7c` (canary-5b1d7c)";
    for status in [200, 400, 500] {
        for with_id in [true, false] {
            let call = link.call(tool("echo"), None);
            let received = fake.expect("tools/call").await;
            assert_eq!(received.header("authorization"), Some("Bearer canary-5b1d7c"));
            let id = if with_id { received.id() } else { Value::Null };
            let error = json!({ "code": -32000, "message": echo, "data": { "request": echo } });
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            received.respond(status, &[JSON], &body.to_string());
            let error = format!("{:?}", call.await.unwrap_err());
            assert!(error.contains("you sent `[redacted]` ([redacted])"), "{status}: {error}");
            assert!(!error.contains("canary"), "{status}: {error}");
        }
    }
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.respond(502, &[], echo);
    let error = call.await.unwrap_err().to_string();
    assert!(error.contains("[redacted]") && !error.contains("canary"), "{error}");

    // A tool that fails is an error too; what it returns otherwise is data.
    for (is_error, expected) in [(true, "you sent `[redacted]` ([redacted])"), (false, echo)] {
        let call = link.call(tool("echo"), None);
        let content = json!([{ "type": "text", "text": echo }]);
        let result = json!({ "resultType": "complete", "content": content, "isError": is_error });
        fake.expect("tools/call").await.result(&result);
        let answer = call.await.unwrap().result;
        assert!(answer.as_str().contains(expected), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_credential_longer_than_an_excerpt_leaves_no_part_of_itself_in_an_error() {
    let secret = "canary+/".repeat(75);
    for status in [401, 502] {
        for quoted in [secret.clone(), secret.replace('/', r"\/").replace('+', r"\u002B")] {
            let (link, mut fake) = link_with_credential(&secret).await;
            let page = format!("<p>unknown: {quoted}</p>");
            let error = format!(r#"{{"error":{{"code":-32001,"message":"unknown: {quoted}"}}}}"#);
            let redirect = format!("/login?token={secret}");
            for body in [page, error] {
                let call = link.call(tool("echo"), None);
                fake.expect("tools/call").await.respond(status, &[JSON], &body);
                let error = format!("{:?}", call.await.unwrap_err());
                assert!(error.contains("unknown: [redacted]"), "{status}: {error}");
                assert!(!error.contains("canary"), "{status}: {error}");
            }
            let call = link.call(tool("echo"), None);
            fake.expect("tools/call").await.respond(303, &[("location", &redirect)], "");
            let error = format!("{:?}", call.await.unwrap_err());
            assert!(!error.contains("canary"), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_credential_is_recognized_however_the_server_escapes_it() {
    let secret = r#"canary/5b+1d"7c"#;
    let (link, mut fake) = link_with_credential(secret).await;
    for written in [
        r#"canary/5b+1d\"7c"#,
        r#"canary\/5b+1d\"7c"#,
        r"canary/5b\u002B1d\u00227c",
        r#"{\"token\":\"canary\\\/5b\\u002b1d\\\"7c\"}"#,
    ] {
        let call = link.call(tool("echo"), None);
        let received = fake.expect("tools/call").await;
        let id = received.id();
        let error = format!(r#"{{"code":-32000,"message":"no","data":{{"got":"{written}"}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        received.respond(200, &[JSON], &body);
        let error = format!("{:?}", call.await.unwrap_err());
        assert!(error.contains("[redacted]") && !error.contains("1d"), "{written}: {error}");

        let call = link.call(tool("echo"), None);
        let received = fake.expect("tools/call").await;
        let id = received.id();
        let content = format!(r#"[{{"type":"text","text":"{written}"}}]"#);
        let result = format!(r#"{{"resultType":"complete","content":{content},"isError":true}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        received.respond(200, &[JSON], &body);
        let result = call.await.unwrap().result;
        let shown = result.as_str();
        assert!(shown.contains("[redacted]") && !shown.contains("1d"), "{written}: {shown}");
    }
}

/// A connection whose client sends this credential.
async fn link_with_credential(secret: &str) -> (Link, FakeServer) {
    let (transport, mut fake) = fake();
    let mut token = HeaderValue::try_from(format!("Bearer {secret}")).unwrap();
    token.set_sensitive(true);
    let transport = transport.with_header(AUTHORIZATION, token);
    let user = Arc::new(User::default());
    let link = link(transport, Revision::V2026_07_28, &user);
    let (link, ()) = tokio::join!(link, fake.discover());
    (link.unwrap(), fake)
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_followed_within_the_origin() {
    let (link, mut fake, _) = modern().await;
    for status in [307, 308] {
        let call = link.call(tool("echo"), None);
        let first = fake.expect("tools/call").await;
        let (text, headers) = (first.text.clone(), first.headers.clone());
        first.respond(status, &[("location", "../v2/mcp?x=1")], "");
        let second = fake.expect("tools/call").await;
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
        let (kind, reason) = failure(async |fake| {
            fake.next().await.respond(status, &[("location", to)], "");
        })
        .await;
        assert_eq!(kind, FailureKind::Refused(status));
        assert!(reason.contains(to.rsplit("//").next().unwrap()), "{reason}");
        assert!(reason.contains(why), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn redirects_in_circles_end() {
    let (_, reason) = failure(async |fake| {
        for _ in 0..4 {
            fake.next().await.respond(307, &[("location", "/mcp")], "");
        }
        assert!(fake.is_idle());
    })
    .await;
    assert!(reason.ends_with("more than 3 redirects in a row"), "{reason}");
}

/// How a call ends that the server refuses as often as it comes, and when it came.
async fn refused(status: u16, after: &str) -> (FailureKind, Vec<u64>) {
    let (link, mut fake, _) = modern().await;
    let begun = Instant::now();
    let mut call = link.call(patient("echo"), None);
    let mut seconds = Vec::new();
    loop {
        tokio::select! {
            received = fake.expect("tools/call") => {
                seconds.push(begun.elapsed().as_secs());
                received.respond(status, &[("retry-after", after)], "later");
            }
            outcome = &mut call => {
                let CallError::Failed { kind, .. } = outcome.unwrap_err() else { panic!() };
                return (kind, seconds);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_busy_server_refused_is_made_again_after_the_time_that_it_names() {
    for status in [429, 503] {
        let (link, mut fake, _) = modern().await;
        let call = link.call(tool("echo"), None);
        let first = fake.expect("tools/call").await;
        let (text, headers) = (first.text.clone(), first.headers.clone());
        first.respond(status, &[("retry-after", "7")], "later");
        let refused = Instant::now();
        let again = fake.expect("tools/call").await;
        assert_eq!(refused.elapsed().as_secs(), 7);
        assert_eq!((&again.text, &again.headers), (&text, &headers));
        again.result(&done());
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_busy_is_left_after_three_times_or_half_a_minute() {
    for status in [429, 503] {
        let kind = FailureKind::Refused(status);
        assert_eq!(refused(status, "7").await, (kind, vec![0, 7, 14, 21]));
        assert_eq!(refused(status, "14").await, (kind, vec![0, 14, 28]));
        assert_eq!(refused(status, "31").await, (kind, vec![0]));
        // Never at once, even if the server asks for that.
        assert_eq!(refused(status, "0").await, (kind, vec![0, 0, 1, 1]));
        // Without a time to retry after, the refusal may never end.
        assert_eq!(refused(status, "soon").await, (kind, vec![0]));
    }
    // After any other status the call may have run, or would be refused again.
    for status in [500, 502, 504, 404, 400] {
        assert_eq!(refused(status, "1").await, (FailureKind::Refused(status), vec![0]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_times_out_while_it_waits_for_a_busy_server() {
    let (link, mut fake, _) = modern().await;
    let mut call = tool("echo");
    call.timeout = Some(Duration::from_secs(5));
    let call = link.call(call, None);
    fake.expect("tools/call").await.respond(429, &[("retry-after", "7")], "later");
    assert_eq!(call.await.unwrap_err(), CallError::TimedOut(Duration::from_secs(5)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(fake.is_idle(), "a call that was given up is made");
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_not_taken_for_an_old_one() {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let server = async {
        let probe = fake.expect("server/discover").await;
        probe.respond(429, &[("retry-after", "3")], "later");
        fake.discover().await;
    };
    let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
    assert_eq!(link.unwrap().profile().revision, Revision::V2026_07_28);

    // A longer pause than a probe may take is an error, and not a handshake.
    let (transport, mut fake) = crate::support::fake();
    let user = Arc::new(User::default());
    let server = async {
        let probe = fake.expect("server/discover").await;
        probe.respond(503, &[("retry-after", "20")], "later");
    };
    let (link, ()) = tokio::join!(connect(transport, config(&Revision::ALL), user), server);
    let error = link.unwrap_err().to_string();
    assert!(error.contains("503 Service Unavailable: later"), "{error}");
    assert!(fake.is_idle());
}
