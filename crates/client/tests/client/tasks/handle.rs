//! Handles of tasks: started without waiting, and found again by their ids.

use std::sync::{Arc, Mutex};

use bowline_client::types::ext::tasks::TaskStatus;
use bowline_client::{ToolCallOutcome, ToolCallRecord};
use serde_json::json;

use super::legacy::{create, everything, list, list_tool, met};
use super::{core, done, task};
use crate::peer::{Heard, builder, modern_with};

// spec: TASK-9, XTASK-14
#[tokio::test(start_paused = true)]
async fn a_call_can_be_started_and_awaited_later_by_its_id() {
    let (client, mut peer) = met(&everything()).await;
    let serve = async {
        // The tool was not listed, so the client finds out whether it may be a task.
        list_tool(&mut peer, &json!("optional")).await;
        let request = peer.request("tools/call").await;
        assert_eq!(request.params["task"], json!({}));
        create(&mut peer, &request).await;
    };
    let (handle, ()) = tokio::join!(client.call("work", ()).task(), serve);
    let handle = handle.unwrap();
    assert_eq!(handle.id(), Some("a"));

    let serve = async {
        let get = peer.request("tasks/get").await;
        let mut state = core("a", "working");
        state["statusMessage"] = "half-way".into();
        peer.answer(&get, &state.to_string()).await;
    };
    let (state, ()) = tokio::join!(handle.state(), serve);
    let state = state.unwrap();
    assert_eq!(state.status(), &TaskStatus::Working);
    assert_eq!(state.message(), Some("half-way"));
    assert_eq!((state.id(), state.ttl().unwrap().as_secs()), ("a", 60));

    drop(handle);
    peer.gets_nothing().await;
    let handle = client.task("a");
    let serve = async {
        let get = peer.request("tasks/get").await;
        peer.answer(&get, &core("a", "completed").to_string()).await;
        let result = peer.request("tasks/result").await;
        peer.answer(&result, &done("built").to_string()).await;
    };
    let (outcome, ()) = tokio::join!(handle.wait(), serve);
    assert_eq!(outcome.unwrap().text(), "built");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_wait_does_not_cancel_the_task() {
    let (client, mut peer) = met(&everything()).await;
    list(&client, &mut peer, &json!("optional")).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        create(&mut peer, &request).await;
    };
    let handle = tokio::join!(client.call("work", ()).task(), serve).0.unwrap();
    tokio::select! {
        _ = handle.wait() => panic!("it ended"),
        () = tokio::task::yield_now() => {}
    }
    peer.gets_nothing().await;
    let serve = async {
        let cancel = peer.request("tasks/cancel").await;
        peer.answer(&cancel, &core("a", "cancelled").to_string()).await;
    };
    tokio::join!(handle.cancel(), serve).0.unwrap();
}

// spec: TASK-7
#[tokio::test(start_paused = true)]
async fn a_tool_without_tasks_is_called_as_usual_and_its_result_kept() {
    let (client, mut peer) = met(&everything()).await;
    list(&client, &mut peer, &json!("forbidden")).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        assert_eq!(request.params.get("task"), None);
        peer.answer_text(&request, "done").await;
    };
    let handle = tokio::join!(client.call("work", ()).task(), serve).0.unwrap();
    assert_eq!(handle.id(), None);
    assert_eq!(handle.state().await.unwrap().status(), &TaskStatus::Completed);
    handle.cancel().await.unwrap();
    assert_eq!(handle.wait().await.unwrap().text(), "done");
    assert_eq!(handle.wait().await.unwrap().text(), "done");
    peer.gets_nothing().await;
}

// spec: TASK-5, TASK-53
#[tokio::test(start_paused = true)]
async fn tasks_are_listed_page_by_page_where_the_server_offers_it() {
    let (client, mut peer) = met(&everything()).await;
    let serve = async {
        let request = peer.request("tasks/list").await;
        let page = json!({ "tasks": [core("a", "working")], "nextCursor": "%/ é" });
        peer.answer(&request, &page.to_string()).await;
        let request = peer.request("tasks/list").await;
        assert_eq!(request.params["cursor"], "%/ é");
        peer.answer(&request, &json!({ "tasks": [core("b", "failed")] }).to_string()).await;
    };
    let (tasks, ()) = tokio::join!(client.tasks().all(), serve);
    let tasks = tasks.unwrap();
    let ids: Vec<_> = tasks.iter().map(bowline_client::TaskState::id).collect();
    assert_eq!(ids, ["a", "b"]);

    let (client, mut peer) = met(&json!({ "cancel": {} })).await;
    assert!(client.tasks().all().await.unwrap_err().is_not_offered());
    peer.gets_nothing().await;
}

// spec: TASK-81
#[tokio::test(start_paused = true)]
async fn a_call_that_was_only_started_is_recorded_as_such() {
    let heard = Heard::default();
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let (denied, records) = (heard.clone(), outcomes.clone());
    let builder = builder()
        .on_call(move |call: bowline_client::ToolCall| {
            denied.push(call.tool());
            async { bowline_client::Consent::Allow }
        })
        .audit(move |record: &ToolCallRecord| records.lock().unwrap().push(record.outcome()));
    let extension = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({ "tools": {}, "extensions": extension });
    let (client, mut peer) = modern_with(builder, &capabilities).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        let created = task("a", "working", json!({ "resultType": "task" }));
        peer.answer(&request, &created.to_string()).await;
    };
    let handle = tokio::join!(client.call("work", ()).task(), serve).0.unwrap();
    assert_eq!(handle.id(), Some("a"));
    assert_eq!(heard.all(), ["work"]);
    assert_eq!(*outcomes.lock().unwrap(), [ToolCallOutcome::Started]);
}
