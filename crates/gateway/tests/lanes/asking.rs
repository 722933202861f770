//! One asker at a time: callers of servers with a handshake that ask questions. In virtual time.

use std::sync::Arc;
use std::time::Duration;

use bowline::{Ask, tool, tools};
use bowline_client::{Change, Client};
use bowline_gateway::bridge;
use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{AskingServers, Gateway, GatewayLimits, GatewayOptions, UpstreamFailure};
use bowline_server::{Resource, Server, Tool};
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::support::{Fake, Heard, Way, agreeing, connect, echo, file, next, ways};

/// Deploy the thing
#[tool]
async fn deploy(ask: Ask, place: String) -> bowline::Result<String> {
    for question in [format!("Deploy to {place}?"), format!("Really to {place}?")] {
        // Lets the calls of others begin.
        sleep(Duration::from_millis(1)).await;
        if !ask.confirm(question).await? {
            return Ok("not deployed".to_owned());
        }
    }
    Ok(format!("deployed to {place}"))
}

fn server() -> Server {
    echo().tools(tools![deploy])
}

fn fake() -> Fake {
    Fake::speaking(Revision::LATEST_LEGACY, server())
}

const UNKNOWN: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
const ASKS: &str = r#"{ "mcpServers": { "far": { "command": "x", "asks": true } } }"#;

fn options(fake: &Fake, limits: GatewayLimits) -> GatewayOptions {
    let fake = fake.clone();
    let options = GatewayOptions::new(ConfigVariables::none()).limits(limits);
    options.dialled_by(move |_, _| Arc::new(fake.clone()))
}

fn gateway(text: &str, fake: &Fake) -> Server {
    limited(text, fake, GatewayLimits::default())
}

fn limited(text: &str, fake: &Fake, limits: GatewayLimits) -> Server {
    bridge(Gateway::with_options(&file(text), options(fake, limits)).unwrap(), None)
}

async fn asked(server: &Server, way: Way) -> (Client, Heard) {
    let heard = Heard::default();
    let caller = connect(server, way, |builder| agreeing(builder, &heard)).await;
    (caller, heard)
}

/// Lets callers deploy at the same time, each to a place of its own.
async fn deploy_together(server: &Server, way: Way, callers: usize) {
    let mut calls = JoinSet::new();
    for number in 0..callers {
        let (caller, heard) = asked(server, way).await;
        calls.spawn(async move {
            let place = format!("place-{number}");
            let deployed = caller.call("far__deploy", json!({ "place": place })).await.unwrap();
            assert_eq!(deployed.text(), format!("deployed to {place}"), "{way:?}");
            let questions =
                [format!("far: Deploy to {place}?"), format!("far: Really to {place}?")];
            assert_eq!(heard.take(), questions, "{way:?}");
        });
    }
    while let Some(ended) = calls.join_next().await {
        ended.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn each_caller_of_a_server_that_asks_hears_its_own_questions_on_8_connections_at_most() {
    for way in ways() {
        let fake = fake();
        deploy_together(&gateway(ASKS, &fake), way, 30).await;
        assert_eq!(fake.starts(), 8, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_not_known_to_ask_is_known_from_its_first_question_on() {
    for way in ways() {
        let fake = fake();
        let server = gateway(UNKNOWN, &fake);
        deploy_together(&server, way, 1).await;
        assert_eq!(fake.starts(), 1, "{way:?}");
        deploy_together(&server, way, 4).await;
        assert_eq!(fake.starts(), 5, "{way:?}");
    }
}

/// A question that two callers could answer is refused, but only the first time.
#[tokio::test(start_paused = true)]
async fn a_refused_question_counts_as_the_first() {
    for way in ways() {
        let fake = fake();
        let server = gateway(UNKNOWN, &fake);
        let (first, heard) = asked(&server, way).await;
        let (second, other) = asked(&server, way).await;
        let hanging = tokio::spawn(second.call("far__hang", ()).into_future());
        while fake.running().await == 0 {}
        let refused = first.call("far__deploy", json!({ "place": "here" })).await.unwrap();
        assert!(refused.is_error(), "{way:?}");
        assert!(heard.take().is_empty() && other.take().is_empty(), "{way:?}");
        deploy_together(&server, way, 2).await;
        hanging.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn callers_one_after_the_other_use_one_connection() {
    for way in ways() {
        let fake = fake();
        let server = gateway(ASKS, &fake);
        for _ in 0..5 {
            deploy_together(&server, way, 1).await;
        }
        assert_eq!(fake.starts(), 1, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_that_can_answer_nothing_share_one_connection() {
    for way in ways() {
        let fake = fake();
        let server = gateway(ASKS, &fake);
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            let caller = connect(&server, way, |builder| builder).await;
            calls.spawn(caller.call("far__hang", ()).into_future());
        }
        while fake.running().await == 0 {}
        let caller = connect(&server, way, |builder| builder).await;
        caller.call("far__say", json!({ "message": "hi" })).await.unwrap();
        assert_eq!(fake.starts(), 1, "{way:?}");
    }
}

/// Lists wait for no question: they get a connection of their own.
#[tokio::test(start_paused = true)]
async fn a_caller_that_thinks_about_its_answer_holds_up_no_other() {
    for way in ways() {
        let fake = fake();
        let server = gateway(ASKS, &fake);
        let thinking = connect(&server, way, |builder| {
            builder.on_ask(|question| async move {
                std::future::pending::<()>().await;
                question.decline()
            })
        });
        let thinking = thinking.await.call("far__deploy", json!({ "place": "here" }));
        let thinking = tokio::spawn(thinking.into_future());
        while fake.running().await == 0 {}
        sleep(Duration::from_millis(50)).await;
        let (caller, _) = asked(&server, way).await;
        assert_eq!(caller.tools().all().await.unwrap().len(), 3, "{way:?}");
        deploy_together(&server, way, 1).await;
        assert_eq!(fake.starts(), 2, "{way:?}");
        thinking.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn beyond_the_limit_a_call_waits_and_then_fails_with_a_clear_error() {
    for way in ways() {
        let fake = fake();
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 1;
        let server = limited(ASKS, &fake, limits);
        let answers = Arc::new(Semaphore::new(0));
        let held = answers.clone();
        let thinking = connect(&server, way, move |builder| {
            builder.allow_urls().on_ask(move |question| {
                let held = held.clone();
                async move {
                    held.acquire().await.unwrap().forget();
                    question.accept(true)
                }
            })
        });
        let thinking = thinking.await.call("far__deploy", json!({ "place": "here" }));
        let thinking = tokio::spawn(thinking.timeout(Duration::from_secs(500)).into_future());
        while fake.running().await == 0 {}
        let (caller, _) = asked(&server, way).await;
        let begin = Instant::now();
        let call = || caller.call("far__say", json!({ "message": "hi" }));
        let error = call().timeout(Duration::from_secs(100)).await.unwrap_err();
        let error = error.rpc().unwrap();
        assert!(error.message.contains("`far` is busy with calls of other callers"));
        let failure: UpstreamFailure = error.parse_data().unwrap();
        assert!(!failure.may_have_run && begin.elapsed() >= Duration::from_secs(30), "{way:?}");
        let waiting = tokio::spawn(call().into_future());
        answers.add_permits(2);
        assert_eq!(thinking.await.unwrap().unwrap().text(), "deployed to here", "{way:?}");
        assert_eq!(waiting.await.unwrap().unwrap().text(), "hi", "{way:?}");
        assert_eq!(fake.starts(), 1, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn that_a_server_asks_is_remembered_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asking.json");
    let way = Way { revision: Revision::LATEST_LEGACY, http: false };
    let load = |fake: &Fake| {
        let (memory, warning) = AskingServers::read(&path);
        assert_eq!(warning, None);
        let options = options(fake, GatewayLimits::default()).remembering(memory);
        bridge(Gateway::with_options(&file(UNKNOWN), options).unwrap(), None)
    };
    deploy_together(&load(&fake()), way, 1).await;
    while !path.exists() {
        tokio::task::yield_now().await;
    }
    deploy_together(&load(&fake()), way, 4).await;
}

/// When the server is known to ask, the calls of a session move to another connection, and its
/// subscriptions move along.
#[tokio::test(start_paused = true)]
async fn subscriptions_of_a_session_move_with_its_calls() {
    let board = |uri: &str| Resource::new(uri, || async { "text" });
    let far = server().resource(board("a:///")).resource(board("b:///"));
    let fake = Fake::speaking(Revision::LATEST_LEGACY, far.clone());
    let server = gateway(UNKNOWN, &fake);
    for way in ways() {
        let (caller, _) = asked(&server, way).await;
        let mut first = caller.subscribe().resource("a:///").open().await.unwrap();
        assert!(first.missing().is_empty(), "{way:?}");
        caller.call("far__deploy", json!({ "place": "here" })).await.unwrap();
        caller.call("far__deploy", json!({ "place": "there" })).await.unwrap();
        let mut second = caller.subscribe().resource("b:///").open().await.unwrap();
        assert!(second.missing().is_empty(), "{way:?}");
        sleep(Duration::from_secs(1)).await;
        while next(&mut first).await.is_some() {}
        while next(&mut second).await.is_some() {}
        far.notify().resource_updated("a:///");
        far.notify().resource_updated("b:///");
        assert_eq!(next(&mut first).await, Some(Change::Resource("a:///".to_owned())), "{way:?}");
        assert_eq!(next(&mut second).await, Some(Change::Resource("b:///".to_owned())), "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_whose_connection_made_room_for_another_hears_of_changes_on_its_next_one() {
    for way in ways() {
        let far = server();
        let fake = Fake::speaking(Revision::LATEST_LEGACY, far.clone());
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 1;
        let server = limited(ASKS, &fake, limits);
        let forms = connect(&server, way, |builder| {
            builder.on_ask(|question| async move { question.accept(true) })
        });
        let (forms, (pages, _)) = (forms.await, asked(&server, way).await);
        let mut changes = forms.subscribe().tools().open().await.unwrap();
        for caller in [&forms, &pages, &forms] {
            caller.call("far__say", json!({ "message": "hi" })).await.unwrap();
            while next(&mut changes).await.is_some() {}
        }
        assert_eq!((fake.starts(), fake.running().await), (3, 1), "{way:?}");
        far.notify().tools_changed();
        assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?}");
    }
}

/// Otherwise it would move with each call, and report everything as changed each time.
#[tokio::test(start_paused = true)]
async fn parallel_calls_of_a_caller_without_a_session_leave_its_subscription_where_it_is() {
    let way = Way { revision: Revision::LATEST, http: false };
    let slow = Tool::new("slow", || async {
        sleep(Duration::from_secs(1)).await;
        "slow"
    });
    let far = server().tool(slow);
    let fake = Fake::speaking(Revision::LATEST_LEGACY, far.clone());
    let server = gateway(ASKS, &fake);
    let (caller, _) = asked(&server, way).await;
    let mut changes = caller.subscribe().tools().open().await.unwrap();
    let slow = || async { caller.call("far__slow", ()).await.unwrap() };
    let later = || async {
        sleep(Duration::from_millis(100)).await;
        slow().await
    };
    tokio::join!(slow(), later());
    while next(&mut changes).await.is_some() {}
    for _ in 0..3 {
        tokio::join!(slow(), later());
        assert_eq!(next(&mut changes).await, None);
    }
    assert_eq!(fake.starts(), 2);
    far.notify().tools_changed();
    assert_eq!(next(&mut changes).await, Some(Change::Tools));
}

#[tokio::test(start_paused = true)]
async fn a_caller_whose_connection_is_idle_hears_of_changes_on_one_that_runs() {
    for way in ways() {
        let far = server();
        let fake = Fake::speaking(Revision::LATEST_LEGACY, far.clone());
        let server = gateway(ASKS, &fake);
        let (listening, _) = asked(&server, way).await;
        let mut changes = listening.subscribe().tools().open().await.unwrap();
        let ((first, _), (second, _)) = (asked(&server, way).await, asked(&server, way).await);
        let mut hanging = Vec::new();
        for caller in [&first, &second] {
            let call = caller.call("far__hang", ()).timeout(Duration::from_secs(3000));
            hanging.push(tokio::spawn(call.into_future()));
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(fake.starts(), 2, "{way:?}");
        hanging[0].abort();
        sleep(Duration::from_secs(700)).await;
        assert_eq!(fake.running().await, 1, "{way:?}");
        while next(&mut changes).await.is_some() {}
        far.notify().tools_changed();
        assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?}");
        hanging[1].abort();
    }
}

/// When the server is known to ask, callers that can answer nothing get another connection than before.
#[tokio::test(start_paused = true)]
async fn callers_that_can_answer_nothing_hear_of_changes_on_their_new_connection() {
    for way in ways() {
        let far = server().resource(Resource::new("a:///", || async { "text" }));
        let fake = Fake::speaking(Revision::LATEST_LEGACY, far.clone());
        let server = gateway(UNKNOWN, &fake);
        let caller = connect(&server, way, |builder| builder).await;
        let say = || caller.call("far__say", json!({ "message": "hi" }));
        let mut lists = caller.subscribe().tools().open().await.unwrap();
        say().await.unwrap();
        asked(&server, way).await.0.call("far__deploy", json!({ "place": "here" })).await.unwrap();
        // The first connection is stopped, since nothing uses it any more.
        for _ in 0..3 {
            sleep(Duration::from_secs(500)).await;
            say().await.unwrap();
        }
        assert_eq!(fake.running().await, 1, "{way:?}");
        let opening = caller.subscribe().resource("a:///").open();
        let opened = tokio::time::timeout(Duration::from_secs(50), opening).await;
        let mut board = opened.expect("no caller waits without end").unwrap();
        assert!(board.missing().is_empty(), "{way:?}");
        while next(&mut lists).await.is_some() {}
        while next(&mut board).await.is_some() {}
        far.notify().tools_changed();
        assert_eq!(next(&mut lists).await, Some(Change::Tools), "{way:?}");
        far.notify().resource_updated("a:///");
        assert_eq!(next(&mut board).await, Some(Change::Resource("a:///".to_owned())), "{way:?}");
        assert_eq!(fake.running().await, 1, "{way:?}");
    }
}
