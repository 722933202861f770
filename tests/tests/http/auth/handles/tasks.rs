//! The id of a task in the hands of another caller, in both forms of tasks.

use bowline::{Ask, Error, TaskSupport, Tool};
use bowline_http::server::Endpoint;
use serde_json::{Value, json};

use super::{OWNER, STRANGERS, Seen, admit, declaring, next, open, open_as, seen, send, server};
use crate::test_server::{Session, request};
use crate::wire::Request;

/// A modern request about tasks.
fn of_tasks(method: &str, params: Value) -> Request {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    declaring(tasks, method, params)
}

/// An endpoint with a tool that asks, and a task of the owner that waits for the answer.
async fn asking() -> (Endpoint, String) {
    let sure = |ask: Ask| async move { Ok::<_, Error>(ask.confirm("Sure?").await?.to_string()) };
    let (server, _) = server();
    let server = server.tool(Tool::new("later", sure).task(TaskSupport::Optional));
    let http = server.http().public_url("http://localhost/mcp").auth(admit());
    let endpoint = http.build().unwrap();
    let can = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let call = declaring(can, "tools/call", json!({ "name": "later", "arguments": {} }));
    let created = result(&seen(&endpoint, OWNER, &call, "/mcp").await);
    let id = created["taskId"].as_str().unwrap().to_owned();
    (endpoint, id)
}

fn result(seen: &Seen) -> Value {
    let mut answer: Value = serde_json::from_str(&seen.body).unwrap();
    answer["result"].take()
}

/// All requests of 2026-07-28 that name a task, but `subscriptions/listen`.
fn modern_uses(id: &str) -> Vec<Request> {
    let answer = json!({ "action": "accept", "content": { "confirm": true } });
    let answers = json!({ "taskId": id, "inputResponses": { "q1": answer } });
    vec![
        of_tasks("tasks/get", json!({ "taskId": id })),
        of_tasks("tasks/update", answers),
        of_tasks("tasks/cancel", json!({ "taskId": id })),
    ]
}

/// All requests of 2025-11-25 that name a task.
fn legacy_uses(session: &Session, id: &str) -> Vec<Request> {
    let methods = ["tasks/get", "tasks/result", "tasks/cancel"];
    methods.map(|method| session.post(request(1, method, json!({ "taskId": id })))).into()
}

/// The status of the answer to a `subscriptions/listen`, and its first message.
async fn listen(endpoint: &Endpoint, token: &str, id: &str) -> (u16, String) {
    let listen = of_tasks("subscriptions/listen", json!({ "notifications": { "taskIds": [id] } }));
    let answer = send(endpoint, token, &listen, "/mcp").await;
    let status = answer.status().as_u16();
    (status, if status == 200 { next(&mut answer.into_body()).await } else { String::new() })
}

/// Does all that a stranger can do with the id of a task, and with one that does not exist.
async fn try_all(endpoint: &Endpoint, id: &str) {
    let unknown = "A".repeat(id.len());
    let same = async |token: &str, foreign: &Request, never: &Request| {
        let foreign = seen(endpoint, token, foreign, "/mcp").await;
        assert_eq!(foreign, seen(endpoint, token, never, "/mcp").await, "{token} can tell");
        assert!(foreign.status == 401 || foreign.body.contains("-32602"), "{foreign:?}");
    };
    for stranger in STRANGERS {
        for (foreign, never) in modern_uses(id).iter().zip(&modern_uses(&unknown)) {
            same(stranger, foreign, never).await;
        }
        let listened = listen(endpoint, stranger, id).await;
        assert_eq!(listened, listen(endpoint, stranger, &unknown).await, "{stranger} can tell");
        assert!(!listened.1.contains("taskIds"), "{listened:?}");
    }
    // The first three have valid credentials, so they have sessions of their own.
    for stranger in &STRANGERS[..3] {
        let session = open_as(stranger, endpoint).await;
        let uses = legacy_uses(&session, id).into_iter().zip(legacy_uses(&session, &unknown));
        for (foreign, never) in uses {
            same(stranger, &foreign, &never).await;
        }
        let list = session.post(request(1, "tasks/list", json!({})));
        let listed = result(&seen(endpoint, stranger, &list, "/mcp").await);
        assert_eq!(listed, json!({ "tasks": [] }));
    }
}

// spec: SBP-13, SBP-15, TASK-67, TASK-71, TASK-72, XTASK-34, XTASK-39, XTASK-40, XTASK-48
#[tokio::test]
async fn foreign_handle_matrix_of_tasks() {
    let (endpoint, id) = asking().await;
    try_all(&endpoint, &id).await;
    // The task is as it was, and its owner has it, with a new token too.
    let renewed = "ann@issuer mcp,admin 60";
    let [get, update, _] = &modern_uses(&id)[..] else { panic!() };
    let waits = result(&seen(&endpoint, renewed, get, "/mcp").await);
    assert_eq!(waits["status"], "input_required");
    assert!(listen(&endpoint, renewed, &id).await.1.contains(&id));
    seen(&endpoint, renewed, update, "/mcp").await;
    let session = open(&endpoint).await;
    let fetch = session.post(request(1, "tasks/result", json!({ "taskId": id })));
    let fetched = result(&seen(&endpoint, OWNER, &fetch, "/mcp").await);
    assert_eq!(fetched["content"][0]["text"], "true");
    let list = session.post(request(2, "tasks/list", json!({})));
    let listed = result(&seen(&endpoint, renewed, &list, "/mcp").await);
    assert_eq!((&listed["tasks"][0]["taskId"], &listed["tasks"][1]), (&json!(id), &Value::Null));
    try_all(&endpoint, &id).await;
}

// spec: TASK-84, TASK-85
#[tokio::test]
async fn the_answer_to_tasks_get_is_json_even_if_the_task_has_questions() {
    let (endpoint, id) = asking().await;
    let session = open(&endpoint).await;
    let get = session.post(request(1, "tasks/get", json!({ "taskId": id })));
    let answer = seen(&endpoint, OWNER, &get, "/mcp").await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(result(&answer)["status"], "input_required");
}
