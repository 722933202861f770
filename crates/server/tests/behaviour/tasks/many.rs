//! Very many tasks, one after the other: the server keeps nothing of those that have expired.

use std::sync::Arc;
use std::time::Duration;

use bowline_server::TaskLimits;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::runtime::Handle;

use super::store::VirtualStore;
use super::{Replica, Runs, pass};

const WAVES: usize = 40;
const TASKS: usize = 250;

/// What is held: bytes in the store, tasks of the runtime, handlers.
async fn held(store: &VirtualStore, runs: &Runs) -> (usize, usize, usize) {
    (store.bytes(), Handle::current().metrics().num_alive_tasks(), runs.running())
}

// spec: TASK-76
#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_that_are_created_polled_and_expire_leave_nothing() {
    let (store, runs) = (Arc::default(), Runs::default());
    let mut limits = TaskLimits::default();
    (limits.ttl, limits.per_owner) = (Duration::from_secs(60), TASKS);
    let replica = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let mut first = None;
    for wave in 0..WAVES {
        let mut ids = Vec::new();
        for task in 0..TASKS {
            // Every other task ends before it expires.
            let seconds = [1, 600][task % 2];
            ids.push(replica.create("wait", json!({ "seconds": seconds })).await);
        }
        pass(2).await;
        for (task, id) in ids.iter().enumerate() {
            assert_eq!(replica.status(id).await, ["completed", "working"][task % 2]);
        }
        // Beyond the time of the tasks, and of the lease of a server without tasks.
        pass(75).await;
        assert!(replica.get(&ids[0]).await.is_err() && replica.get(&ids[1]).await.is_err());
        let now = held(&store, &runs).await;
        assert_eq!(now, *first.get_or_insert(now), "after wave {wave}");
    }
    assert_eq!(runs.begun(), WAVES * TASKS);
    assert_eq!(first.map(|(bytes, _, running)| (bytes, running)), Some((0, 0)));
}
