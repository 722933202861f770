//! Several servers as one group: qualified names do not collide, and members stay separate.

use bowline_client::{Client, Group};
use serde_json::{Value, json};

use crate::peer::{Peer, both, builder, initialized, pair};

/// Answers a list with a page, whatever the era.
async fn page(peer: &mut Peer, method: &str, mut result: Value) -> Value {
    let request = peer.request(method).await;
    result["resultType"] = "complete".into();
    result["ttlMs"] = 0.into();
    result["cacheScope"] = "public".into();
    peer.answer(&request, &result.to_string()).await;
    request.params["cursor"].clone()
}

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    json!({ "tools": names.iter().map(tool).collect::<Vec<_>>() })
}

/// A client of a server that offers everything.
async fn rich() -> (Client, Peer) {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        let handshake = peer.request("initialize").await;
        let all = r#""capabilities":{"prompts":{},"resources":{},"#;
        let result = initialized("2025-11-25").replace(r#""capabilities":{"#, all);
        peer.answer(&handshake, &result).await;
        peer.notification("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    (client.unwrap(), peer)
}

async fn group() -> (Group, Peer, Peer) {
    let [(modern, one), (legacy, two)] = both(builder()).await;
    // Both servers give themselves the name `scripted`.
    assert_eq!(modern.server_info().unwrap().name, legacy.server_info().unwrap().name);
    (Group::new().with("one", modern).unwrap().with("two", legacy).unwrap(), one, two)
}

// spec: TOOL-20, TOOL-24, TOOL-25
#[tokio::test(start_paused = true)]
async fn equal_names_of_two_servers_do_not_collide() {
    let (group, mut one, mut two) = group().await;
    let serve = async {
        page(&mut one, "tools/list", tools(&["search", "Search"])).await;
        page(&mut two, "tools/list", tools(&["search"])).await;
    };
    let (listing, ()) = tokio::join!(group.tools(), serve);
    let names: Vec<_> = listing.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["one__search", "one__Search", "two__search"]);
    assert!(listing.failures.is_empty());
}

// spec: TOOL-20, TOOL-24, TRUST-12
#[tokio::test(start_paused = true)]
async fn a_call_goes_to_the_member_of_its_name_only() {
    let (group, mut one, mut two) = group().await;
    let serve = async {
        let request = two.request("tools/call").await;
        assert_eq!(request.params["name"], "__one__search");
        assert_eq!(request.params["arguments"], json!({ "q": "secret" }));
        two.answer_text(&request, "two").await;
    };
    let call = group.call("two____one__search", json!({ "q": "secret" }));
    let (outcome, ()) = tokio::join!(call.into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "two");
    one.gets_nothing().await;
}

// spec: TOOL-24
#[tokio::test(start_paused = true)]
async fn a_name_without_a_member_is_an_error() {
    let (group, mut one, mut two) = group().await;
    for name in ["search", "three__search", "One__search", "scripted__search", "one_search", ""] {
        let error = group.call(name, ()).await.unwrap_err().to_string();
        let reason = "it was not sent: no member of the group has it; there are `one`, `two`";
        assert_eq!(error, format!("calling `{name}`: {reason}"));
    }
    assert!(group.prompt("search").argument("a", "b").await.is_err());
    assert!(group.read("three", "file:///x").await.is_err());
    one.gets_nothing().await;
    two.gets_nothing().await;
}

// spec: TRUST-12, PAGE-4, PAGE-5
#[tokio::test(start_paused = true)]
async fn lists_of_each_server_are_paged_separately() {
    let (group, mut one, mut two) = group().await;
    let serve = async {
        let mut first = tools(&["a"]);
        first["nextCursor"] = "secret".into();
        assert_eq!(page(&mut one, "tools/list", first).await, Value::Null);
        assert_eq!(page(&mut two, "tools/list", tools(&["c"])).await, Value::Null);
        assert_eq!(page(&mut one, "tools/list", tools(&["b"])).await, "secret");
    };
    let (listing, ()) = tokio::join!(group.tools(), serve);
    let names: Vec<_> = listing.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["one__a", "one__b", "two__c"]);
    two.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_does_not_take_the_others_with_it() {
    let (mut group, mut one, mut two) = group().await;
    let (silent, _peer) = rich().await;
    group.insert("silent", silent).unwrap();
    let serve = async {
        let request = one.request("tools/list").await;
        one.refuse(&request, -32603, "broken").await;
        page(&mut two, "tools/list", tools(&["search"])).await;
    };
    let (listing, ()) = tokio::join!(group.tools(), serve);
    assert_eq!(listing.items.len(), 1);
    let failures: Vec<_> =
        listing.failures.iter().map(|(member, error)| format!("{member}: {error}")).collect();
    assert_eq!(
        failures,
        [
            "one: calling `tools/list`: the server answered with an error: broken (-32603)",
            "silent: calling `tools/list`: no answer came within 60s",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn prompts_have_qualified_names_and_resources_know_their_member() {
    let (client, mut peer) = rich().await;
    let (mut group, _one, _two) = group().await;
    group.insert("docs", client).unwrap();
    let serve = async {
        page(&mut peer, "prompts/list", json!({ "prompts": [{ "name": "review" }] })).await;
        let prompt = peer.request("prompts/get").await;
        assert_eq!(prompt.params["name"], "review");
        peer.answer(&prompt, r#"{"messages":[]}"#).await;
        let listed = json!({ "resources": [{ "uri": "file:///a", "name": "a" }] });
        page(&mut peer, "resources/list", listed).await;
        let template = json!({ "uriTemplate": "file:///{x}", "name": "x" });
        let listed = json!({ "resourceTemplates": [template] });
        page(&mut peer, "resources/templates/list", listed).await;
        let read = peer.request("resources/read").await;
        assert_eq!(read.params["uri"], "file:///a");
        peer.answer(&read, r#"{"contents":[{"uri":"file:///a","text":"A"}]}"#).await;
    };
    let calls = async {
        // The other two members do not offer this, which is not a failure.
        let prompts = group.prompts().await;
        assert!(prompts.failures.is_empty());
        assert_eq!(prompts.items[0].name, "docs__review");
        group.prompt("docs__review").await.unwrap();
        let resources = group.resources().await;
        let found = &resources.items[0];
        assert_eq!((found.member.as_str(), found.item.uri.as_str()), ("docs", "file:///a"));
        assert_eq!(group.resource_templates().await.items[0].member, "docs");
        group.read(&found.member, &found.item.uri).await.unwrap().text()
    };
    let (text, ()) = tokio::join!(calls, serve);
    assert_eq!(text, "A");
}

// spec: TOOL-25
#[tokio::test(start_paused = true)]
async fn members_are_added_and_removed_by_name() {
    let (mut group, _one, _two) = group().await;
    let [(third, _peer), _] = both(builder()).await;
    let error = group.insert("one", third.clone()).unwrap_err();
    assert_eq!(error.to_string(), "group member `one`: another member has it");
    let error = group.insert("one__two", third.clone()).unwrap_err();
    let expected = "group member `one__two`: a `_` stands between two other characters";
    assert_eq!(error.to_string(), expected);
    assert!(group.remove("one").is_some());
    assert!(group.remove("one").is_none());
    group.insert("one", third).unwrap();
    let members: Vec<_> = group.iter().map(|(name, _)| name).collect();
    assert_eq!(members, ["two", "one"]);
    assert_eq!(group.find("two__a__b").map(|(_, name)| name), Some("a__b"));
}
