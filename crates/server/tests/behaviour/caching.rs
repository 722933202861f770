//! Caching hints of results: how long, and whether callers may share them (2026-07-28).

use std::time::Duration;

use bowline_server::{Args, Context, ListKind, Prompt, Resource, Server, State, Tool};
use bowline_types::cache::CacheHint;
use serde_json::{Value, json};

use crate::wire::{Wire, modern};

const MINUTE: Duration = Duration::from_secs(60);

/// The time and the scope of the answer to a request.
async fn hint(wire: &mut Wire, method: &str, params: Value) -> (u64, String) {
    let answer = wire.ask(modern(1, method, params)).await;
    let result = &answer["result"];
    let scope = result["cacheScope"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (result["ttlMs"].as_u64().unwrap(), scope.to_owned())
}

async fn list_hints(server: &Server) -> Vec<(u64, String)> {
    let mut wire = Wire::to(server);
    let mut hints = Vec::new();
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        hints.push(hint(&mut wire, method, json!({})).await);
    }
    hints
}

async fn read_hint(server: &Server) -> (u64, String) {
    hint(&mut Wire::to(server), "resources/read", json!({ "uri": "a://b" })).await
}

fn public(ttl: u64) -> (u64, String) {
    (ttl, "public".to_owned())
}

fn private(ttl: u64) -> (u64, String) {
    (ttl, "private".to_owned())
}

fn server() -> Server {
    Server::new("cached", "1")
        .tool(Tool::new("a", || async {}))
        .prompt(Prompt::new("a", || async { "a" }))
        .resource(Resource::new("a://b", || async { "b" }))
        .resource(Resource::template("a://{x}/y", |x: String| async { x }))
}

// spec: CACHE-1, CACHE-3, CACHE-4
#[tokio::test]
async fn every_list_says_how_long_it_is_good_for() {
    assert_eq!(list_hints(&server()).await, vec![public(0); 4]);
    assert_eq!(list_hints(&server().ttl(MINUTE)).await, vec![public(60_000); 4]);
    assert_eq!(list_hints(&server().ttl(MINUTE).private()).await, vec![private(60_000); 4]);
}

// spec: CACHE-16
#[tokio::test]
async fn one_list_may_say_something_else() {
    let server = server()
        .ttl(MINUTE)
        .cache(ListKind::Resources, CacheHint::private(Duration::from_secs(1)))
        .cache(ListKind::Tools, CacheHint::public(Duration::from_secs(3)))
        .cache(ListKind::Tools, CacheHint::public(Duration::from_secs(2)));
    let expected = [public(2000), public(60_000), private(1000), public(60_000)];
    assert_eq!(list_hints(&server).await, expected);
}

// spec: CACHE-22, CACHE-23, CACHE-26
#[tokio::test]
async fn a_list_that_some_see_less_of_is_private_on_all_pages() {
    let tool = |name: &str| Tool::new(name, || async {});
    let limited = server()
        .page_size(1)
        .tool(tool("b"))
        .tool(tool("c").visible(|caller| caller.owner.identity().is_some()))
        .cache(ListKind::Tools, CacheHint::public(MINUTE));
    let mut wire = Wire::to(&limited);
    let first = wire.ask(modern(1, "tools/list", json!({}))).await;
    assert_eq!(first["result"]["cacheScope"], "private");
    let cursor = json!({ "cursor": first["result"]["nextCursor"] });
    assert_eq!(hint(&mut wire, "tools/list", cursor).await, private(60_000));
    assert_eq!(hint(&mut wire, "prompts/list", json!({})).await, public(0));
    let judged = server().ttl(MINUTE).visible(|_, _| true);
    assert_eq!(list_hints(&judged).await, vec![private(60_000); 4]);
}

// spec: CACHE-1, CACHE-26
#[tokio::test]
async fn contents_say_how_long_they_are_good_for() {
    let one = |resource| Server::new("cached", "1").resource(resource);
    let plain = || Resource::new("a://b", || async { "b" });
    assert_eq!(read_hint(&one(plain())).await, public(0));
    assert_eq!(read_hint(&one(plain().ttl(MINUTE))).await, public(60_000));
    assert_eq!(read_hint(&one(plain().ttl(MINUTE).private())).await, private(60_000));
    assert_eq!(read_hint(&one(plain()).private()).await, private(0));
    assert_eq!(read_hint(&one(plain().visible(|_| true))).await, private(0));
    assert_eq!(read_hint(&one(plain()).visible(|_, _| true)).await, private(0));
}

// spec: CACHE-23, CACHE-26
#[tokio::test]
async fn contents_that_may_depend_on_the_caller_are_private() {
    let read = |resource: Resource| async move {
        read_hint(&Server::new("cached", "1").resource(resource).state(7_u8)).await.1
    };
    let state = |State(number): State<u8>| async move { number.to_string() };
    assert_eq!(read(Resource::new("a://b", state)).await, "public");
    let words = |Args(words): Args<std::collections::BTreeMap<String, String>>| async move {
        format!("{words:?}")
    };
    assert_eq!(read(Resource::template("a://{x}", words)).await, "public");
    let place = |x: String| async move { x };
    assert_eq!(read(Resource::template("a://{x}", place)).await, "public");
    let context = |context: Context| async move { context.name().to_owned() };
    assert_eq!(read(Resource::new("a://b", context)).await, "private");
    assert_eq!(read(Resource::template("a://{x}", context)).await, "private");
}

// spec: CACHE-2
#[tokio::test]
async fn questions_say_nothing_of_it() {
    let ask = |ask: bowline_server::Ask| async move {
        ask.confirm("Sure?").await.map(|sure| sure.to_string())
    };
    let mut wire = Wire::to(&Server::new("asking", "1").resource(Resource::new("a://b", ask)));
    let answer = wire.ask(modern(1, "resources/read", json!({ "uri": "a://b" }))).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    let hints = (answer["result"].get("ttlMs"), answer["result"].get("cacheScope"));
    assert_eq!(hints, (None, None));
}
