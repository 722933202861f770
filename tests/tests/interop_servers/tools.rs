//! Tools: content of every kind, structure, failures, progress, cancellation.

use std::time::Duration;

use bowline_types::tool::ToolDefinition;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::connected_client::ConnectedClient;
use crate::peer::Feature;

pub(crate) async fn check(connected: &ConnectedClient) {
    listing(connected).await;
    results(connected).await;
    content(connected).await;
    structure(connected).await;
    progress(connected).await;
    cancellation(connected).await;
}

// spec: PAGE-1, PAGE-4, PAGE-5
async fn listing(connected: &ConnectedClient) {
    let tools = connected.client.tools().all().await.unwrap();
    let find = |name: &str| -> &ToolDefinition {
        tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("no tool `{name}`"))
    };
    for name in ["echo", "fail", "gallery", "sleep", "chatter", "seen", "greet", "sample", "roots"]
    {
        assert!(find(name).description.is_some(), "{name}");
    }
    let add = find("add");
    let schema: Value = add.input_schema.parse().unwrap();
    assert_eq!(schema["properties"]["a"]["type"], "integer");
    let is_read_only = add.annotations.as_ref().and_then(|it| it.read_only_hint);
    if connected.revision.has_tool_annotations() {
        assert_eq!(is_read_only, Some(true));
    }
    if connected.revision.has_titles() {
        assert_eq!(add.display_name(), "Adder");
    }
    if connected.revision.has_structured_output() {
        let schema: Value = add.output_schema.as_ref().unwrap().parse().unwrap();
        assert_eq!(schema["properties"]["sum"]["type"], "integer");
    }
}

// spec: TOOL-37
async fn results(connected: &ConnectedClient) {
    let client = &connected.client;
    let text = "Grüße, 世界\nsecond line \u{2028} end";
    assert_eq!(client.call("echo", json!({ "message": text })).await.unwrap().text(), text);
    let failed = client.call("fail", json!({ "reason": "out of rope" })).await.unwrap();
    assert!(failed.is_error() && failed.text().contains("out of rope"), "{}", failed.text());
    let wrong = client.call("add", json!({ "a": "two", "b": [] })).await.unwrap();
    assert!(wrong.is_error(), "{}", wrong.text());
    let unknown = client.call("no-such-tool", ()).await;
    assert!(unknown.map_or_else(|error| error.is_refused(), |outcome| outcome.is_error()));
}

async fn content(connected: &ConnectedClient) {
    let outcome = connected.client.call("gallery", ()).await.unwrap();
    let content = serde_json::to_value(outcome.content()).unwrap();
    let kinds: Vec<_> = content.as_array().unwrap().iter().map(|block| &block["type"]).collect();
    let resource =
        json!({ "uri": "peer://motd", "mimeType": "text/plain", "text": "Tie a bowline." });
    let expected = json!([
        { "type": "text", "text": "a text", "annotations": { "audience": ["user"], "priority": 0.5 } },
        { "type": "image", "data": "AAH+/w==", "mimeType": "image/png" },
        { "type": "audio", "data": "AAH+/w==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "peer://motd", "name": "motd" },
        { "type": "resource", "resource": resource },
    ]);
    if connected.revision.has_resource_links() {
        assert_eq!(content, expected);
    } else {
        assert!(
            kinds.contains(&&json!("image")) && kinds.contains(&&json!("resource")),
            "{content}"
        );
    }
}

// spec: TOOL-30, TOOL-48
async fn structure(connected: &ConnectedClient) {
    let sum = connected.client.call("add", json!({ "a": 40, "b": 2 })).await.unwrap();
    assert_eq!(sum.parse::<Value>().unwrap(), json!({ "sum": 42 }));
    if !connected.revision.has_structured_output() {
        return;
    }
    assert!(sum.structured().is_some());
    let lie = connected.client.call("lie", ()).await;
    if connected.has(Feature::OutputChecks) {
        assert!(lie.unwrap().is_error());
    } else {
        let error = lie.unwrap_err();
        assert!(error.is_invalid_answer(), "{error}");
        assert!(error.to_string().contains("`structuredContent.sum`"), "{error}");
    }
}

async fn progress(connected: &ConnectedClient) {
    let mut reports = Vec::new();
    let call = connected.client.call("sleep", json!({ "seconds": 0.2 }));
    let slept = call.progress(|progress| reports.push(progress)).await.unwrap();
    assert!(!slept.is_error(), "{}", slept.text());
    // SDKs may drop the last progress report, which comes together with the answer.
    assert!((3..=4).contains(&reports.len()), "{reports:?}");
    assert!(reports.is_sorted_by(|one, other| one.progress < other.progress), "{reports:?}");
    assert!(reports.iter().all(|report| report.total == Some(0.2)), "{reports:?}");
    if connected.revision.has_progress_message() {
        assert_eq!(reports[0].message.as_deref(), Some("sleeping"));
    }
}

// spec: CANC-14, CANC-15, TIME-3
/// A dropped call and a call over its timeout are cancelled at the server.
async fn cancellation(connected: &ConnectedClient) {
    let started = Notify::new();
    let call = connected.client.call("sleep", json!({ "seconds": 60 }));
    let call = call.progress(|_| started.notify_one()).into_future();
    tokio::select! {
        outcome = call => panic!("the tool sleeps longer: {outcome:?}"),
        () = started.notified() => {}
    }
    connected.until_seen("cancelled", json!(1)).await;
    let call = connected.client.call("sleep", json!({ "seconds": 60 }));
    let late = call.deadline(Duration::from_millis(200)).await.unwrap_err();
    assert!(late.is_timeout(), "{late}");
    connected.until_seen("cancelled", json!(2)).await;
}
