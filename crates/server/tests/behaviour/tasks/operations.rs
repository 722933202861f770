//! What tasks cost the store. `docs/design/0015-tasks.md` has the figures.
//!
//! A search for keys (`scan`) reads the names of all keys in some stores, so nothing of tasks
//! searches.

use std::sync::Arc;
use std::time::Duration;

use bowline_server::TaskLimits;
use bowline_store::wrapper::OperationKind;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use super::{Replica, Runs, pass};
use crate::peer::BOTH;
use crate::wire::Wire;

#[tokio::test(start_paused = true)]
async fn no_request_and_no_search_for_abandoned_tasks_scans_the_store() {
    for revision in BOTH {
        let (store, runs) = (Arc::default(), Runs::default());
        let [a, b] = [(), ()].map(|()| Replica::new(&store, &runs, revision));
        let _serving = Wire::to(&b.server);
        let mut ids = Vec::new();
        for tool in ["wait", "report"] {
            ids.push(a.create(tool, json!({ "seconds": 20 })).await);
        }
        ids.push(a.create("greet", json!({})).await);
        pass(1).await;
        a.answer_on(&ids[2]).await;
        for id in &ids {
            b.status(id).await;
        }
        a.list_if_offered().await;
        a.cancel(&ids[1]).await;
        pass(21).await;
        assert_eq!(b.status(&ids[0]).await, "completed");
        // Tasks of a server that stops.
        let ended = b.create("wait", json!({ "seconds": 600 })).await;
        let repeated = b.create("report", json!({ "seconds": 600 })).await;
        b.link.cut();
        let c = Replica::new(&store, &runs, revision);
        let _serving = Wire::to(&c.server);
        pass(20).await;
        assert_eq!(c.status(&ended).await, "failed");
        assert_eq!(c.status(&repeated).await, "working");
        for replica in [a, b, c] {
            assert_eq!(replica.link.count_all(OperationKind::Scan), 0, "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_created_with_five_operations() {
    for revision in BOTH {
        let replica = Replica::new(&Arc::default(), &Runs::default(), revision);
        replica.create("wait", json!({ "seconds": 600 })).await;
        replica.link.take_operations();
        replica.create("wait", json!({ "seconds": 600 })).await;
        assert_eq!(
            replica.link.take_operations(),
            ["Get task-index", "Listen task-news", "Put task", "Put task-index", "Put task-run",]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_created_at_once_share_the_write_of_their_index() {
    let replica = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    replica.create("wait", json!({ "seconds": 600 })).await;
    replica.link.take_operations();
    replica.link.slow_down(Duration::from_millis(10));
    let created = (0..50).map(|_| replica.create("wait", json!({ "seconds": 600 })));
    futures_util::future::join_all(created).await;
    let operations = replica.link.take_operations();
    let count = |operation: &str| operations.iter().filter(|it| *it == operation).count();
    // The first task is alone, and the others wait for its write.
    assert_eq!((count("Put task-index"), count("Put task")), (2, 50), "{operations:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_polled_with_one_operation_and_listed_with_one_more_than_there_are_tasks() {
    for revision in BOTH {
        let replica = Replica::new(&Arc::default(), &Runs::default(), revision);
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(replica.create("wait", json!({ "seconds": 600 })).await);
        }
        replica.link.take_operations();
        replica.status(&ids[0]).await;
        assert_eq!(replica.link.take_operations(), ["Get task"]);
        if revision == Revision::V2025_11_25 {
            replica.list_if_offered().await;
            let expected = ["Get task", "Get task", "Get task", "Get task-index"];
            assert_eq!(replica.link.take_operations(), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_becomes_no_task_touches_no_store() {
    let mut limits = TaskLimits::default();
    limits.running = 0;
    let replica =
        Replica::limited(&Arc::default(), &Runs::default(), Revision::V2025_11_25, limits);
    let params = json!({ "name": "wait", "arguments": { "seconds": 1 } });
    replica.peer.ask(Method::ToolsCall, params).await.unwrap();
    replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
    // The search for abandoned tasks begins with the first task.
    assert!(replica.link.take_operations().iter().all(|it| it == "Get task-runners"));
}

impl Replica {
    /// Answers the question of `greet`, where the client sends answers by itself.
    async fn answer_on(&self, id: &str) {
        if self.peer.revision == Revision::LATEST {
            self.answer(id).await;
        }
    }

    /// Lists the tasks of the client, where that exists.
    async fn list_if_offered(&self) {
        if self.peer.revision == Revision::V2025_11_25 {
            self.peer.ask(Method::TasksList, json!({})).await.unwrap();
        }
    }
}
