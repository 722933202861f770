//! Changes that reach callers, over several connections to one server.

use std::time::Duration;

use bowline::tools;
use bowline_client::{Change, Changes};
use bowline_gateway::GatewayLimits;
use bowline_server::{Resource, Server, Tool};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::support::{BOTH, Fake, client, echo, say};

async fn next(changes: &mut Changes) -> Option<Change> {
    let next =
        std::future::poll_fn(|cx| futures_core::Stream::poll_next(std::pin::Pin::new(changes), cx));
    timeout(Duration::from_secs(5), next).await.ok().flatten().map(Result::unwrap)
}

#[tokio::test(start_paused = true)]
async fn followers_of_lists_hear_of_changes_failures_and_restarts() {
    for revision in BOTH {
        let server = echo();
        let fake = Fake::new(server.clone());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(fake.starts(), 0, "a follower of lists starts no server");
        caller.tools().all().await.unwrap();
        // It was not there before.
        assert_eq!(next(&mut changes).await, Some(Change::Tools));
        server.registry().insert(Tool::new("new", || async { "new" })).unwrap();
        assert_eq!(next(&mut changes).await, Some(Change::Tools));
        assert_eq!(next(&mut changes).await, None);
        fake.kill().await;
        assert_eq!(next(&mut changes).await, Some(Change::Tools));
        caller.tools().all().await.unwrap();
        assert_eq!(next(&mut changes).await, Some(Change::Tools));
        assert_eq!(next(&mut changes).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn followers_of_lists_do_not_keep_a_server_running() {
    for revision in BOTH {
        let fake = Fake::new(echo());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        caller.tools().all().await.unwrap();
        assert_eq!(next(&mut changes).await, Some(Change::Tools));
        sleep(Duration::from_secs(610)).await;
        assert_eq!(fake.running().await, 0);
        assert_eq!(next(&mut changes).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn followers_of_a_resource_keep_the_server_running_and_hear_of_its_restart() {
    for revision in BOTH {
        let server = Server::new("board", "1.0.0")
            .resource(Resource::new("board:///", || async { "text" }))
            .tools(tools![say]);
        let fake = Fake::new(server.clone());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        let mut changes = caller.subscribe().resource("board:///").open().await.unwrap();
        assert!(changes.missing().is_empty());
        let board = || Some(Change::Resource("board:///".to_owned()));
        sleep(Duration::from_secs(1000)).await;
        assert_eq!(fake.running().await, 1, "{revision}");
        while next(&mut changes).await.is_some() {}
        server.notify().resource_updated("board:///");
        assert_eq!(next(&mut changes).await, board(), "{revision}");
        fake.kill().await;
        caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
        assert_eq!(next(&mut changes).await, board(), "{revision}");
        sleep(Duration::from_secs(1)).await;
        while next(&mut changes).await.is_some() {}
        server.notify().resource_updated("board:///");
        assert_eq!(next(&mut changes).await, board(), "{revision}");
    }
}
