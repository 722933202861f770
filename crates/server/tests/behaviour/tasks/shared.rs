//! Servers that share a store serve the tasks of each other.

use std::sync::Arc;

use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use super::{Replica, Runs, pass};
use crate::peer::BOTH;

fn pair(revision: Revision) -> (Replica, Replica) {
    let (store, runs) = (Arc::default(), Runs::default());
    (Replica::new(&store, &runs, revision), Replica::new(&store, &runs, revision))
}

// spec: TASK-56, TASK-57
#[tokio::test(start_paused = true)]
async fn a_cancellation_reaches_the_server_that_runs_the_task() {
    for revision in BOTH {
        let (a, b) = pair(revision);
        let id = a.create("wait", json!({ "seconds": 60 })).await;
        pass(1).await;
        assert_eq!(a.runs.running(), 1);
        b.peer.ask(Method::TasksCancel, json!({ "taskId": id })).await.unwrap();
        pass(1).await;
        assert_eq!((a.runs.running(), a.status(&id).await.as_str()), (0, "cancelled"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_reaches_the_server_that_runs_the_task() {
    let (a, b) = pair(Revision::LATEST);
    let id = a.create("greet", json!({})).await;
    pass(1).await;
    let task = b.get(&id).await.unwrap();
    assert_eq!(task["inputRequests"]["q1"]["params"]["message"], "Sure?");
    let answer = json!({ "action": "accept", "content": { "confirm": true } });
    let params = json!({ "taskId": id, "inputResponses": { "q1": answer } });
    b.peer.ask(Method::TasksUpdate, params).await.unwrap();
    pass(1).await;
    assert_eq!((a.text(&id).await, b.text(&id).await), ("true".to_owned(), "true".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_fetched_from_another_server_asks_and_waits_there() {
    let (a, b) = pair(Revision::V2025_11_25);
    let id = a.create("greet", json!({})).await;
    b.peer.inbox.answer(Ok(json!({ "action": "accept", "content": { "confirm": true } })));
    let result = b.peer.ask(Method::TasksResult, json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "true");
    assert_eq!((a.peer.inbox.questions().len(), b.peer.inbox.questions().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn two_servers_count_the_tasks_of_an_owner_together() {
    let (store, runs) = (Arc::default(), Runs::default());
    let mut limits = bowline_server::TaskLimits::default();
    limits.per_owner = 2;
    let replica = || Replica::limited(&store, &runs, Revision::LATEST, limits.clone());
    let (a, b) = (replica(), replica());
    a.create("wait", json!({ "seconds": 60 })).await;
    b.create("wait", json!({ "seconds": 60 })).await;
    assert!(a.try_create("wait", json!({ "seconds": 60 })).await.is_err());
    assert!(b.try_create("wait", json!({ "seconds": 60 })).await.is_err());
}
