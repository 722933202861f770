//! Who shares a process or session of a server: callers of one owner, and no others. Virtual time.

use std::sync::{Arc, Mutex};

use bowline::{Ask, tool, tools};
use bowline_client::{Client, ClientBuilder};
use bowline_gateway::{GatewayLimits, UpstreamFailure, bridge};
use bowline_proto::request::{Owner, Request};
use bowline_server::Server;
use bowline_server::layer::{self, Next};
use bowline_types::deprecated::roots::Root;
use bowline_types::revision::Revision;

use crate::support::{BOTH, Fake, Way, agreeing, connect, echo, limited, ways};

/// Servers whose connections count, each from 1: what one caller does, another on the same
/// connection sees.
#[tool]
async fn roots(ask: Ask) -> bowline::Result<String> {
    let roots = ask.roots().await?;
    Ok(roots.paths().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" "))
}

fn file(settings: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "far": {{ "command": "x"{settings} }} }} }}"#)
}

/// A gateway whose callers are known by the names of their clients.
fn known(settings: &str, fake: &Fake, limits: GatewayLimits) -> Server {
    let gateway = limited(&file(settings), [("far", fake.clone())], limits);
    bridge(gateway, None).layer(layer::from_fn(|mut request: Request, next: Next| {
        let name = request.parts.client.info.as_ref().map_or("", |info| &info.name);
        request.parts.owner = Owner::known("https://auth.example.com", name);
        next.run(request)
    }))
}

async fn named(server: &Server, way: Way, name: &'static str) -> Client {
    connect(server, way, |_| Client::builder(name, "1.0.0")).await
}

async fn say(caller: &Client) {
    caller.call("far__say", serde_json::json!({ "message": "hi" })).await.unwrap();
}

fn both_eras() -> impl Iterator<Item = (Revision, Way)> {
    BOTH.into_iter().flat_map(|upstream| ways().map(move |way| (upstream, way)))
}

#[tokio::test(start_paused = true)]
async fn callers_of_two_owners_never_share_a_connection() {
    for (upstream, way) in both_eras() {
        let fake = Fake::speaking(upstream, echo());
        let server = known("", &fake, GatewayLimits::default());
        let (ann, again) = (named(&server, way, "ann").await, named(&server, way, "ann").await);
        say(&ann).await;
        say(&again).await;
        assert_eq!(fake.starts(), 1, "{way:?} {upstream}");
        let bob = named(&server, way, "bob").await;
        bob.tools().all().await.unwrap();
        assert_eq!(fake.starts(), 2, "{way:?} {upstream}");
        say(&bob).await;
        say(&ann).await;
        assert_eq!(fake.starts(), 2, "{way:?} {upstream}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_shared_by_all_has_one_connection_for_all_owners() {
    for (upstream, way) in both_eras() {
        let fake = Fake::speaking(upstream, echo());
        let server = known(r#", "share": "all""#, &fake, GatewayLimits::default());
        for name in ["ann", "bob", "cat"] {
            say(&named(&server, way, name).await).await;
        }
        assert_eq!(fake.starts(), 1, "{way:?} {upstream}");
    }
}

/// A caller of 2026-07-28 has no session that could tell it from another of its owner.
#[tokio::test(start_paused = true)]
async fn an_isolated_server_has_a_connection_for_each_session_and_each_owner_without_one() {
    for (upstream, way) in both_eras() {
        let fake = Fake::speaking(upstream, echo());
        let server = known(r#", "isolate": "caller""#, &fake, GatewayLimits::default());
        let mut callers = Vec::new();
        for name in ["ann", "ann", "bob"] {
            callers.push(named(&server, way, name).await);
            say(callers.last().unwrap()).await;
        }
        for caller in &callers {
            say(caller).await;
        }
        let expected = if way.revision.has_handshake() { 3 } else { 2 };
        assert_eq!(fake.starts(), expected, "{way:?} {upstream}");
    }
}

/// Over memory, because only there the server may ask a session at any time.
#[tokio::test(start_paused = true)]
async fn an_isolated_server_gets_the_roots_of_its_session_and_a_shared_one_none() {
    for (settings, expected) in [(r#", "isolate": "caller""#, ["/tmp", "/usr"]), ("", ["", ""])] {
        let far = Server::new("far", "1.0.0").tools(tools![roots]);
        let fake = Fake::speaking(Revision::LATEST_LEGACY, far);
        let server = known(settings, &fake, GatewayLimits::default());
        let way = Way { revision: Revision::LATEST_LEGACY, http: false };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let with_root = |uri: &str| {
            let root = Root::new(uri).unwrap();
            move |builder: ClientBuilder| builder.roots([root])
        };
        let ann = connect(&server, way, with_root("file:///tmp")).await;
        let bob = connect(&server, way, with_root("file:///usr")).await;
        for caller in [&ann, &bob] {
            let found = caller.call("far__roots", ()).await.unwrap();
            let text = if found.is_error() { String::new() } else { found.text().to_string() };
            heard.lock().unwrap().push(text);
        }
        assert_eq!(*heard.lock().unwrap(), expected, "{settings}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_has_a_limited_number_of_isolated_connections() {
    for upstream in BOTH {
        for way in ways().filter(|way| way.revision.has_handshake()) {
            let fake = Fake::speaking(upstream, echo());
            let mut limits = GatewayLimits::default();
            limits.isolated_lanes = 2;
            let server = known(r#", "isolate": "caller""#, &fake, limits);
            let callers = [named(&server, way, "ann").await, named(&server, way, "ann").await];
            for caller in &callers {
                say(caller).await;
            }
            let third = named(&server, way, "ann").await;
            let call = third.call("far__say", serde_json::json!({ "message": "hi" }));
            let error = call.await.unwrap_err();
            let error = error.rpc().unwrap();
            assert_eq!(error.message, "the server `far` has too many callers", "{way:?}");
            assert!(!error.parse_data::<UpstreamFailure>().unwrap().may_have_run);
            // Another owner has its own.
            say(&named(&server, way, "bob").await).await;
            for caller in &callers {
                say(caller).await;
            }
            assert_eq!(fake.starts(), 3, "{way:?} {upstream}");
        }
    }
}

/// Sessions over HTTP to a server that asks.
#[tokio::test(start_paused = true)]
async fn an_owner_is_not_held_up_by_the_questions_of_another() {
    let fake = Fake::speaking(Revision::LATEST_LEGACY, echo());
    let mut limits = GatewayLimits::default();
    limits.process_lanes = 1;
    let server = known(r#", "asks": true"#, &fake, limits);
    let way = Way { revision: Revision::LATEST_LEGACY, http: false };
    let heard = crate::support::Heard::default();
    let ann = connect(&server, way, |_| agreeing(Client::builder("ann", "1.0.0"), &heard)).await;
    let hanging = tokio::spawn(ann.call("far__hang", ()).into_future());
    while fake.running().await == 0 {}
    let bob = connect(&server, way, |_| agreeing(Client::builder("bob", "1.0.0"), &heard)).await;
    say(&bob).await;
    assert_eq!(fake.starts(), 2);
    hanging.abort();
}
