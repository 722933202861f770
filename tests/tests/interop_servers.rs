//! Our client calls servers of other SDKs over stdio, in the era that it finds out by itself.

use std::time::Duration;

use bowline::types::revision::Revision;
use bowline::{Client, Command};
use bowline_tests::peers;
use serde_json::json;

/// A server of `tests/peers`.
fn server(peer: &[&str], arguments: &[&str]) -> Command {
    let (program, script) = peers::program(peer);
    Command::new(program).arg(script).args(arguments)
}

/// Connects, as a user who answers every question with a name.
async fn connect(command: Command, revisions: impl IntoIterator<Item = Revision>) -> Client {
    Client::builder("bowline-tests", "1.0.0")
        .revisions(revisions)
        .on_ask(|question| async move { question.accept(json!({ "name": "Ada" })) })
        .connect(command)
        .await
        .unwrap_or_else(|error| panic!("no connection: {error}"))
}

/// The four tools that every server of `tests/peers` has.
async fn call_everything(client: &Client) {
    let names: Vec<_> =
        client.tools().all().await.unwrap().into_iter().map(|tool| tool.name).collect();
    for name in ["echo", "add", "sleep", "greet"] {
        assert!(names.iter().any(|other| other == name), "{name} is not among {names:?}");
    }
    let text = "Grüße, 世界\nsecond line \u{2028} end";
    let echoed = client.call("echo", json!({ "message": text })).await.unwrap();
    assert_eq!(echoed.text(), text);
    let sum: serde_json::Value =
        client.call("add", json!({ "a": 40, "b": 2 })).await.unwrap().parse().unwrap();
    assert!(sum == json!({ "sum": 42 }) || sum == json!(42), "{sum}");
    let wrong = client.call("add", json!({ "a": "two", "b": [] })).await.unwrap();
    assert!(wrong.is_error());

    let mut reports = Vec::new();
    let slept = client
        .call("sleep", json!({ "seconds": 0.5 }))
        .progress(|progress| reports.push(progress.progress))
        .await
        .unwrap();
    assert!(!slept.is_error(), "{}", slept.text());
    assert!(reports.len() >= 3 && reports.is_sorted(), "{reports:?}");

    let late = client.call("sleep", json!({ "seconds": 30 })).timeout(Duration::from_millis(50));
    let late = late.deadline(Duration::from_millis(300)).await.unwrap_err();
    assert!(late.is_timeout(), "{late}");
    let echoed = client.call("echo", json!({ "message": "still here" })).await.unwrap();
    assert_eq!(echoed.text(), "still here");

    let greeting = client.call("greet", json!({})).await.unwrap();
    assert_eq!(greeting.text(), "Hello, Ada!");
}

// spec: ERA-3, ERA-4, MRTR-19, MRTR-26
#[tokio::test]
async fn fastmcp_is_found_to_be_modern_and_serves_everything() {
    let client = connect(server(&["python", "fastmcp_server.py"], &[]), Revision::ALL).await;
    assert_eq!(client.revision(), Revision::V2026_07_28);
    call_everything(&client).await;
    client.close().await;
}

// spec: LIFE-2, LIFE-4, LIFE-13
#[tokio::test]
async fn fastmcp_serves_everything_after_a_handshake() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let client = connect(server(&["python", "fastmcp_server.py"], &[]), [revision]).await;
        assert_eq!(client.revision(), revision);
        call_everything(&client).await;
        client.close().await;
    }
}

#[tokio::test]
async fn a_typescript_server_serves_everything_in_both_eras() {
    for revisions in
        [vec![Revision::V2025_06_18], vec![Revision::V2025_11_25], Revision::ALL.to_vec()]
    {
        let newest = revisions.iter().copied().max().unwrap();
        let client = connect(server(&["node", "ts-v2-server.mjs"], &[]), revisions).await;
        assert_eq!(client.revision(), newest);
        call_everything(&client).await;
        client.close().await;
    }
}

// spec: ERA-5, ERA-6
#[tokio::test]
async fn the_everything_server_is_found_to_be_legacy() {
    let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let client = connect(server(&["node", script], &["stdio"]), Revision::ALL).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    let tools = client.tools().all().await.unwrap();
    assert!(tools.len() >= 10, "{} tools", tools.len());
    let echoed = client.call("echo", json!({ "message": "ahoy" })).await.unwrap();
    assert_eq!(echoed.text(), "Echo: ahoy");
    let sum = client.call("get-sum", json!({ "a": 40, "b": 2 })).await.unwrap();
    assert!(sum.text().contains("42"), "{}", sum.text());
    let mut reports = 0;
    let long = json!({ "duration": 1, "steps": 4 });
    let done = client
        .call("trigger-long-running-operation", long)
        .progress(|_| reports += 1)
        .await
        .unwrap();
    assert!(!done.is_error() && reports >= 3, "{reports} reports, {}", done.text());
    let structured =
        client.call("get-structured-content", json!({ "location": "New York" })).await.unwrap();
    assert!(structured.structured().is_some());
    let long = client.call("trigger-long-running-operation", json!({ "duration": 30, "steps": 2 }));
    let late = long.deadline(Duration::from_millis(300)).await.unwrap_err();
    assert!(late.is_timeout(), "{late}");
    let echoed = client.call("echo", json!({ "message": "still here" })).await.unwrap();
    assert_eq!(echoed.text(), "Echo: still here");
    let asked = client.call("trigger-elicitation-request", json!({})).await.unwrap();
    assert!(!asked.is_error() && asked.text().contains("Ada"), "{}", asked.text());
    let refused = client.call("no-such-tool", json!({})).await;
    assert!(refused.map_or(true, |outcome| outcome.is_error()));
    client.close().await;
}
