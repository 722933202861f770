//! What counts as a call for the rate limit.

use bowline_server::layer::RateLimit;
use bowline_server::{Args, Ask, Error, Prompt, Resource, Server, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Peer, accept};
use crate::wire::{Wire, call};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

fn yes() -> Value {
    accept(&json!({ "confirm": true }))
}

/// A tool that asks twice.
fn asks_twice() -> Tool {
    Tool::new("book", async |ask: Ask| {
        let sure = ask.confirm("Book it?").await? && ask.confirm("Really?").await?;
        Ok::<_, Error>(sure.to_string())
    })
}

/// Calls the tool that asks twice in three rounds; gives the states on the way.
async fn book(peer: &Peer) -> [String; 2] {
    let (_, first) = peer.round("book", json!({}), json!({}), None).await.asks();
    let answers = json!({ "q1": yes() });
    let (_, second) = peer.round("book", json!({}), answers, Some(&first)).await.asks();
    let done = peer.round("book", json!({}), json!({ "q2": yes() }), Some(&second)).await;
    assert_eq!(done.text(), "true");
    [first, second]
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn a_call_that_asks_counts_once_whatever_the_era() {
    let limit = || RateLimit::per_minute(3);
    let by_tool = Server::new("hotel", "1").tool(asks_twice().layer(limit()));
    let by_server = Server::new("hotel", "1").tool(asks_twice()).layer(limit());
    for server in [by_tool, by_server] {
        let legacy = Peer::with_forms(&server, Revision::LATEST_LEGACY);
        for _ in 0..6 {
            legacy.inbox.answer(Ok(yes()));
        }
        for _ in 0..3 {
            assert_eq!(legacy.text("book", json!({})).await, "true");
        }
        assert!(legacy.failure("book", json!({})).await.contains("more than 3 times"));
        let modern = Peer::with_forms(&server, Revision::LATEST);
        for _ in 0..3 {
            book(&modern).await;
        }
        let refused = modern.round("book", json!({}), json!({}), None).await;
        assert!(refused.text().contains("more than 3 times"));
    }
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn state_that_was_made_up_or_used_before_counts_as_a_call() {
    let server = Server::new("hotel", "1").tool(asks_twice()).layer(RateLimit::per_minute(4));
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let [first, _] = book(&peer).await;
    let answers = || json!({ "q1": yes() });
    // The state of a round that was played already runs the handler again.
    peer.round("book", json!({}), answers(), Some(&first)).await.asks();
    for made_up in ["x", ""] {
        let error = peer.round("book", json!({}), answers(), Some(made_up)).await.error();
        assert_eq!(error.code, -32602);
    }
    for state in [Some(first.as_str()), Some("x"), None] {
        let refused = peer.round("book", json!({}), answers(), state).await;
        assert!(refused.text().contains("more than 4 times"));
    }
    // Another call does not get by with the state of this one.
    let other = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = other.round("book", json!({}), json!({}), None).await.asks();
    for _ in 0..3 {
        other.round("book", json!({ "x": 1 }), answers(), Some(&state)).await;
    }
    let refused = other.round("book", json!({ "x": 1 }), answers(), Some(&state)).await;
    assert!(refused.text().contains("more than 4 times"));
    // What this server sealed for this call is let through even now, once.
    let (_, state) = other.round("book", json!({}), answers(), Some(&state)).await.asks();
    let done = other.round("book", json!({}), json!({ "q2": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "true");
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn a_prompt_or_a_resource_that_asks_counts_once() {
    let prompt = Prompt::new("greet", async |ask: Ask, Args(name): Args<Name>| {
        let sure = ask.confirm("Sure?").await? && ask.confirm("Really?").await?;
        Ok::<_, Error>(format!("{} {sure}", name.name))
    });
    let resource = Resource::template("user://{name}", async |ask: Ask| {
        let sure = ask.confirm("Sure?").await? && ask.confirm("Really?").await?;
        Ok::<_, Error>(sure.to_string())
    });
    let server = Server::new("asks", "1")
        .prompt(prompt)
        .resource(resource.name("user"))
        .layer(RateLimit::per_minute(2));
    let calls = [
        (Method::PromptsGet, json!({ "name": "greet", "arguments": { "name": "Ann" } })),
        (Method::ResourcesRead, json!({ "uri": "user://ann" })),
    ];
    for (method, params) in calls {
        let peer = Peer::with_forms(&server, Revision::LATEST);
        for _ in 0..2 {
            let (_, state) = peer.round_of(method, &params, json!({}), None).await.asks();
            let answers = json!({ "q1": yes() });
            let (_, state) = peer.round_of(method, &params, answers, Some(&state)).await.asks();
            let answers = json!({ "q2": yes() });
            peer.round_of(method, &params, answers, Some(&state)).await.done();
        }
        assert_eq!(peer.round_of(method, &params, json!({}), None).await.error().code, 429);
    }
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn what_the_server_asks_itself_on_behalf_of_a_session_does_not_count() {
    let server = Server::new("rates", "1")
        .tool(Tool::new("it", async || "done"))
        .layer(RateLimit::per_minute(2));
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    assert_eq!(wire.ask(call(2, "it")).await["result"]["content"][0]["text"], "done");
    let refused = wire.ask(call(3, "it")).await;
    assert_eq!(refused["result"]["isError"], true);
    // The session hears of changes all the same.
    server.registry().insert(Tool::new("more", async || "done")).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/tools/list_changed");
}
