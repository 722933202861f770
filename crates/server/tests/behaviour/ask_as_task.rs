//! Questions that a server asks as tasks, which the client runs (2025-11-25). In virtual time.

use std::time::Duration;

use bowline_proto::request::QuestionError;
use bowline_server::{Ask, Result, Server, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::task::TasksCapability;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::peer::Peer;

const HOUR: Duration = Duration::from_secs(3600);

async fn confirm(ask: Ask) -> Result<String> {
    Ok(ask.as_task(HOUR).confirm("Release it?").await?.to_string())
}

/// Gives up after ten seconds.
async fn hurry(ask: Ask) -> &'static str {
    let asking = ask.as_task(HOUR).confirm("Release it?");
    let answer = tokio::time::timeout(Duration::from_secs(10), asking).await;
    if answer.is_ok() { "answered" } else { "given up" }
}

async fn sample(ask: Ask) -> Result<String> {
    Ok(ask.as_task(HOUR).sample("A knot?").await?.text())
}

/// A client that runs these requests as tasks.
fn client(revision: Revision, tasks: Option<TasksCapability>) -> Peer {
    let server = Server::new("release", "1")
        .tool(Tool::new("confirm", confirm))
        .tool(Tool::new("hurry", hurry))
        .tool(Tool::new("sample", sample));
    let mut can = ClientCapabilities::new().with_form_elicitation().with_sampling();
    can.tasks = tasks;
    Peer::able(&server, revision, can)
}

/// Runs both kinds of questions as tasks.
fn both() -> TasksCapability {
    let elicitation = TasksCapability::new().with_request(Method::ElicitationCreate);
    elicitation.with_request(Method::SamplingCreateMessage)
}

fn task(status: &str) -> Value {
    json!({
        "taskId": "q7",
        "status": status,
        "createdAt": "2025-11-25T10:30:00Z",
        "lastUpdatedAt": "2025-11-25T10:30:00Z",
        "ttl": 3_600_000,
        "pollInterval": 2000,
    })
}

fn created() -> Value {
    json!({ "task": task("working") })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "confirm": true } })
}

/// The questions that the client got, as they are on the wire.
fn asked(peer: &Peer) -> Vec<Value> {
    let written = |question| serde_json::to_value(question).unwrap();
    peer.inbox.questions().iter().map(written).collect()
}

/// The methods of the questions that the client got.
fn methods(peer: &Peer) -> Vec<String> {
    asked(peer).iter().map(|question| question["method"].as_str().unwrap().to_owned()).collect()
}

// spec: TASK-2, TASK-12, TASK-33, TASK-34, TASK-43
#[tokio::test(start_paused = true)]
async fn a_question_as_a_task_is_polled_and_then_fetched() {
    let peer = client(Revision::V2025_11_25, Some(both()));
    for answer in [created(), task("working"), task("completed"), yes()] {
        peer.inbox.answer(Ok(answer));
    }
    let begun = Instant::now();
    assert_eq!(peer.text("confirm", json!({})).await, "true");
    assert_eq!(begun.elapsed(), Duration::from_secs(4));
    let asked = asked(&peer);
    assert_eq!(asked[0]["params"]["task"], json!({ "ttl": 3_600_000 }));
    let about = |method: &str| json!({ "method": method, "params": { "taskId": "q7" } });
    assert_eq!(asked[1..], [about("tasks/get"), about("tasks/get"), about("tasks/result")]);
}

// spec: TASK-2
#[tokio::test(start_paused = true)]
async fn the_model_is_asked_as_a_task_too() {
    let peer = client(Revision::V2025_11_25, Some(both()));
    let content = json!({ "type": "text", "text": "a bowline" });
    let result = json!({ "role": "assistant", "model": "sailor", "content": content });
    for answer in [created(), task("completed"), result] {
        peer.inbox.answer(Ok(answer));
    }
    assert_eq!(peer.text("sample", json!({})).await, "a bowline");
    assert_eq!(methods(&peer), ["sampling/createMessage", "tasks/get", "tasks/result"]);
}

// spec: TASK-25
#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_that_needs_input_is_awaited() {
    let peer = client(Revision::V2025_11_25, Some(both()));
    for answer in [created(), task("input_required"), yes()] {
        peer.inbox.answer(Ok(answer));
    }
    assert_eq!(peer.text("confirm", json!({})).await, "true");
    assert_eq!(methods(&peer), ["elicitation/create", "tasks/get", "tasks/result"]);
}

// spec: TASK-35
#[tokio::test(start_paused = true)]
async fn a_request_about_the_task_that_is_not_answered_is_sent_again() {
    let peer = client(Revision::V2025_11_25, Some(both()));
    peer.inbox.answer(Ok(created()));
    peer.inbox.answer(Err(QuestionError::TimedOut));
    peer.inbox.answer(Ok(task("input_required")));
    peer.inbox.answer(Err(QuestionError::TimedOut));
    peer.inbox.answer(Ok(task("completed")));
    peer.inbox.answer(Ok(yes()));
    assert_eq!(peer.text("confirm", json!({})).await, "true");
    let get_and_result = ["tasks/get", "tasks/result"];
    let expected = [&["elicitation/create", "tasks/get"], &get_and_result[..], &get_and_result];
    assert_eq!(methods(&peer), expected.concat());
}

// spec: TASK-2, TASK-3, TASK-4
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_run_such_tasks_is_asked_without() {
    let sampling = TasksCapability::new().with_request(Method::SamplingCreateMessage);
    let core = Revision::V2025_11_25;
    for (revision, tasks) in
        [(core, None), (core, Some(sampling)), (Revision::V2025_06_18, Some(both()))]
    {
        let peer = client(revision, tasks);
        peer.inbox.answer(Ok(yes()));
        assert_eq!(peer.text("confirm", json!({})).await, "true");
        let asked = asked(&peer);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0]["params"].get("task"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_at_once_is_taken() {
    let peer = client(Revision::V2025_11_25, Some(both()));
    peer.inbox.answer(Ok(yes()));
    assert_eq!(peer.text("confirm", json!({})).await, "true");
    assert_eq!(methods(&peer), ["elicitation/create"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_or_is_cancelled_fails_the_question() {
    let refused = || Err(QuestionError::Refused(ErrorObject::internal("no user here")));
    let failed = vec![Ok(created()), Ok(task("failed")), refused()];
    let cancelled = vec![Ok(created()), Ok(task("cancelled"))];
    for (answers, expected) in [(failed, "no user here"), (cancelled, "cancelled the question")] {
        let peer = client(Revision::V2025_11_25, Some(both().with_cancel()));
        answers.into_iter().for_each(|answer| peer.inbox.answer(answer));
        let text = peer.failure("confirm", json!({})).await;
        assert!(text.contains(expected), "{text}");
        assert!(!methods(&peer).contains(&"tasks/cancel".to_owned()));
    }
}

// spec: TASK-5
#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_is_withdrawn_if_the_client_offers_that() {
    for (tasks, last) in [(both().with_cancel(), "tasks/cancel"), (both(), "tasks/get")] {
        let peer = client(Revision::V2025_11_25, Some(tasks));
        peer.inbox.answer(Ok(created()));
        (0..8).for_each(|_| peer.inbox.answer(Ok(task("working"))));
        assert_eq!(peer.text("hurry", json!({})).await, "given up");
        assert_eq!(methods(&peer).last().unwrap(), last);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_fails_when_the_client_keeps_its_task_no_longer() {
    let peer = client(Revision::V2025_11_25, Some(both().with_cancel()));
    let mut short = created();
    short["task"]["ttl"] = json!(5000);
    peer.inbox.answer(Ok(short));
    (0..8).for_each(|_| peer.inbox.answer(Ok(task("working"))));
    let text = peer.failure("confirm", json!({})).await;
    assert!(text.contains("did not answer in time"), "{text}");
    assert_eq!(methods(&peer), ["elicitation/create", "tasks/get", "tasks/get", "tasks/cancel"]);
}
