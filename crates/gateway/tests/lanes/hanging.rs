//! A server that hangs beside one that answers: callers get what the other has, soon. In virtual time.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline_client::{Change, Client, ClientBuilder};
use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{Gateway, GatewayOptions, bridge};
use bowline_proto::request::Request;
use bowline_server::layer::{self, Next};
use bowline_server::{Resource, Server, Tool};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{BOTH, Fake, Heard, Way, connect, echo, file, gateway, next, ways};

const FILE: &str = r#"{ "mcpServers": { "far": { "command": "x" }, "near": { "command": "y" } } }"#;

/// Shorter than the timeout of any client.
const SOON: Duration = Duration::from_secs(15);

async fn tools(caller: &Client) -> Vec<String> {
    let tools = timeout(SOON, caller.tools().all()).await.expect("a list in time").unwrap();
    tools.iter().map(|tool| tool.name.clone()).collect()
}

const OF_NEAR: [&str; 2] = ["near__say", "near__hang"];
const OF_BOTH: [&str; 4] = ["far__say", "far__hang", "near__say", "near__hang"];

#[tokio::test(start_paused = true)]
async fn a_list_leaves_out_a_server_that_hangs_at_its_start() {
    for way in ways() {
        let far = Fake::new(echo());
        far.set_hanging();
        let server = bridge(gateway(FILE, [("far", far), ("near", Fake::new(echo()))]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let _listening = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(tools(&caller).await, OF_NEAR, "{way:?}");
    }
}

/// A server that runs, and one that hangs from now on, behind one gateway.
async fn hung(upstream: Revision) -> (Server, Fake) {
    let with = |uri: &str| echo().resource(Resource::new(uri, || async { "text" }));
    let far = Fake::freezable(upstream, with("board:///far"));
    let near = Fake::new(with("board:///near"));
    let server = bridge(gateway(FILE, [("far", far.clone()), ("near", near)]), None);
    let caller = connect(&server, ways().next().unwrap(), |builder| builder).await;
    assert_eq!(tools(&caller).await, OF_BOTH);
    far.freeze();
    (server, far)
}

#[tokio::test(start_paused = true)]
async fn a_list_leaves_out_a_running_server_that_hangs_and_changes_once_it_answers() {
    for upstream in BOTH {
        for way in ways() {
            let (server, far) = hung(upstream).await;
            let caller = connect(&server, way, |builder| builder).await;
            let listening = timeout(SOON, caller.subscribe().tools().open()).await;
            let mut changes = listening.expect("a subscription in time").unwrap();
            assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
            // While the first list waits for its answer, no other waits for the server.
            let asked = Instant::now();
            assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
            assert!(asked.elapsed() < Duration::from_secs(1), "{way:?} {upstream}");
            while next(&mut changes).await.is_some() {}
            far.thaw();
            assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?} {upstream}");
            assert_eq!(tools(&caller).await, OF_BOTH, "{way:?} {upstream}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_listens_hears_of_the_others_and_of_the_server_once_it_answers() {
    for upstream in BOTH {
        for way in ways() {
            let (server, far) = hung(upstream).await;
            let caller = connect(&server, way, |builder| builder).await;
            let subscribe = caller.subscribe().tools().resource("board:///near");
            let listening = timeout(2 * SOON, subscribe.open()).await;
            let mut changes = listening.expect("a subscription in time").unwrap();
            assert!(changes.missing().is_empty(), "{way:?} {upstream}");
            far.thaw();
            sleep(Duration::from_secs(1)).await;
            while next(&mut changes).await.is_some() {}
            far.server().registry().insert(extra()).unwrap();
            assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?} {upstream}");
        }
    }
}

fn extra() -> Tool {
    Tool::new("extra", || async { "extra" })
}

#[tokio::test(start_paused = true)]
async fn a_resource_of_one_server_is_read_while_another_hangs() {
    for upstream in BOTH {
        for way in ways() {
            let (server, _far) = hung(upstream).await;
            let caller = connect(&server, way, |builder| builder).await;
            for patience in [SOON, Duration::from_secs(1)] {
                let reading = timeout(patience, caller.read("board:///near")).await;
                let contents = reading.expect("a resource in time").unwrap();
                assert_eq!(contents.text(), "text", "{way:?} {upstream}");
            }
        }
    }
}

/// Its calls wait as long as their callers.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_left_out_and_then_reported() {
    for way in ways() {
        let far = Fake::slow(Duration::from_secs(25), echo());
        let server = bridge(gateway(FILE, [("far", far), ("near", Fake::new(echo()))]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(tools(&caller).await, OF_NEAR, "{way:?}");
        while next(&mut changes).await.is_some() {}
        sleep(Duration::from_secs(20)).await;
        assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?}");
        assert_eq!(tools(&caller).await, OF_BOTH, "{way:?}");
        let said = caller.call("far__say", json!({ "message": "hi" })).await.unwrap();
        assert_eq!(said.text(), "hi", "{way:?}");
    }
}

/// Its first start is given up after 60 seconds.
#[tokio::test(start_paused = true)]
async fn a_server_whose_start_is_given_up_is_started_again_for_a_caller_that_listens() {
    for way in ways() {
        let far = Fake::slow(Duration::from_secs(90), echo());
        let servers = [("far", far.clone()), ("near", Fake::new(echo()))];
        let server = bridge(gateway(FILE, servers), None);
        let caller = connect(&server, way, |builder| builder).await;
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(tools(&caller).await, OF_NEAR, "{way:?}");
        while next(&mut changes).await.is_some() {}
        let begin = Instant::now();
        while next(&mut changes).await.is_none() {
            assert!(begin.elapsed() < Duration::from_secs(300), "{way:?}");
        }
        assert_eq!(tools(&caller).await, OF_BOTH, "{way:?}");
        assert_eq!(far.starts(), 2, "{way:?}");
    }
}

/// No caller is notified of the end of the next start.
#[tokio::test(start_paused = true)]
async fn a_server_whose_start_is_given_up_is_not_started_again_for_callers_that_are_gone() {
    for way in ways() {
        let far = Fake::slow(Duration::from_secs(90), echo());
        let servers = [("far", far.clone()), ("near", Fake::new(echo()))];
        let server = bridge(gateway(FILE, servers), None);
        let caller = connect(&server, way, |builder| builder).await;
        let changes = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(tools(&caller).await, OF_NEAR, "{way:?}");
        drop(changes);
        caller.close().await;
        sleep(Duration::from_secs(600)).await;
        assert_eq!(far.starts(), 1, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_file_says_how_long_lists_and_starts_wait() {
    const PATIENT: &str = r#"{ "mcpServers": { "far": { "command": "x" }, "near": { "command": "y" } },
        "gateway": { "listSeconds": 30, "startSeconds": 100 } }"#;
    for way in ways() {
        let far = Fake::slow(Duration::from_secs(90), echo());
        let servers = [("far", far.clone()), ("near", Fake::new(echo()))];
        let server = bridge(gateway(PATIENT, servers), None);
        let caller = connect(&server, way, |builder| builder).await;
        let begin = Instant::now();
        assert_eq!(caller.tools().all().await.unwrap().len(), 2, "{way:?}");
        assert_eq!(begin.elapsed().as_secs(), 30, "{way:?}");
        sleep(Duration::from_secs(65)).await;
        assert_eq!(tools(&caller).await, OF_BOTH, "{way:?}");
        assert_eq!(far.starts(), 1, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_start_side_by_side_for_a_list() {
    for way in ways() {
        let fakes = [(); 2].map(|()| Fake::slow(Duration::from_secs(4), echo()));
        let [far, near] = fakes;
        let server = bridge(gateway(FILE, [("far", far), ("near", near)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let asked = Instant::now();
        assert_eq!(tools(&caller).await, OF_BOTH, "{way:?}");
        assert!(asked.elapsed() < Duration::from_secs(6), "{way:?}: {:?}", asked.elapsed());
    }
}

/// It would never be listed if each list waited as long as the first.
#[tokio::test(start_paused = true)]
async fn a_server_that_needs_long_for_each_list_gets_that_time_once_it_is_known() {
    for upstream in BOTH {
        for way in ways() {
            let far = echo().layer(layer::from_fn(|request: Request, next: Next| {
                let lists = request.parts.method == Method::ToolsList;
                let rest = next.run(request);
                async move {
                    if lists {
                        sleep(Duration::from_secs(12)).await;
                    }
                    rest.await
                }
            }));
            let (far, near) = (Fake::speaking(upstream, far), Fake::new(echo()));
            let server = bridge(gateway(FILE, [("far", far), ("near", near)]), None);
            let caller = connect(&server, way, |builder| builder).await;
            let mut changes = caller.subscribe().tools().open().await.unwrap();
            assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
            sleep(Duration::from_secs(5)).await;
            while next(&mut changes).await.is_some() {}
            for _ in 0..2 {
                assert_eq!(tools(&caller).await, OF_BOTH, "{way:?} {upstream}");
            }
            assert_eq!(next(&mut changes).await, None, "{way:?} {upstream}");
        }
    }
}

/// The log messages that a caller gets.
fn hearing(builder: ClientBuilder, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.on_log(LoggingLevel::Warning, move |message| {
        heard.note(message.data.parse::<String>().unwrap_or_default());
    })
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_costs_its_patience_once_for_all_kinds_of_lists() {
    for upstream in BOTH {
        for way in ways() {
            let (server, far) = hung(upstream).await;
            let caller = connect(&server, way, |builder| builder).await;
            let mut changes = caller.subscribe().tools().resources().open().await.unwrap();
            let asked = Instant::now();
            assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
            assert_eq!(caller.resources().all().await.unwrap().len(), 1, "{way:?} {upstream}");
            caller.resource_templates().all().await.unwrap();
            let took = asked.elapsed();
            assert!(took < Duration::from_secs(10), "{way:?} {upstream}: {took:?}");
            while next(&mut changes).await.is_some() {}
            far.thaw();
            sleep(Duration::from_secs(1)).await;
            while next(&mut changes).await.is_some() {}
            assert_eq!(caller.resources().all().await.unwrap().len(), 2, "{way:?} {upstream}");
        }
    }
}

/// A server whose list of tools never comes, and whose resources take a moment; counts its lists.
fn half_hung(upstream: Revision, lists: &Arc<AtomicUsize>) -> Fake {
    let lists = lists.clone();
    let server = echo().resource(Resource::new("board:///far", || async { "text" }));
    let server = server.layer(layer::from_fn(move |request: Request, next: Next| {
        let method = request.parts.method;
        let (rest, lists) = (next.run(request), lists.clone());
        async move {
            match method {
                Method::ToolsList => {
                    lists.fetch_add(1, Ordering::Relaxed);
                    pending::<()>().await;
                }
                Method::ResourcesList => {
                    lists.fetch_add(1, Ordering::Relaxed);
                    sleep(Duration::from_millis(400)).await;
                }
                _ => {}
            }
            rest.await
        }
    }));
    Fake::speaking(upstream, server)
}

#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_holds_up_no_other_kind_and_changes_end_although_each_is_followed() {
    for upstream in BOTH {
        for way in ways() {
            let lists = Arc::new(AtomicUsize::new(0));
            let servers = [("far", half_hung(upstream, &lists)), ("near", Fake::new(echo()))];
            let server = bridge(gateway(FILE, servers), None);
            let caller = connect(&server, way, |builder| builder).await;
            let mut changes = caller.subscribe().tools().resources().open().await.unwrap();
            assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
            caller.resources().all().await.unwrap();
            let (begin, mut resources) = (Instant::now(), 0);
            while begin.elapsed() < Duration::from_secs(40) {
                if next(&mut changes).await.is_some() {
                    assert_eq!(tools(&caller).await, OF_NEAR, "{way:?} {upstream}");
                    resources = caller.resources().all().await.unwrap().len();
                }
            }
            assert_eq!(resources, 1, "{way:?} {upstream}");
            let lists = lists.load(Ordering::Relaxed);
            assert!(lists <= 6, "{way:?} {upstream}: {lists}");
        }
    }
}

/// There is no other server whose tools it would hold up.
#[tokio::test(start_paused = true)]
async fn the_only_server_of_a_gateway_is_awaited_however_slowly_it_starts() {
    const ALONE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
    for way in ways() {
        let far = Fake::slow(Duration::from_secs(40), echo());
        let server = bridge(gateway(ALONE, [("far", far)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let listed = caller.tools().all().await.unwrap();
        assert_eq!(listed.len(), 2, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_the_only_server_fails_if_the_server_fails() {
    const ALONE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
    for way in ways() {
        let far = Fake::new(echo());
        far.set_failing(true);
        let server = bridge(gateway(ALONE, [("far", far)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let error = caller.tools().all().await.unwrap_err();
        let expected = "the server `far` is not running: it could not be started";
        assert_eq!(error.rpc().unwrap().message, expected, "{way:?}");
    }
}

/// Nothing would tell it later that the list has changed.
#[tokio::test(start_paused = true)]
async fn a_caller_that_hears_of_no_changes_waits_for_a_server_that_starts() {
    for http in [false, true] {
        let way = Way { revision: Revision::LATEST, http };
        let far = Fake::slow(Duration::from_secs(16), echo());
        let server = bridge(gateway(FILE, [("far", far), ("near", Fake::new(echo()))]), None);
        let caller = connect(&server, way, |builder| builder).await;
        let listed = caller.tools().all().await.unwrap();
        assert_eq!(listed.len(), 4, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_list_says_so_to_its_caller_and_to_the_operator() {
    for way in ways() {
        let far = Fake::new(echo());
        far.set_hanging();
        let (heard, reported) = (Heard::default(), Heard::default());
        let (notes, changes) = (reported.clone(), reported.clone());
        let servers = [("far", far), ("near", Fake::new(echo()))];
        let options = GatewayOptions::new(ConfigVariables::none())
            .reporting(move |note| notes.note(note.to_string()))
            .watching(move |server, change| changes.note(format!("{server} {change:?}")))
            .dialled_by(move |entry, _| {
                let server = servers.iter().find(|(name, _)| *name == entry.name);
                Arc::new(server.unwrap().1.clone())
            });
        let gateway = Gateway::with_options(&file(FILE), options).unwrap();
        let caller = connect(&bridge(gateway, None), way, |it| hearing(it, &heard)).await;
        let mut list = caller.tools();
        assert_eq!(list.remaining().await.unwrap().len(), 2, "{way:?}");
        let missing = list.left_out().iter().map(|it| it.server.as_str()).collect::<Vec<_>>();
        assert_eq!(missing, ["far"], "{way:?}");
        assert_eq!(caller.prompts().all().await.unwrap().len(), 0, "{way:?}");
        // Lists of 2026-07-28 ask for no log messages.
        // Sessions listen from their first moment on.
        let seconds = if way.revision.has_handshake() { 8 } else { 25 };
        let cause = format!(
            "the server `far` did not answer within {seconds} s; `listSeconds` waits longer"
        );
        let left_out = format!("the tools of `far` are left out: {cause}");
        let expected = way.revision.has_handshake().then_some(left_out);
        assert_eq!(heard.take().first(), expected.as_ref(), "{way:?}");
        // Once, and not for each list.
        let reported = reported.take();
        assert_eq!(reported.len(), 1, "{way:?} {reported:?}");
        assert_eq!(reported[0], format!("far Failing({cause:?})"), "{way:?}");
    }
}
