//! Tasks of 2025-11-25: servers may offer them, this client never uses them.

use bowline_client::Client;
use bowline_client::types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{Peer, assert_call_works, begin_call, builder, legacy_with, modern};

/// A client, and a server of 2025-11-25 with this declaration of tasks.
async fn met(tasks: &Value) -> (Client, Peer) {
    let capabilities = json!({ "tools": {}, "tasks": tasks });
    legacy_with(builder(), Revision::V2025_11_25, &capabilities).await
}

/// Everything that a server can declare.
fn everything() -> Value {
    json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } })
}

/// Lists one tool with these members.
async fn list(client: &Client, peer: &mut Peer, execution: &Value) {
    let schema = json!({ "type": "object" });
    let tool = json!({ "name": "work", "inputSchema": schema, "execution": execution });
    let serve = async {
        let request = peer.request("tools/list").await;
        peer.answer(&request, &json!({ "tools": [tool] }).to_string()).await;
    };
    let (tools, ()) = tokio::join!(client.tools().all(), serve);
    tools.unwrap();
}

// spec: TASK-2, TASK-3, TASK-4, TASK-6, TASK-7
#[tokio::test(start_paused = true)]
async fn no_call_asks_for_a_task_whatever_the_server_and_the_tool_say() {
    let lists_only = json!({ "list": {}, "cancel": {} });
    for tasks in [everything(), lists_only, json!(null)] {
        let (client, mut peer) = met(&tasks).await;
        for support in [json!(null), json!("forbidden"), json!("optional")] {
            list(&client, &mut peer, &json!({ "taskSupport": support })).await;
            let serve = async {
                let request = peer.request("tools/call").await;
                assert_eq!(request.params.get("task"), None, "{tasks} {support}");
                peer.answer_text(&request, "done").await;
            };
            let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
            assert_eq!(outcome.unwrap().text(), "done");
        }
    }
}

// spec: TASK-10
#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_only_as_a_task_is_not_called() {
    for tasks in [everything(), json!(null)] {
        let (client, mut peer) = met(&tasks).await;
        list(&client, &mut peer, &json!({ "taskSupport": "required" })).await;
        let error = client.call("work", ()).await.unwrap_err();
        let expected = "calling `work`: it was not sent: \
                        the server runs this tool only as a task, and this client asks for none";
        assert_eq!(error.to_string(), expected);
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_support_of_a_tool_is_ignored_in_other_revisions() {
    let capabilities = json!({ "tools": {} });
    let older = legacy_with(builder(), Revision::V2025_06_18, &capabilities).await;
    for (client, mut peer) in [modern(builder()).await, older] {
        list(&client, &mut peer, &json!({ "taskSupport": "required" })).await;
        assert_call_works(&client, &mut peer).await;
    }
}

// spec: CANC-3
#[tokio::test(start_paused = true)]
async fn a_cancelled_request_is_never_a_task() {
    let (client, mut peer) = met(&everything()).await;
    list(&client, &mut peer, &json!({ "taskSupport": "optional" })).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    assert_eq!(request.params.get("task"), None);
    drop(call);
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);
    peer.gets_nothing().await;
}
