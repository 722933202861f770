//! The check of tool results against output schemas.

use bowline_client::types::revision::Revision;
use bowline_client::{Client, Result, ToolOutcome};
use serde_json::{Value, json};

use crate::peer::{Heard, Peer, both, both_with, builder, legacy, modern};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Lists one tool with this output schema.
async fn list(client: &Client, peer: &mut Peer, output: &Value) {
    let tool =
        json!({ "name": "sum", "inputSchema": { "type": "object" }, "outputSchema": output });
    let serve = async {
        let request = peer.request("tools/list").await;
        peer.answer(&request, &json!({ "tools": [tool] }).to_string()).await;
    };
    let (tools, ()) = tokio::join!(client.tools().all(), serve);
    tools.unwrap();
}

/// Calls the tool; the server answers with this result.
async fn call(client: &Client, peer: &mut Peer, result: Value) -> Result<ToolOutcome> {
    let serve = async {
        let request = peer.request("tools/call").await;
        peer.answer(&request, &result.to_string()).await;
    };
    let (outcome, ()) = tokio::join!(client.call("sum", ()).into_future(), serve);
    outcome
}

fn structured(content: &Value) -> Value {
    json!({ "content": [], "structuredContent": content })
}

fn sum() -> Value {
    let properties = json!({ "sum": { "type": "integer", "minimum": 0 } });
    json!({ "type": "object", "properties": properties, "required": ["sum"] })
}

// spec: TOOL-30, TOOL-48
#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_fit_is_an_invalid_answer() {
    for (client, mut peer) in both(builder()).await {
        list(&client, &mut peer, &sum()).await;
        let outcome = call(&client, &mut peer, structured(&json!({ "sum": 3 }))).await.unwrap();
        assert_eq!(outcome.structured().unwrap().as_str(), r#"{"sum":3}"#);
        let error = call(&client, &mut peer, structured(&json!({ "sum": -3 }))).await.unwrap_err();
        assert!(error.is_invalid_answer() && !error.may_retry());
        let expected = "calling `sum`: the result is not what `tools/list` says of the tool: \
                        `structuredContent.sum`: expected at least 0, found -3";
        assert_eq!(error.to_string(), expected);
        let error = call(&client, &mut peer, json!({ "content": [] })).await.unwrap_err();
        assert!(error.to_string().ends_with("missing, but the tool has an output schema"));
    }
}

// spec: TOOL-37
#[tokio::test(start_paused = true)]
async fn the_result_of_a_failed_tool_is_not_checked() {
    for (client, mut peer) in both(builder()).await {
        list(&client, &mut peer, &sum()).await;
        let content = json!([{ "type": "text", "text": "no numbers" }]);
        let failed = json!({ "content": content, "isError": true });
        assert!(call(&client, &mut peer, failed).await.unwrap().is_error());
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_was_never_listed_is_not_checked() {
    for (client, mut peer) in both(builder()).await {
        call(&client, &mut peer, structured(&json!({ "sum": "three" }))).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn unchecked_output_turns_the_check_off() {
    for (client, mut peer) in both(builder().unchecked_output()).await {
        list(&client, &mut peer, &json!({ "$ref": "https://example.com/sum.json" })).await;
        call(&client, &mut peer, structured(&json!({ "sum": "three" }))).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_schema_is_forgotten_when_the_list_changes() {
    let tools = json!({ "tools": { "listChanged": true } });
    for (client, mut peer) in both_with(builder(), &tools).await {
        list(&client, &mut peer, &sum()).await;
        let is_modern = client.revision().is_modern();
        let serve = async {
            let id = if is_modern { peer.request("subscriptions/listen").await.id } else { 0 };
            let params =
                json!({ "_meta": { ID: id }, "notifications": { "toolsListChanged": true } });
            peer.notify("notifications/subscriptions/acknowledged", &params).await;
            params
        };
        let (changes, params) = tokio::join!(client.subscribe().tools().open(), serve);
        let mut changes = changes.unwrap();
        peer.notify("notifications/tools/list_changed", &params).await;
        changes.next().await.unwrap().unwrap();
        call(&client, &mut peer, structured(&json!({ "total": 3 }))).await.unwrap();
        list(&client, &mut peer, &sum()).await;
        call(&client, &mut peer, structured(&json!({ "total": 3 }))).await.unwrap_err();
    }
}

// spec: TOOL-51, SCH-8, SCH-13
#[tokio::test(start_paused = true)]
async fn a_tool_whose_schema_refers_to_another_document_is_not_called() {
    for (client, mut peer) in both(builder()).await {
        list(&client, &mut peer, &json!({ "$ref": "https://example.com/sum.json" })).await;
        let error = client.call("sum", ()).await.unwrap_err();
        let text = error.to_string();
        let expected = "calling `sum`: it was not sent: its output schema at `#/$ref`: ";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("https://example.com/sum.json"), "{text}");
        peer.gets_nothing().await;
    }
}

// spec: TOOL-51
#[tokio::test(start_paused = true)]
async fn a_schema_may_refer_to_itself() {
    let (client, mut peer) = modern(builder()).await;
    let schema = json!({ "$ref": "#/$defs/n", "$defs": { "n": { "type": "integer" } } });
    list(&client, &mut peer, &schema).await;
    call(&client, &mut peer, structured(&json!(3))).await.unwrap();
    call(&client, &mut peer, structured(&json!(null))).await.unwrap_err();
}

// spec: SCH-3, TOOL-30
#[tokio::test(start_paused = true)]
async fn a_result_is_checked_in_the_dialect_that_its_schema_declares() {
    let pair = json!([{ "type": "integer" }, { "type": "string" }]);
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "pair": { "type": "array", "items": pair, "additionalItems": false } },
    });
    for (client, mut peer) in both(builder()).await {
        list(&client, &mut peer, &schema).await;
        let right = json!({ "pair": [1, "one"] });
        call(&client, &mut peer, structured(&right)).await.unwrap();
        let wrong = json!({ "pair": [1, 1] });
        let error = call(&client, &mut peer, structured(&wrong)).await.unwrap_err();
        assert!(error.is_invalid_answer());
        assert!(error.to_string().contains("`structuredContent.pair[1]`: expected a string"));
    }
}

// spec: SCH-4, SCH-14
#[tokio::test(start_paused = true)]
async fn an_unsupported_schema_is_reported_once_and_the_tool_is_still_called() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..70 {
        deep = json!({ "not": deep });
    }
    for (schema, reason) in [
        (json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "draft-04"),
        (json!({ "type": "strin" }), "strin"),
        (deep, "schema at"),
    ] {
        let diagnostics = Heard::default();
        let (client, mut peer) = modern(builder().on_diagnostic(diagnostics.hear())).await;
        list(&client, &mut peer, &schema).await;
        for _ in 0..2 {
            call(&client, &mut peer, structured(&json!(1))).await.unwrap();
        }
        let diagnostics = diagnostics.all();
        let [told] = &diagnostics[..] else { panic!("{diagnostics:?}") };
        assert!(told.starts_with("the results of `sum` cannot be checked: "), "{told}");
        assert!(told.contains(reason), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_not_checked_in_revisions_without_structured_output() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let (client, mut peer) = legacy(builder(), revision).await;
        list(&client, &mut peer, &sum()).await;
        call(&client, &mut peer, json!({ "content": [] })).await.unwrap();
    }
}
