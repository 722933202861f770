//! Changes that reach callers, over several connections to one server.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use bowline::tools;
use bowline_client::{Change, Changes};
use bowline_gateway::config::{HttpLaunch, Launch};
use bowline_gateway::{GatewayLimits, Lanes, bridge};
use bowline_proto::request::{Request, Response, Success};
use bowline_server::layer::{self, Next};
use bowline_server::{Resource, Server, Tool};
use bowline_testing::proxy::{ConnectionFault, Proxy};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::support::{BOTH, Fake, client, connect, echo, file, gateway, next, say, ways};

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

/// A server with a resource.
fn board() -> Server {
    echo().resource(Resource::new("board:///", || async { "text" }))
}

#[tokio::test(start_paused = true)]
async fn a_server_is_stopped_when_the_last_follower_of_its_resource_has_left() {
    for upstream in BOTH {
        for revision in BOTH {
            let fake = Fake::speaking(upstream, board());
            let lanes = fake.lanes(GatewayLimits::default());
            let caller = client(&lanes, revision).await;
            let changes = caller.subscribe().resource("board:///").open().await.unwrap();
            sleep(Duration::from_secs(1000)).await;
            assert_eq!(fake.running().await, 1, "{revision} {upstream}");
            drop(changes);
            sleep(Duration::from_secs(610)).await;
            assert_eq!(fake.running().await, 0, "{revision} {upstream}");
        }
    }
}

const ONE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
const TWO: &str = r#"{ "mcpServers": { "far": { "command": "x" }, "new": { "command": "y" } } }"#;

#[tokio::test(start_paused = true)]
async fn a_new_load_of_the_configuration_keeps_subscriptions() {
    for upstream in BOTH {
        for way in ways() {
            let far = board();
            let fake = Fake::speaking(upstream, far.clone());
            let gateway = gateway(ONE, [("far", fake.clone()), ("new", Fake::new(echo()))]);
            let server = bridge(gateway.clone(), None);
            let caller = connect(&server, way, |builder| builder).await;
            let subscribe = caller.subscribe().tools().resource("board:///");
            let mut changes = subscribe.open().await.unwrap();
            assert!(changes.missing().is_empty(), "{way:?} {upstream}");
            while next(&mut changes).await.is_some() {}
            gateway.reload(&file(TWO)).unwrap();
            // There may be new tools.
            assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?} {upstream}");
            while next(&mut changes).await.is_some() {}
            far.notify().resource_updated("board:///");
            let board = Change::Resource("board:///".to_owned());
            assert_eq!(next(&mut changes).await, Some(board), "{way:?} {upstream}");
            assert_eq!(fake.starts(), 1, "{way:?} {upstream}");
            drop(changes);
            sleep(Duration::from_secs(610)).await;
            assert_eq!(fake.running().await, 0, "{way:?} {upstream}");
        }
    }
}

/// A server with a resource, which ends all its subscriptions when the test says so.
fn ending(ends: &Arc<Notify>) -> Server {
    let ends = ends.clone();
    board().layer(layer::from_fn(move |request: Request, next: Next| {
        let (ends, listens) = (ends.clone(), request.parts.method == Method::SubscriptionsListen);
        let rest = next.run(request);
        async move {
            tokio::select! {
                response = rest => response,
                () = ends.notified(), if listens => Ok(Success::empty()),
            }
        }
    }))
}

/// As a modern server does that is about to be replaced by another one.
#[tokio::test(start_paused = true)]
async fn a_subscription_outlives_those_that_the_server_ends() {
    for way in ways() {
        let ends = Arc::default();
        let far = ending(&ends);
        let fake = Fake::speaking(Revision::LATEST, far.clone());
        let server = bridge(gateway(ONE, [("far", fake.clone())]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let mut lists = caller.subscribe().tools().open().await.unwrap();
        let mut board = caller.subscribe().resource("board:///").open().await.unwrap();
        let changed = Change::Resource("board:///".to_owned());
        for round in 0..3 {
            while next(&mut lists).await.is_some() {}
            while next(&mut board).await.is_some() {}
            ends.notify_waiters();
            // There may have been changes that nothing reported.
            assert_eq!(next(&mut lists).await, Some(Change::Tools), "{way:?} {round}");
            assert_eq!(next(&mut board).await, Some(changed.clone()), "{way:?} {round}");
            while next(&mut lists).await.is_some() {}
            while next(&mut board).await.is_some() {}
            far.notify().resource_updated("board:///");
            assert_eq!(next(&mut board).await, Some(changed.clone()), "{way:?} {round}");
            far.notify().tools_changed();
            assert_eq!(next(&mut lists).await, Some(Change::Tools), "{way:?} {round}");
        }
        assert_eq!(fake.starts(), 1, "{way:?}");
    }
}

/// Waits for a change in real time.
async fn heard(changes: &mut Changes) -> Change {
    let change = timeout(Duration::from_secs(60), changes.next()).await;
    change.expect("a change in time").expect("the subscription is open").unwrap()
}

#[tokio::test]
async fn a_subscription_outlives_the_stream_of_a_remote_server() {
    let far = board();
    let bound = far.http().listen("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::start(bound.address().unwrap()).await.unwrap();
    let url = format!("http://{}/mcp", proxy.address());
    tokio::spawn(bound.serve_until(std::future::pending()));
    for revision in BOTH {
        let launch = Arc::new(Launch::Http(HttpLaunch::new(&url)));
        let lanes = Lanes::new("fake", launch, GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        caller.tools().all().await.unwrap();
        let mut changes = caller.subscribe().resource("board:///").open().await.unwrap();
        let board = Change::Resource("board:///".to_owned());
        far.notify().resource_updated("board:///");
        assert_eq!(heard(&mut changes).await, board, "{revision}");
        proxy.set(ConnectionFault::Reset);
        // Later requests fail, too.
        caller.read("board:///").await.unwrap_err();
        proxy.set(ConnectionFault::None);
        assert_eq!(heard(&mut changes).await, board, "{revision}");
        far.notify().resource_updated("board:///");
        assert_eq!(heard(&mut changes).await, board, "{revision}");
    }
}

/// A watcher makes no calls, so nothing else would start the server.
#[tokio::test(start_paused = true)]
async fn a_server_that_died_is_started_again_for_the_followers_of_its_resources() {
    for upstream in BOTH {
        for way in ways() {
            let far = board();
            let fake = Fake::speaking(upstream, far.clone());
            let server = bridge(gateway(ONE, [("far", fake.clone())]), None);
            let caller = connect(&server, way, |builder| builder).await;
            let mut changes = caller.subscribe().resource("board:///").open().await.unwrap();
            let board = Some(Change::Resource("board:///".to_owned()));
            for round in 0..3 {
                while next(&mut changes).await.is_some() {}
                // It fails for a while.
                fake.set_failing(true);
                fake.kill().await;
                sleep(Duration::from_secs(100)).await;
                while next(&mut changes).await.is_some() {}
                fake.set_failing(false);
                sleep(Duration::from_secs(30)).await;
                assert_eq!(next(&mut changes).await, board, "{way:?} {upstream} {round}");
                while next(&mut changes).await.is_some() {}
                far.notify().resource_updated("board:///");
                assert_eq!(next(&mut changes).await, board, "{way:?} {upstream} {round}");
            }
            drop(changes);
            sleep(Duration::from_secs(610)).await;
            assert_eq!(fake.running().await, 0, "{way:?} {upstream}");
        }
    }
}

/// A server with a resource, which answers subscriptions in another way as often as `left` says.
fn reluctant(left: &Arc<AtomicUsize>, answer: fn() -> Response) -> Server {
    let left = left.clone();
    board().layer(layer::from_fn(move |request: Request, next: Next| {
        let listens = request.parts.method == Method::SubscriptionsListen;
        let one_less = |left: usize| left.checked_sub(1);
        let fails = listens && left.fetch_update(Relaxed, Relaxed, one_less).is_ok();
        let rest = next.run(request);
        async move { if fails { answer() } else { rest.await } }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_subscription_outlives_failures_while_it_is_opened() {
    let answers: [fn() -> Response; 2] =
        [|| Err(ErrorObject::unavailable("too much to do")), || Ok(Success::empty())];
    for (answer, way) in answers.into_iter().flat_map(|it| ways().map(move |way| (it, way))) {
        let left = Arc::new(AtomicUsize::new(2));
        let far = reluctant(&left, answer);
        let fake = Fake::speaking(Revision::LATEST, far.clone());
        let server = bridge(gateway(ONE, [("far", fake.clone())]), None);
        let caller = connect(&server, way, |builder| builder).await;
        caller.tools().all().await.unwrap();
        // A session listens as soon as the server runs.
        sleep(Duration::from_secs(10)).await;
        let subscribe = caller.subscribe().tools().resource("board:///");
        let mut changes = subscribe.open().await.unwrap();
        for round in 0..2 {
            sleep(Duration::from_secs(60)).await;
            while next(&mut changes).await.is_some() {}
            far.notify().resource_updated("board:///");
            let board = Change::Resource("board:///".to_owned());
            assert_eq!(next(&mut changes).await, Some(board), "{way:?} {round}");
            far.notify().tools_changed();
            assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?} {round}");
            // The same after a restart.
            left.store(3, Relaxed);
            fake.kill().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_the_server_refuses_by_now_does_not_end_other_subscriptions() {
    for way in ways().filter(|way| way.revision == Revision::LATEST_LEGACY) {
        let (ends, gone) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let is_gone = gone.clone();
        let far = ending(&ends).layer(layer::from_fn(move |request: Request, next: Next| {
            let wish = request.params.value("notifications").unwrap_or_default();
            let refuses = wish.contains("board:///") && is_gone.load(Relaxed);
            let rest = next.run(request);
            async move {
                if refuses { Err(ErrorObject::invalid_params("it is gone")) } else { rest.await }
            }
        }));
        let fake = Fake::speaking(Revision::LATEST, far.clone());
        let server = bridge(gateway(ONE, [("far", fake)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let mut lists = caller.subscribe().tools().open().await.unwrap();
        let mut board = caller.subscribe().resource("board:///").open().await.unwrap();
        while next(&mut lists).await.is_some() {}
        while next(&mut board).await.is_some() {}
        gone.store(true, Relaxed);
        ends.notify_waiters();
        assert_eq!(next(&mut board).await, Some(Change::Resource("board:///".to_owned())));
        while next(&mut lists).await.is_some() {}
        far.notify().tools_changed();
        assert_eq!(next(&mut lists).await, Some(Change::Tools), "{way:?}");
    }
}
