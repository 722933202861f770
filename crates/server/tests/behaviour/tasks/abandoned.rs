//! Tasks whose server stops while they run.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Access, Owner};
use bowline_store::Key;
use bowline_store::backend::{Backend, Expect};
use bowline_store::tasks::TaskStore;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::json;

use super::store::VirtualStore;
use super::{Replica, Runs, pass};
use crate::peer::BOTH;
use crate::wire::Wire;

/// The message of a task that ended because its server stopped.
const STOPPED: &str = "the server's process stopped while the task ran";

/// Two servers on one store, and a store to look at.
fn pair(revision: Revision) -> (Replica, Replica, Arc<VirtualStore>) {
    let (store, runs) = (Arc::default(), Runs::default());
    let replica = || Replica::new(&store, &runs, revision);
    (replica(), replica(), store)
}

// spec: TASK-66, XTASK-18, XTASK-43
#[tokio::test(start_paused = true)]
async fn a_reader_ends_a_task_whose_server_stopped() {
    for revision in BOTH {
        let (a, b, _) = pair(revision);
        let id = a.create("wait", json!({ "seconds": 60 })).await;
        a.link.cut();
        pass(9).await;
        assert_eq!(b.status(&id).await, "working", "the lease lasts ten seconds");
        pass(4).await;
        let task = b.get(&id).await.unwrap();
        assert_eq!((&task["status"], &task["statusMessage"]), (&json!("failed"), &json!(STOPPED)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_without_a_sweep_ends_a_task_whose_server_stopped() {
    for revision in BOTH {
        let (a, b, _) = pair(revision);
        let id = a.create("wait", json!({ "seconds": 60 })).await;
        a.link.cut();
        pass(11).await;
        // The first request to this server: nothing of it has looked at the store before.
        assert_eq!(b.status(&id).await, "failed", "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_ends_when_its_server_stops_and_takes_no_answer() {
    let (a, b, _) = pair(Revision::LATEST);
    let id = a.create("greet", json!({})).await;
    pass(1).await;
    assert_eq!(a.status(&id).await, "input_required");
    a.link.cut();
    pass(11).await;
    let answer = json!({ "action": "accept", "content": { "confirm": true } });
    let params = json!({ "taskId": id, "inputResponses": { "q1": answer } });
    b.peer.ask(Method::TasksUpdate, params).await.unwrap();
    assert_eq!(b.get(&id).await.unwrap()["error"]["message"], STOPPED);
}

// spec: TASK-37, TASK-38
#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_the_result_gets_the_failure() {
    let (a, b, _) = pair(Revision::V2025_11_25);
    let id = a.create("wait", json!({ "seconds": 600 })).await;
    let waits = b.peer.ask(Method::TasksResult, json!({ "taskId": id }));
    let stops = async {
        pass(20).await;
        a.link.cut();
    };
    let before = tokio::time::Instant::now();
    let (result, ()) = tokio::join!(waits, stops);
    assert_eq!(result.unwrap_err().message, STOPPED);
    assert!(before.elapsed().as_secs() < 40, "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_list_shows_that_a_task_was_abandoned() {
    let (a, b, _) = pair(Revision::V2025_11_25);
    a.create("wait", json!({ "seconds": 600 })).await;
    a.link.cut();
    pass(11).await;
    let page = b.peer.ask(Method::TasksList, json!({})).await.unwrap();
    assert_eq!(page["tasks"][0]["status"], "failed", "{page}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_no_client_asks_for_ends_too() {
    let (a, b, store) = pair(Revision::LATEST);
    let _serving = Wire::to(&b.server);
    a.create("wait", json!({ "seconds": 600 })).await;
    a.link.cut();
    pass(9).await;
    assert!(store.records().await[0].contains(r#""status":"working""#));
    pass(9).await;
    assert!(store.records().await[0].contains(r#""status":"failed""#));
    assert!(store.runners().await.is_empty(), "the server that stopped is forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_looks_at_once_for_abandoned_tasks() {
    let (store, runs) = (Arc::default(), Runs::default());
    let a = Replica::new(&store, &runs, Revision::LATEST);
    for _ in 0..250 {
        a.create("wait", json!({ "seconds": 600 })).await;
    }
    a.link.cut();
    pass(11).await;
    let b = Replica::new(&store, &runs, Revision::LATEST);
    let _serving = Wire::to(&b.server);
    pass(1).await;
    let records = store.records().await;
    assert_eq!(records.len(), 250);
    assert!(records.iter().all(|record| record.contains(r#""status":"failed""#)));
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_server_that_renews_its_lease_is_left_alone() {
    for revision in BOTH {
        let (a, b, store) = pair(revision);
        let _serving = Wire::to(&b.server);
        let id = a.create("wait", json!({ "seconds": 60 })).await;
        for _ in 0..59 {
            assert_eq!(b.status(&id).await, "working");
            pass(1).await;
        }
        pass(2).await;
        assert_eq!(b.status(&id).await, "completed");
        assert_eq!(b.text(&id).await, "60 seconds later");
        // A server that runs no tasks has no lease, and is not registered.
        pass(15).await;
        assert!(store.keys("replica").await.is_empty());
        assert!(store.runners().await.is_empty());
        // The lease comes back with the next task.
        let id = a.create("wait", json!({ "seconds": 60 })).await;
        pass(30).await;
        assert_eq!(b.status(&id).await, "working");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_tool_runs_again_on_another_server() {
    for revision in BOTH {
        let (mut a, mut b, store) = pair(revision);
        for replica in [&mut a, &mut b] {
            replica.peer.owner = Owner::known("https://auth.example", "ann");
        }
        a.peer.access = Access::to(["report"]);
        let id = a.create("report", json!({ "seconds": 30 })).await;
        assert!(store.records().await[0].contains(r#""seconds":30"#));
        a.link.cut();
        pass(12).await;
        assert_eq!(b.status(&id).await, "working");
        pass(1).await;
        assert_eq!((b.runs.begun(), b.runs.running()), (2, 2));
        pass(30).await;
        assert_eq!(b.text(&id).await, "run 2 for Some(\"ann\") after 30");
        // Nothing of the call is kept once it has ended.
        assert!(!store.records().await[0].contains(r#""seconds":30"#));
    }
}

// spec: TASK-22, XTASK-46
#[tokio::test(start_paused = true)]
async fn a_server_that_only_seemed_to_have_stopped_ends_its_run() {
    for tool in ["report", "wait"] {
        let (a, b, _) = pair(Revision::LATEST);
        let id = a.create(tool, json!({ "seconds": 100 })).await;
        a.link.cut();
        pass(12).await;
        b.get(&id).await.unwrap();
        pass(1).await;
        let of_others = usize::from(tool == "report");
        assert_eq!(b.runs.running(), 1 + of_others, "the first run goes on meanwhile");
        a.link.restore();
        pass(4).await;
        assert_eq!(b.runs.running(), of_others, "{tool}");
        assert_eq!(a.get(&id).await.unwrap(), b.get(&id).await.unwrap());
    }
}

// spec: TASK-22, XTASK-46
#[tokio::test(start_paused = true)]
async fn a_run_that_was_replaced_records_nothing() {
    let (a, b, _) = pair(Revision::LATEST);
    let id = a.create("report", json!({ "seconds": 20 })).await;
    a.link.cut();
    pass(15).await;
    assert_eq!(b.status(&id).await, "working");
    // The first run ends while its server is cut off; then it tries to record its outcome.
    pass(10).await;
    a.link.restore();
    pass(4).await;
    assert_eq!(b.status(&id).await, "working");
    pass(10).await;
    assert_eq!(b.text(&id).await, "run 2 for None after 20");
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_lease_lapsed_keeps_a_task_that_no_other_took() {
    let (a, b, _) = pair(Revision::LATEST);
    let id = a.create("wait", json!({ "seconds": 60 })).await;
    a.link.cut();
    pass(30).await;
    a.link.restore();
    pass(10).await;
    assert_eq!(b.status(&id).await, "working");
    pass(30).await;
    assert_eq!(b.text(&id).await, "60 seconds later");
}

#[tokio::test(start_paused = true)]
async fn of_several_readers_one_runs_the_task_again() {
    let (a, b, store) = pair(Revision::LATEST);
    let c = Replica::new(&store, &a.runs, Revision::LATEST);
    let id = a.create("report", json!({ "seconds": 60 })).await;
    a.link.cut();
    pass(12).await;
    let statuses = tokio::join!(b.status(&id), b.status(&id), c.status(&id), c.status(&id));
    assert_eq!(statuses, ["working"; 4].map(str::to_owned).into());
    pass(5).await;
    assert_eq!(a.runs.begun(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_stops_three_servers_is_not_run_a_fourth_time() {
    let (store, runs) = (Arc::default(), Runs::default());
    let first = Replica::new(&store, &runs, Revision::LATEST);
    let id = first.create("report", json!({ "seconds": 1000 })).await;
    first.link.cut();
    for count in [2, 3, 3] {
        pass(11).await;
        let next = Replica::new(&store, &runs, Revision::LATEST);
        let status = next.status(&id).await;
        pass(1).await;
        assert_eq!((runs.begun(), status == "failed"), (count, store_has_failed(&store).await));
        next.link.cut();
    }
    let last = Replica::new(&store, &runs, Revision::LATEST);
    assert_eq!(last.get(&id).await.unwrap()["error"]["message"], STOPPED);
    assert_eq!(runs.begun(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stopped_is_found_among_many_that_run() {
    let (a, b, store) = pair(Revision::LATEST);
    let tasks = TaskStore::new(a.link.clone());
    for replica in 0..100 {
        let replica = format!("!{replica}");
        let long = Duration::from_secs(600);
        tasks.register(&replica, 16, long).await.unwrap();
        let lease = Key::new(["replica", &replica]);
        a.link.put(&lease, Bytes::new(), long, Expect::Anything).await.unwrap();
    }
    a.create("wait", json!({ "seconds": 600 })).await;
    a.link.cut();
    let _serving = Wire::to(&b.server);
    pass(20).await;
    assert!(store_has_failed(&store).await);
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_registration_was_removed_registers_again() {
    let (a, b, store) = pair(Revision::LATEST);
    a.create("wait", json!({ "seconds": 600 })).await;
    let registered = store.runners().await;
    // As another server does that did not see the lease in time.
    let hour = Duration::from_secs(3600);
    TaskStore::new(b.link.clone()).unregister(&registered[0], hour).await.unwrap();
    assert!(store.runners().await.is_empty());
    pass(4).await;
    assert_eq!(store.runners().await, registered);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_registers_slowly_is_not_taken_for_one_that_stopped() {
    let (a, b, store) = pair(Revision::LATEST);
    let _serving = Wire::to(&b.server);
    pass(0).await;
    // The other server searches after five seconds: between the two writes of this one.
    a.link.slow_down(Duration::from_secs(3));
    let created = a.create("wait", json!({ "seconds": 600 }));
    let registered = async {
        pass(8).await;
        store.runners().await.len()
    };
    assert_eq!(tokio::join!(created, registered).1, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_again_although_the_request_that_found_it_is_dropped() {
    let (a, b, _) = pair(Revision::LATEST);
    let id = a.create("report", json!({ "seconds": 1000 })).await;
    pass(1).await;
    a.link.cut();
    pass(15).await;
    b.link.delay_replies(Duration::from_secs(1));
    // The lease, the registration and the slot are written one after the other, then the record.
    let found = tokio::time::timeout(Duration::from_millis(3500), b.get(&id)).await;
    assert!(found.is_err(), "the request is dropped");
    pass(3).await;
    assert_eq!(b.runs.begun(), 2);
}

async fn store_has_failed(store: &VirtualStore) -> bool {
    store.records().await[0].contains(r#""status":"failed""#)
}
