//! A call that runs as a task: the client creates it, asks how it is until it has ended, and fetches
//! its result, each at whichever replica.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{ClientBase, HEAD, messages};
use crate::ledger::{End, Task, TaskEnd};
use crate::wire::HttpRequest;

/// One in so many calls of a client runs as a task. With 250 clients, that keeps about 1,200 tasks in the
/// list of their one owner, which has room for 1,638.
pub(super) const ONE_IN: u64 = 10;

/// The time between two questions for a task.
const POLL: Duration = Duration::from_millis(250);

/// How long a client waits for the end of a task.
const DEADLINE: Duration = Duration::from_secs(60);

/// The error code for an id that no task has.
const INVALID_PARAMS: i64 = -32602;

/// Creates a task, and waits for its end. A client with a session names it.
pub(super) async fn run(base: &mut ClientBase, session: Option<&str>) -> Task {
    let mut task = Task {
        nonce: base.new_id(),
        session: session.map(str::to_owned),
        is_idempotent: base.random.is_once_in(2),
        began: base.now(),
        created: None,
        ended: Duration::ZERO,
        polls: 0,
        end: TaskEnd::Overdue,
    };
    let time = base.random.between(50, base.setting.most_events * base.setting.pause);
    task.end = match create(base, session, &task, time).await {
        Ok(id) => {
            task.created = Some(base.now());
            follow(base, session, &mut task, &id).await
        }
        Err(end) => TaskEnd::NotCreated(end),
    };
    task.ended = base.now();
    task
}

async fn create(
    base: &ClientBase,
    session: Option<&str>,
    task: &Task,
    time: u64,
) -> Result<String, End> {
    let name = if task.is_idempotent { "work_again" } else { "work" };
    let arguments = json!({ "nonce": task.nonce, "time": time });
    let params = json!({ "name": name, "arguments": arguments });
    let created = match session {
        Some(_) => {
            let mut params = params;
            params["task"] = json!({});
            ask(base, session, ("tools/call", name), params, task.nonce).await?
        }
        None => ask(base, session, ("tools/call", name), params, task.nonce).await?,
    };
    let task = if session.is_some() { &created["task"] } else { &created };
    let id = task["taskId"].as_str().map(str::to_owned);
    id.ok_or_else(|| End::Failed(0, format!("no task: {created}")))
}

/// Asks how a task is until it has ended, and then once more.
async fn follow(
    base: &mut ClientBase,
    session: Option<&str>,
    task: &mut Task,
    id: &str,
) -> TaskEnd {
    let mut first = None;
    while base.now() < task.began + DEADLINE {
        sleep(POLL).await;
        task.polls += 1;
        let end = match state(base, session, id).await {
            Ok(None) if first.is_none() => continue,
            Ok(None) => return TaskEnd::Changed("working".to_owned()),
            Ok(Some(end)) => end,
            Err(End::SessionLost) => return TaskEnd::SessionLost,
            Err(End::Failed(INVALID_PARAMS, _)) => TaskEnd::Unknown,
            Err(end) => {
                base.setting.recorder.refused("task", session, end);
                continue;
            }
        };
        match first {
            None if end == TaskEnd::Unknown => return end,
            None => first = Some(end),
            Some(first) if first == end => return end,
            Some(first) => return TaskEnd::Changed(format!("{first:?}, then {end:?}")),
        }
    }
    // If only the second look is late, the first is what counts.
    first.unwrap_or(TaskEnd::Overdue)
}

/// The end of a task, if it has ended.
async fn state(
    base: &mut ClientBase,
    session: Option<&str>,
    id: &str,
) -> Result<Option<TaskEnd>, End> {
    let params = json!({ "taskId": id });
    let number = base.new_id();
    let state = ask(base, session, ("tasks/get", id), params.clone(), number).await?;
    let text = |result: &Value| {
        result["content"][0]["text"].as_str().map_or_else(|| result.to_string(), str::to_owned)
    };
    Ok(match state["status"].as_str() {
        Some("working") => None,
        Some("completed") if session.is_none() => Some(TaskEnd::Completed(text(&state["result"]))),
        Some("completed") => {
            let number = base.new_id();
            let result = ask(base, session, ("tasks/result", id), params, number).await?;
            Some(TaskEnd::Completed(text(&result)))
        }
        _ => {
            let text = |name: &str| state[name].as_str().unwrap_or_default();
            let at = base.setting.recorder.time_of(text("lastUpdatedAt"));
            Some(TaskEnd::Failed(text("statusMessage").to_owned(), at))
        }
    })
}

/// Sends a request, and returns its result.
async fn ask(
    base: &ClientBase,
    session: Option<&str>,
    (method, name): (&'static str, &str),
    mut params: Value,
    id: u64,
) -> Result<Value, End> {
    let request = match session {
        Some(session) => {
            let text = messages::request(id, method, &params);
            messages::named(HttpRequest::post(text), session)
        }
        None => {
            params["_meta"] = messages::modern_meta();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
            messages::modern(method, name, &messages::request(id, method, &params))
        }
    };
    let response = base.send(&request, HEAD).await?;
    let Ok(Ok(body)) = timeout(HEAD, response.body()).await else { return Err(End::Cut) };
    // In a session the result may come on a stream, as its last event.
    let body = body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&body);
    let mut value: Value = serde_json::from_str(body).map_err(|_| End::Cut)?;
    if value["error"].is_object() {
        let (code, text) = (&value["error"]["code"], value["error"]["message"].to_string());
        return Err(End::Failed(code.as_i64().unwrap_or_default(), text));
    }
    Ok(value["result"].take())
}
