//! The store is out of reach for all servers, and for longer than a lease lasts.

use std::sync::Arc;

use bowline_types::revision::Revision;
use serde_json::json;

use super::store::VirtualStore;
use super::{Replica, Runs, pass};
use crate::peer::BOTH;
use crate::wire::Wire;

/// Two servers on one store, the second of which searches for abandoned tasks.
fn pair(revision: Revision) -> (Replica, Replica, Arc<VirtualStore>) {
    let (store, runs) = (Arc::default(), Runs::default());
    let [a, b] = [(), ()].map(|()| Replica::new(&store, &runs, revision));
    (a, b, store)
}

/// Cuts the servers off for some seconds.
async fn outage(servers: [&Replica; 2], seconds: u64) {
    servers.iter().for_each(|server| server.link.cut());
    pass(seconds).await;
    servers.iter().for_each(|server| server.link.restore());
}

#[tokio::test(start_paused = true)]
async fn a_search_after_an_outage_ends_no_task_of_a_server_that_runs() {
    for revision in BOTH {
        // The searches and the renewals take turns differently.
        for seconds in 30..=35 {
            let (a, b, _) = pair(revision);
            let _serving = Wire::to(&b.server);
            pass(1).await;
            let id = a.create("wait", json!({ "seconds": 90 })).await;
            let again = a.create("report", json!({ "seconds": 90 })).await;
            pass(5).await;
            outage([&a, &b], seconds).await;
            pass(30).await;
            assert_eq!(a.status(&id).await, "working", "{revision}, {seconds}");
            assert_eq!(a.runs.begun(), 2, "no call runs twice");
            pass(30).await;
            assert_eq!(b.text(&id).await, "90 seconds later");
            assert_eq!(b.text(&again).await, "run 2 for None after 90");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_after_an_outage_ends_no_task_of_a_server_that_runs() {
    for revision in BOTH {
        let (a, b, _) = pair(revision);
        let id = a.create("wait", json!({ "seconds": 90 })).await;
        assert_eq!(b.status(&id).await, "working");
        outage([&a, &b], 30).await;
        for _ in 0..20 {
            assert_eq!(b.status(&id).await, "working", "{revision}");
            pass(1).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_renews_its_lease_within_a_second_after_an_outage() {
    let (a, b, store) = pair(Revision::LATEST);
    a.create("wait", json!({ "seconds": 90 })).await;
    outage([&a, &b], 31).await;
    assert!(store.keys("replica").await.is_empty());
    pass(1).await;
    assert_eq!(store.keys("replica").await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_in_an_outage_is_noticed_after_it() {
    for revision in BOTH {
        let (a, b, store) = pair(revision);
        let _serving = Wire::to(&b.server);
        let id = a.create("wait", json!({ "seconds": 600 })).await;
        outage([&a, &b], 30).await;
        a.link.cut();
        // A lease, a renewal, and the time between two searches.
        pass(10 + 3 + 5).await;
        assert!(store.records().await[0].contains(r#""status":"failed""#));
        assert_eq!(b.status(&id).await, "failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_long_after_an_outage_is_noticed_as_soon_as_ever() {
    let (a, b, _) = pair(Revision::LATEST);
    let _serving = Wire::to(&b.server);
    let id = a.create("wait", json!({ "seconds": 600 })).await;
    outage([&a, &b], 30).await;
    pass(20).await;
    a.link.cut();
    pass(11).await;
    assert_eq!(b.status(&id).await, "failed");
}
