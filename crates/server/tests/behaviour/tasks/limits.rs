//! The limits of tasks: how many, how long, how large.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::Owner;
use bowline_server::TaskLimits;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use super::store::VirtualStore;
use super::{Replica, Runs, pass};
use crate::peer::BOTH;

fn limited(revision: Revision, change: impl FnOnce(&mut TaskLimits)) -> Replica {
    let mut limits = TaskLimits::default();
    change(&mut limits);
    Replica::limited(&Arc::default(), &Runs::default(), revision, limits)
}

/// A server that keeps little of a task.
fn small(revision: Revision) -> Replica {
    limited(revision, |limits| limits.record = 0)
}

// spec: TASK-74, TASK-76, TASK-77
#[tokio::test(start_paused = true)]
async fn an_owner_has_a_limited_number_of_tasks_until_one_expires() {
    for revision in BOTH {
        let mut replica = limited(revision, |limits| {
            limits.per_owner = 3;
            limits.ttl = Duration::from_secs(60);
        });
        for _ in 0..3 {
            replica.create("wait", json!({ "seconds": 1 })).await;
            pass(2).await;
        }
        let error = replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
        let expected = "no more than 3 tasks are kept at a time; wait until one has expired";
        assert_eq!(error.message, expected);
        // Another owner has tasks of its own.
        replica.peer.owner = Owner::known("https://auth.example", "ann");
        replica.create("wait", json!({ "seconds": 1 })).await;
        replica.peer.owner = Owner::anonymous();
        pass(57).await;
        replica.create("wait", json!({ "seconds": 1 })).await;
    }
}

// spec: TASK-51, TASK-52, TASK-54, TASK-62, TASK-72
#[tokio::test(start_paused = true)]
async fn a_list_goes_page_by_page_through_the_tasks_of_its_caller() {
    let mut replica = limited(Revision::V2025_11_25, |_| ());
    replica.create("wait", json!({ "seconds": 1 })).await;
    replica.peer.owner = Owner::known("https://auth.example", "ann");
    let mut created = HashSet::new();
    for _ in 0..120 {
        created.insert(replica.create("wait", json!({ "seconds": 1 })).await);
    }
    let (mut listed, mut sizes, mut cursor) = (HashSet::new(), Vec::new(), Value::Null);
    loop {
        let page = replica.peer.ask(Method::TasksList, json!({ "cursor": cursor })).await.unwrap();
        let tasks = page["tasks"].as_array().unwrap();
        sizes.push(tasks.len());
        listed.extend(tasks.iter().map(|task| task["taskId"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((sizes, listed), (vec![50, 50, 20], created));
    for wrong in ["", "../replica", "x"] {
        let listed = replica.peer.ask(Method::TasksList, json!({ "cursor": wrong })).await;
        assert_eq!(listed.unwrap_err().code, -32602, "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_fit_fails_its_task() {
    for revision in BOTH {
        let replica = small(revision);
        let fits = replica.create("long", json!({ "seconds": 3000 })).await;
        let id = replica.create("long", json!({ "seconds": 5000 })).await;
        pass(2).await;
        assert_eq!(replica.status(&fits).await, "completed");
        let task = replica.get(&id).await.unwrap();
        let expected = "the result is too long: at most 4096 bytes are kept of a task";
        assert_eq!((&task["status"], &task["statusMessage"]), (&json!("failed"), &json!(expected)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_does_not_fit_fails() {
    for revision in BOTH {
        let replica = small(revision);
        let id = replica.create("ask_long", json!({})).await;
        pass(1).await;
        let text = replica.text(&id).await;
        assert!(text.contains("the question is too long"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_refused_and_another_is_taken() {
    let replica = small(Revision::LATEST);
    let id = replica.create("greet", json!({})).await;
    pass(1).await;
    let params = |content: Value| {
        let answer = json!({ "action": "accept", "content": content });
        json!({ "taskId": id, "inputResponses": { "q1": answer } })
    };
    let long = params(json!({ "confirm": true, "more": "x".repeat(5000) }));
    let error = replica.peer.ask(Method::TasksUpdate, long).await.unwrap_err();
    assert_eq!(error.message, "the server keeps at most 4096 bytes of a task");
    assert_eq!(replica.status(&id).await, "input_required");
    replica.peer.ask(Method::TasksUpdate, params(json!({ "confirm": true }))).await.unwrap();
    pass(1).await;
    assert_eq!(replica.text(&id).await, "true");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_arguments_do_not_fit_does_not_run_again() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let mut limits = TaskLimits::default();
    limits.record = 4096;
    let a = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let id = a.create("report", json!({ "seconds": 60, "more": "x".repeat(5000) })).await;
    a.link.cut();
    pass(12).await;
    let b = Replica::new(&store, &runs, Revision::LATEST);
    assert_eq!((b.status(&id).await.as_str(), runs.begun()), ("failed", 1));
}
