//! The limits of a gateway, each at its bound. In virtual time.

use std::sync::Arc;
use std::time::Duration;

use bowline_client::Client;
use bowline_gateway::config::ConfigVariables;
use bowline_gateway::{
    Dial, DialError, Gateway, GatewayLimits, GatewayOptions, UpstreamFailure, bridge,
};
use bowline_proto::request::{Owner, Request};
use bowline_server::layer::{self, Next};
use bowline_server::{Resource, Server};
use bowline_types::capability::ClientCapabilities;
use bowline_types::ext::apps;
use bowline_types::json::Object;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{
    BOTH, Fake, Heard, Way, agreeing, client, connect, echo, file, limited, ways,
};

const FILE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
const ASKS: &str = r#"{ "mcpServers": { "far": { "command": "x", "asks": true } } }"#;

async fn say(caller: &Client) -> bowline_client::Result<()> {
    caller.call("far__say", json!({ "message": "hi" })).await.map(drop)
}

/// A server that is reached over a network.
struct Remote(Fake);

impl Dial for Remote {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        self.0.dial(declared, limits)
    }

    fn is_process(&self) -> bool {
        false
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_has_a_limited_number_of_sessions_of_a_remote_server_that_asks() {
    for way in ways() {
        let fake = Fake::speaking(Revision::LATEST_LEGACY, echo());
        let mut limits = GatewayLimits::default();
        (limits.process_lanes, limits.http_lanes) = (1, 2);
        limits.lane_wait = Duration::from_secs(3);
        let far = fake.clone();
        let options = GatewayOptions::new(ConfigVariables::none()).limits(limits);
        let options = options.dialled_by(move |_, _| Arc::new(Remote(far.clone())));
        let server = bridge(Gateway::with_options(&file(ASKS), options).unwrap(), None);
        let mut hanging = Vec::new();
        for _ in 0..2 {
            let caller = connect(&server, way, |it| agreeing(it, &Heard::default())).await;
            hanging.push(tokio::spawn(caller.call("far__hang", ()).into_future()));
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(fake.starts(), 2, "{way:?}");
        let third = connect(&server, way, |it| agreeing(it, &Heard::default())).await;
        let begin = Instant::now();
        let error = say(&third).await.unwrap_err();
        assert!(error.rpc().unwrap().message.contains("is busy"), "{way:?}: {error}");
        assert_eq!(begin.elapsed().as_secs(), 3, "{way:?}");
        hanging.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_has_a_limited_number_of_connections_for_all_owners() {
    for (upstream, way) in BOTH.into_iter().flat_map(|it| ways().map(move |way| (it, way))) {
        let fake = Fake::speaking(upstream, echo());
        let mut limits = GatewayLimits::default();
        limits.lanes = 2;
        let gateway = limited(FILE, [("far", fake.clone())], limits);
        let server = owned(bridge(gateway, None));
        let of =
            |name: &'static str| connect(&server, way, move |_| Client::builder(name, "1.0.0"));
        let (ann, bob) = (of("ann").await, of("bob").await);
        say(&ann).await.unwrap();
        say(&bob).await.unwrap();
        let cat = of("cat").await;
        let error = say(&cat).await.unwrap_err();
        assert!(error.rpc().unwrap().message.contains("too many callers"), "{way:?} {upstream}");
        // Connections that have ended make room.
        sleep(Duration::from_secs(700)).await;
        say(&cat).await.unwrap();
        assert_eq!(fake.starts(), 3, "{way:?} {upstream}");
    }
}

/// Names the owner of each call by the name of its client.
fn owned(server: Server) -> Server {
    server.layer(layer::from_fn(|mut request: Request, next: Next| {
        let name = request.parts.client.info.as_ref().map_or("", |info| &info.name);
        request.parts.owner = Owner::known("https://auth.example.com", name);
        next.run(request)
    }))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_failed_keeps_its_place_while_a_caller_follows_its_resources() {
    for (upstream, way) in BOTH.into_iter().flat_map(|it| ways().map(move |way| (it, way))) {
        let far = echo().resource(Resource::new("board:///", || async { "text" }));
        let fake = Fake::speaking(upstream, far);
        let mut limits = GatewayLimits::default();
        limits.lanes = 1;
        let server = owned(bridge(limited(FILE, [("far", fake.clone())], limits), None));
        let of =
            |name: &'static str| connect(&server, way, move |_| Client::builder(name, "1.0.0"));
        let (ann, bob) = (of("ann").await, of("bob").await);
        let following = ann.subscribe().resource("board:///").open().await.unwrap();
        fake.set_failing(true);
        fake.kill().await;
        sleep(Duration::from_secs(100)).await;
        fake.set_failing(false);
        let error = say(&bob).await.unwrap_err();
        assert!(error.rpc().unwrap().message.contains("too many callers"), "{way:?} {upstream}");
        sleep(Duration::from_secs(100)).await;
        assert_eq!(fake.running().await, 1, "{way:?} {upstream}");
        drop(following);
        sleep(Duration::from_secs(700)).await;
        say(&bob).await.unwrap();
        assert_eq!(fake.running().await, 1, "{way:?} {upstream}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_forgotten_after_a_healthy_time_and_not_before() {
    let mut limits = GatewayLimits::default();
    limits.healthy = Duration::from_secs(20);
    (limits.first_pause, limits.longest_pause) = (Duration::from_secs(1000), Duration::MAX);
    let fake = Fake::new(echo());
    let lanes = fake.lanes(limits);
    let caller = client(&lanes, Revision::LATEST).await;
    let say = || caller.call("fake__say", json!({ "message": "hi" })).into_future();
    say().await.unwrap();
    for _ in 0..5 {
        sleep(Duration::from_secs(21)).await;
        fake.kill().await;
        say().await.unwrap();
    }
    sleep(Duration::from_secs(5)).await;
    fake.kill().await;
    say().await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn a_list_is_given_up_in_time() {
    for upstream in BOTH {
        for way in ways() {
            let mut limits = GatewayLimits::default();
            limits.list = Duration::from_secs(20);
            let fake = Fake::freezable(upstream, echo());
            let lanes = fake.lanes(limits).described_by_server();
            lanes.start().await.unwrap();
            let caller = connect(&bridge(lanes, None), way, |builder| builder).await;
            fake.freeze();
            let begin = Instant::now();
            let error = caller.tools().all().await.unwrap_err();
            let message = &error.rpc().unwrap().message;
            assert_eq!(
                message, "the server `fake` did not answer within 20 s",
                "{way:?} {upstream}"
            );
            assert_eq!(begin.elapsed().as_secs(), 20, "{way:?} {upstream}");
        }
    }
}

/// The instructions of the gateway after its server was met.
async fn instructions(config: &str, way: Way) -> Option<String> {
    let far = Server::new("far", "1.0.0").instructions("\u{e9}".repeat(3000));
    let server = bridge(limited(config, [("far", Fake::new(far))], GatewayLimits::default()), None);
    let caller = connect(&server, way, |builder| builder).await;
    // Starts the server.
    _ = caller.tools().all().await;
    let caller = connect(&server, way, |builder| builder).await;
    caller.instructions().map(str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn instructions_of_a_server_are_cut_and_stand_under_its_prefix() {
    for way in ways() {
        let text = instructions(FILE, way).await.unwrap();
        assert_eq!(text.matches('\u{e9}').count() * 2, 2048, "{way:?}");
        assert!(text.starts_with("On the tools and prompts whose names begin with `far__`:"));
    }
}

#[tokio::test(start_paused = true)]
async fn instructions_that_the_file_switches_off_reach_no_caller() {
    for way in ways() {
        let entry = r#"{ "mcpServers": { "far": { "command": "x", "instructions": false } } }"#;
        assert_eq!(instructions(entry, way).await, None, "{way:?}");
        let all = r#"{ "mcpServers": { "far": { "command": "x" } },
                       "gateway": { "instructions": false } }"#;
        assert_eq!(instructions(all, way).await, None, "{way:?}");
    }
}

/// A gateway to a server that asks, for callers with views of any media types.
fn viewed(fake: &Fake, text: &str, limits: GatewayLimits) -> Server {
    bridge(limited(text, [("far", fake.clone())], limits), None).layer(layer::from_fn(
        |mut request: Request, next: Next| {
            let client = Arc::make_mut(&mut request.parts.client);
            let name = client.info.as_ref().map_or("", |info| &info.name);
            if let Some(kind) = name.strip_prefix("shows ") {
                let settings = Object::of(&json!({ "mimeTypes": [kind] })).unwrap();
                client.capabilities.extensions.insert(apps::IDENTIFIER, settings).unwrap();
            }
            next.run(request)
        },
    ))
}

#[tokio::test(start_paused = true)]
async fn callers_that_differ_only_in_settings_of_their_views_share_a_connection() {
    let way = Way { revision: Revision::LATEST, http: false };
    let fake = Fake::speaking(Revision::LATEST_LEGACY, echo());
    let server = viewed(&fake, ASKS, GatewayLimits::default());
    for number in 0..20 {
        let name = format!("shows video/{number}");
        say(&connect(&server, way, |_| Client::builder(name, "1.0.0")).await).await.unwrap();
    }
    assert_eq!(fake.starts(), 1);
    let name = format!("shows {}", apps::MIME_TYPE);
    say(&connect(&server, way, |_| Client::builder(name, "1.0.0")).await).await.unwrap();
    assert_eq!(fake.starts(), 2);
}

/// Two callers of one owner, of which only the second shows views. The owner may have one connection.
async fn two_kinds(fake: &Fake) -> (Client, Client) {
    let way = Way { revision: Revision::LATEST, http: false };
    let mut limits = GatewayLimits::default();
    (limits.process_lanes, limits.capability_lanes) = (0, 1);
    let server = viewed(fake, ASKS, limits);
    let plain = connect(&server, way, |builder| builder).await;
    let name = format!("shows {}", apps::MIME_TYPE);
    let viewing = connect(&server, way, |_| Client::builder(name, "1.0.0")).await;
    (plain, viewing)
}

#[tokio::test(start_paused = true)]
async fn an_owner_has_a_limited_number_of_connections_for_different_capabilities() {
    let fake = Fake::speaking(Revision::LATEST_LEGACY, echo());
    let (plain, viewing) = two_kinds(&fake).await;
    let hanging = tokio::spawn(plain.call("far__hang", ()).into_future());
    while fake.running().await == 0 {}
    let error = say(&viewing).await.unwrap_err();
    let error = error.rpc().unwrap();
    assert_eq!(error.message, "the server `far` has too many callers");
    assert!(!error.parse_data::<UpstreamFailure>().unwrap().may_have_run);
    say(&plain).await.unwrap();
    assert_eq!(fake.starts(), 1);
    hanging.abort();
    sleep(Duration::from_millis(10)).await;
    // A connection that nothing uses makes room.
    say(&viewing).await.unwrap();
    assert_eq!((fake.starts(), fake.running().await), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn followers_of_resources_have_no_more_connections_than_calls() {
    let far = echo().resource(Resource::new("board:///", || async { "text" }));
    let fake = Fake::speaking(Revision::LATEST_LEGACY, far);
    let (plain, viewing) = two_kinds(&fake).await;
    let follow = |caller: &Client| caller.subscribe().resource("board:///").open();
    let first = follow(&plain).await.unwrap();
    assert!(first.missing().is_empty());
    let second = follow(&viewing).await.unwrap();
    assert_eq!(second.missing().resource_subscriptions, ["board:///"]);
    assert_eq!(fake.starts(), 1);
}
