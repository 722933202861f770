//! Questions that a server of 2025-11-25 asks as tasks, which the client runs, in virtual time.

use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{Answer, Client, ClientBuilder, Question};
use serde_json::{Value, json};

use crate::peer::{Peer, builder, legacy_with};

/// A client that has answered the question after three seconds.
fn slow() -> ClientBuilder {
    builder().on_ask(async |question: Question| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        match question.message() {
            "Fail?" => Answer::from(Err::<Answer, _>("no tty")),
            _ => question.accept("Ada"),
        }
    })
}

async fn met(builder: ClientBuilder) -> (Client, Peer) {
    legacy_with(builder, Revision::V2025_11_25, &json!({ "tools": {} })).await
}

/// Sends a request, and gives the answer.
async fn ask(peer: &mut Peer, method: &str, params: &Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": "r", "method": method, "params": params });
    peer.send_json(request).await;
    let answer = peer.message().await;
    assert_eq!(answer["id"], "r", "{answer}");
    answer
}

fn question(message: &str, task: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    json!({ "message": message, "requestedSchema": schema, "task": task })
}

/// Asks as a task, and gives its id.
async fn start(peer: &mut Peer, message: &str) -> String {
    let created = ask(peer, "elicitation/create", &question(message, &json!({}))).await;
    created["result"]["task"]["taskId"].as_str().unwrap().to_owned()
}

async fn about(peer: &mut Peer, method: &str, id: &str) -> Value {
    ask(peer, method, &json!({ "taskId": id })).await
}

// spec: TASK-1
#[tokio::test(start_paused = true)]
async fn tasks_are_declared_for_the_questions_that_the_client_answers() {
    let sampling = builder()
        .on_sample(async |request: bowline_client::SamplingRequest| request.answer("m", "hi"));
    for (builder, requests) in [
        (builder(), Value::Null),
        (slow(), json!({ "elicitation": { "create": {} } })),
        (sampling, json!({ "sampling": { "createMessage": {} } })),
    ] {
        let (near, mut peer) = crate::peer::pair();
        let serve = async {
            let probe = peer.request("server/discover").await;
            peer.refuse(&probe, -32601, "what?").await;
            let tasks = peer.shake("2025-11-25").await.params["capabilities"]["tasks"].clone();
            let expected = match requests {
                Value::Null => Value::Null,
                requests => json!({ "list": {}, "cancel": {}, "requests": requests }),
            };
            assert_eq!(tasks, expected);
        };
        tokio::join!(builder.connect(near), serve).0.unwrap();
    }
}

// spec: TASK-13, TASK-14, TASK-20, TASK-30, TASK-36, TASK-37, TASK-46
#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_as_a_task_is_answered_later() {
    let (_client, mut peer) = met(slow()).await;
    let created =
        ask(&mut peer, "elicitation/create", &question("Who?", &json!({ "ttl": 60_000 }))).await;
    let task = created["result"]["task"].clone();
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60_000)));
    let id = task["taskId"].as_str().unwrap();
    assert_eq!(about(&mut peer, "tasks/get", id).await["result"], task);
    let result = about(&mut peer, "tasks/result", id).await["result"].clone();
    assert_eq!(result["content"], json!({ "name": "Ada" }));
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": id } });
    assert_eq!(result["_meta"], related);
    assert_eq!(about(&mut peer, "tasks/get", id).await["result"]["status"], "completed");
    assert_eq!(about(&mut peer, "tasks/result", id).await["result"], result);
}

// spec: TASK-38, TASK-66
#[tokio::test(start_paused = true)]
async fn a_question_that_fails_ends_its_task_with_the_error() {
    let (_client, mut peer) = met(slow()).await;
    let id = start(&mut peer, "Fail?").await;
    let error = about(&mut peer, "tasks/result", &id).await["error"].clone();
    assert_eq!(error["code"], -32603);
    let task = about(&mut peer, "tasks/get", &id).await["result"].clone();
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("failed"), &error["message"]));
}

// spec: TASK-22, TASK-55, TASK-56, TASK-57, TASK-61
#[tokio::test(start_paused = true)]
async fn a_question_that_runs_as_a_task_can_be_withdrawn() {
    let (_client, mut peer) = met(slow()).await;
    let id = start(&mut peer, "Who?").await;
    assert_eq!(about(&mut peer, "tasks/cancel", &id).await["result"]["status"], "cancelled");
    assert_eq!(about(&mut peer, "tasks/cancel", &id).await["error"]["code"], -32602);
    assert_eq!(about(&mut peer, "tasks/result", &id).await["error"]["code"], -32602);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(about(&mut peer, "tasks/get", &id).await["result"]["status"], "cancelled");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(about(&mut peer, method, "q9").await["error"]["code"], -32602);
    }
}

// spec: TASK-54, TASK-62
#[tokio::test(start_paused = true)]
async fn tasks_are_listed_in_one_page() {
    let (_client, mut peer) = met(slow()).await;
    let ids = [start(&mut peer, "Who?").await, start(&mut peer, "Who else?").await];
    let tasks = ask(&mut peer, "tasks/list", &json!({})).await["result"]["tasks"].clone();
    let listed: Vec<_> = tasks.as_array().unwrap().iter().map(|task| &task["taskId"]).collect();
    assert_eq!(listed, [&ids[0], &ids[1]]);
    let error = ask(&mut peer, "tasks/list", &json!({ "cursor": "2" })).await;
    assert_eq!(error["error"]["code"], -32602);
}

// spec: TASK-31, TASK-74, TASK-75, TASK-76
#[tokio::test(start_paused = true)]
async fn tasks_are_bounded_in_number_and_time() {
    let (_client, mut peer) = met(slow()).await;
    let wanted = question("Who?", &json!({ "ttl": 999_999_999_999_u64 }));
    let created = ask(&mut peer, "elicitation/create", &wanted).await;
    assert_eq!(created["result"]["task"]["ttl"], 600_000, "at most as long as a question is open");
    for _ in 1..64 {
        start(&mut peer, "Who?").await;
    }
    let refused = ask(&mut peer, "elicitation/create", &wanted).await;
    let expected = "this client keeps no more tasks; cancel one, or wait until one has ended";
    assert_eq!(refused["error"]["message"], expected);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(about(&mut peer, "tasks/get", "q1").await["error"]["code"], -32602);
    start(&mut peer, "Who?").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_ended_makes_room_for_a_new_one() {
    let (_client, mut peer) = met(slow()).await;
    for _ in 0..64 {
        start(&mut peer, "Who?").await;
    }
    for id in ["q7", "q9"] {
        about(&mut peer, "tasks/cancel", id).await;
    }
    assert_eq!(start(&mut peer, "Who?").await, "q65");
    assert_eq!(about(&mut peer, "tasks/get", "q7").await["error"]["code"], -32602);
    assert_eq!(about(&mut peer, "tasks/get", "q9").await["result"]["status"], "cancelled");
    assert_eq!(about(&mut peer, "tasks/get", "q1").await["result"]["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_not_answered_when_its_task_expires_is_withdrawn() {
    struct Dropped(tokio::sync::mpsc::UnboundedSender<()>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            _ = self.0.send(());
        }
    }

    let (sender, mut dropped) = tokio::sync::mpsc::unbounded_channel();
    let builder = builder().on_ask(move |_: Question| {
        let held = Dropped(sender.clone());
        async move {
            let _held = held;
            std::future::pending::<Answer>().await
        }
    });
    let (client, mut peer) = met(builder).await;
    let wanted = question("Who?", &json!({ "ttl": 1000 }));
    ask(&mut peer, "elicitation/create", &wanted).await;
    assert_eq!(about(&mut peer, "tasks/result", "q1").await["error"]["code"], -32602);
    dropped.recv().await.unwrap();
    // So are all when the connection ends.
    start(&mut peer, "Who?").await;
    client.close().await;
    drop(client);
    dropped.recv().await.unwrap();
}

// spec: TASK-15
#[tokio::test(start_paused = true)]
async fn older_revisions_have_no_tasks() {
    let (_client, mut peer) =
        legacy_with(slow(), Revision::V2025_06_18, &json!({ "tools": {} })).await;
    let answer = ask(&mut peer, "elicitation/create", &question("Who?", &json!({}))).await;
    assert_eq!(answer["result"]["content"], json!({ "name": "Ada" }));
    assert_eq!(about(&mut peer, "tasks/get", "q1").await["error"]["code"], -32601);
}
