//! Tasks of 2025-11-25.

use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{Client, Question, Result, ToolOutcome};
use futures_core::future::BoxFuture;
use futures_util::poll;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{core, done};
use crate::peer::{Peer, Request, assert_call_works, begin_call, builder, legacy_with, modern};

/// A client, and a server of 2025-11-25 with this declaration of tasks.
pub(super) async fn met(tasks: &Value) -> (Client, Peer) {
    let capabilities = json!({ "tools": {}, "tasks": tasks });
    let builder = builder().on_ask(async |question: Question| question.accept("Ada"));
    legacy_with(builder, Revision::V2025_11_25, &capabilities).await
}

/// Everything that a server can declare.
pub(super) fn everything() -> Value {
    json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } })
}

/// Answers a request for the list with one tool.
pub(super) async fn list_tool(peer: &mut Peer, support: &Value) {
    let request = peer.request("tools/list").await;
    let (schema, execution) = (json!({ "type": "object" }), json!({ "taskSupport": support }));
    let tool = json!({ "name": "work", "inputSchema": schema, "execution": execution });
    peer.answer(&request, &json!({ "tools": [tool] }).to_string()).await;
}

/// Lists one tool.
pub(super) async fn list(client: &Client, peer: &mut Peer, support: &Value) {
    let (tools, ()) = tokio::join!(client.tools().all(), list_tool(peer, support));
    tools.unwrap();
}

/// Answers a call with a task.
pub(super) async fn create(peer: &mut Peer, call: &Request) {
    peer.answer(call, &json!({ "task": core("a", "working") }).to_string()).await;
}

/// Answers the next `tasks/get`.
async fn describe(peer: &mut Peer, status: &str) {
    let get = peer.request("tasks/get").await;
    assert_eq!(get.params, json!({ "taskId": "a" }));
    peer.answer(&get, &core("a", status).to_string()).await;
}

/// Calls a tool that runs only as a task. `serve` answers the call, and what follows.
async fn call_required(
    serve: impl AsyncFnOnce(&mut Peer, Request),
) -> (Result<ToolOutcome>, Client, Peer) {
    let (client, mut peer) = met(&everything()).await;
    list(&client, &mut peer, &json!("required")).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        serve(&mut peer, request).await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    (outcome, client, peer)
}

/// Begins a call of a tool that runs only as a task, at a server with this declaration of tasks.
async fn begin_required(
    tasks: &Value,
) -> (Client, Peer, BoxFuture<'static, Result<ToolOutcome>>, Request) {
    let (client, mut peer) = met(tasks).await;
    list(&client, &mut peer, &json!("required")).await;
    let (call, request) = begin_call(&client, &mut peer).await;
    (client, peer, call, request)
}

/// Answers the next `tasks/result`.
async fn finish(peer: &mut Peer, text: &str) {
    let result = peer.request("tasks/result").await;
    assert_eq!(result.params, json!({ "taskId": "a" }));
    peer.answer(&result, &done(text).to_string()).await;
}

// spec: TASK-2, TASK-3, TASK-4, TASK-6, TASK-7, TASK-9
#[tokio::test(start_paused = true)]
async fn a_call_asks_for_no_task_unless_the_tool_needs_one() {
    let lists_only = json!({ "list": {}, "cancel": {} });
    for tasks in [everything(), lists_only.clone(), json!(null)] {
        let (client, mut peer) = met(&tasks).await;
        let mut supports = vec![json!(null), json!("forbidden"), json!("optional")];
        if tasks != everything() {
            // Then the word of the tool does not count.
            supports.push(json!("required"));
        }
        for support in supports {
            list(&client, &mut peer, &support).await;
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

// spec: TASK-10, TASK-33, TASK-34, TASK-43
#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_only_as_a_task_is_called_as_one_and_awaited() {
    let (outcome, _client, mut peer) = call_required(async |peer, request| {
        assert_eq!(request.params["task"], json!({}));
        create(peer, &request).await;
        let begun = Instant::now();
        describe(peer, "working").await;
        assert_eq!(begun.elapsed(), Duration::from_secs(2));
        describe(peer, "completed").await;
        assert_eq!(begun.elapsed(), Duration::from_secs(4));
        finish(peer, "built").await;
    })
    .await;
    assert_eq!(outcome.unwrap().text(), "built");
    peer.gets_nothing().await;
}

// spec: TASK-10
#[tokio::test(start_paused = true)]
async fn a_tool_that_was_not_listed_is_called_again_as_a_task_if_it_needs_one() {
    let (client, mut peer) = met(&everything()).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        assert_eq!(request.params.get("task"), None);
        peer.refuse(&request, -32601, "this tool runs only as a task").await;
        list_tool(&mut peer, &json!("required")).await;
        let request = peer.request("tools/call").await;
        assert_eq!(request.params["task"], json!({}));
        create(&mut peer, &request).await;
        describe(&mut peer, "completed").await;
        finish(&mut peer, "built").await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "built");
}

// spec: TASK-25, TASK-35, TASK-83
#[tokio::test(start_paused = true)]
async fn a_task_that_needs_input_is_awaited_on_the_stream_that_carries_its_questions() {
    let (outcome, _client, _) = call_required(async |peer, request| {
        create(peer, &request).await;
        describe(peer, "input_required").await;
        let begun = Instant::now();
        let result = peer.request("tasks/result").await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "a" } });
        let params = json!({ "_meta": related, "message": "Who?", "requestedSchema": schema });
        peer.send_json(json!({
            "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params,
        }))
        .await;
        let answer = peer.message().await;
        assert_eq!(answer["id"], "q");
        assert_eq!(answer["result"]["content"], json!({ "name": "Ada" }));
        // Longer than the timeout of a request, and the client sends nothing.
        tokio::time::sleep(Duration::from_secs(600)).await;
        peer.answer(&result, &done("Hello Ada").to_string()).await;
    })
    .await;
    assert_eq!(outcome.unwrap().text(), "Hello Ada");
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_is_read_like_that_of_a_plain_call() {
    let (outcome, _client, mut peer) = call_required(async |peer, request| {
        create(peer, &request).await;
        describe(peer, "failed").await;
        let result = peer.request("tasks/result").await;
        peer.refuse(&result, -32050, "no disk").await;
    })
    .await;
    assert_eq!(outcome.unwrap_err().rpc().unwrap().code, -32050);
    peer.gets_nothing().await;
}

// spec: TASK-60
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_of_a_task_that_was_cancelled() {
    let (outcome, _client, mut peer) = call_required(async |peer, request| {
        create(peer, &request).await;
        describe(peer, "cancelled").await;
    })
    .await;
    assert!(outcome.unwrap_err().is_cancelled());
    peer.gets_nothing().await;
}

// spec: TASK-48, TASK-49
#[tokio::test(start_paused = true)]
async fn a_notification_makes_the_client_ask_at_once_and_is_not_needed() {
    let (outcome, _client, _) = call_required(async |peer, request| {
        create(peer, &request).await;
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_millis(500)).await;
        peer.notify("notifications/tasks/status", &core("b", "completed")).await;
        peer.notify("notifications/tasks/status", &core("a", "completed")).await;
        describe(peer, "working").await;
        assert_eq!(begun.elapsed(), Duration::from_millis(500));
        describe(peer, "completed").await;
        assert_eq!(begun.elapsed(), Duration::from_millis(2500));
        finish(peer, "built").await;
    })
    .await;
    assert_eq!(outcome.unwrap().text(), "built");
}

// spec: PROG-11
#[tokio::test(start_paused = true)]
async fn progress_is_reported_as_long_as_the_task_is_awaited() {
    let (client, mut peer) = met(&everything()).await;
    list(&client, &mut peer, &json!("required")).await;
    let mut reported = Vec::new();
    let call = client.call("work", ()).progress(|progress| reported.push(progress.progress));
    let serve = async {
        let request = peer.request("tools/call").await;
        let token = request.params["_meta"]["progressToken"].clone();
        let report = |progress: u32| json!({ "progressToken": token, "progress": progress });
        peer.notify("notifications/progress", &report(1)).await;
        create(&mut peer, &request).await;
        peer.notify("notifications/progress", &report(2)).await;
        describe(&mut peer, "working").await;
        peer.notify("notifications/progress", &report(3)).await;
        peer.notify("notifications/progress", &json!({ "progressToken": 9, "progress": 9 })).await;
        describe(&mut peer, "completed").await;
        peer.notify("notifications/progress", &report(4)).await;
        finish(&mut peer, "built").await;
        report(5)
    };
    let (outcome, late) = tokio::join!(call.into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "built");
    peer.notify("notifications/progress", &late).await;
    peer.gets_nothing().await;
    assert_eq!(reported, [1.0, 2.0, 3.0, 4.0]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_task_is_a_readable_error() {
    for (answer, expected) in [
        (done("no task"), "`result.task`: missing"),
        (json!({ "task": core("", "working") }), "the id of its task is empty"),
        (
            json!({ "task": core("a", "paused") }),
            "its task has the status `paused`, which does not exist",
        ),
    ] {
        let answered = call_required(async |peer, request| {
            peer.answer(&request, &answer.to_string()).await;
        });
        let error = answered.await.0.unwrap_err();
        assert!(error.is_invalid_answer(), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_support_of_a_tool_is_ignored_in_other_revisions() {
    let capabilities = json!({ "tools": {} });
    let older = legacy_with(builder(), Revision::V2025_06_18, &capabilities).await;
    for (client, mut peer) in [modern(builder()).await, older] {
        list(&client, &mut peer, &json!("required")).await;
        assert_call_works(&client, &mut peer).await;
    }
}

// spec: CANC-3
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_cancels_its_task_and_never_the_request() {
    let (client, mut peer, mut call, request) = begin_required(&everything()).await;
    create(&mut peer, &request).await;
    tokio::task::yield_now().await;
    assert!(poll!(&mut call).is_pending());
    drop(call);
    assert_eq!(peer.request("tasks/cancel").await.params, json!({ "taskId": "a" }));
    peer.gets_nothing().await;

    // The id is not known yet.
    let (call, request) = begin_call(&client, &mut peer).await;
    drop(call);
    peer.gets_nothing().await;
    create(&mut peer, &request).await;
    assert_eq!(peer.request("tasks/cancel").await.params, json!({ "taskId": "a" }));
    peer.gets_nothing().await;
}

// spec: CANC-3
#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_before_its_answer_cancels_the_task_of_a_late_one() {
    let (_client, mut peer, call, request) = begin_required(&everything()).await;
    assert!(call.await.unwrap_err().is_timeout());
    create(&mut peer, &request).await;
    assert_eq!(peer.request("tasks/cancel").await.params, json!({ "taskId": "a" }));
    peer.gets_nothing().await;
}

// spec: TASK-5
#[tokio::test(start_paused = true)]
async fn a_server_without_cancellation_is_not_asked_to_cancel() {
    let tasks = json!({ "requests": { "tools": { "call": {} } } });
    let (_client, mut peer, mut call, request) = begin_required(&tasks).await;
    create(&mut peer, &request).await;
    tokio::task::yield_now().await;
    assert!(poll!(&mut call).is_pending());
    drop(call);
    peer.gets_nothing().await;
}
