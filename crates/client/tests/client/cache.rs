//! Results that are cached as long as their server allows.

use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{CacheOptions, Client, ClientBuilder};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::peer::{Peer, Request, builder, legacy_with, modern_with};

const SECOND: Duration = Duration::from_secs(1);

fn keeping() -> ClientBuilder {
    builder().cache(CacheOptions::default())
}

/// A client with a cache, and a server with all capabilities.
async fn kept() -> (Client, Peer) {
    let resources = json!({ "listChanged": true, "subscribe": true });
    let all = json!({ "tools": { "listChanged": true }, "resources": resources });
    modern_with(keeping(), &all).await
}

/// A page of tools with a time to live of a minute.
fn page(names: &[&str], cursor: Option<&str>) -> Value {
    let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = names.iter().map(tool).collect();
    let mut page = json!({
        "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private", "tools": tools,
    });
    if let Some(cursor) = cursor {
        page["nextCursor"] = cursor.into();
    }
    page
}

async fn serve(peer: &mut Peer, cursor: Option<&str>, page: &Value) -> Request {
    let request = peer.request("tools/list").await;
    assert_eq!(request.params.get("cursor"), cursor.map(Value::from).as_ref(), "{request:?}");
    peer.answer(&request, &page.to_string()).await;
    request
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.tools().all().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

/// Lists the tools; the server answers one request.
async fn asked(client: &Client, peer: &mut Peer, page: Value) -> Vec<String> {
    tokio::join!(names(client), serve(peer, None, &page)).0
}

// spec: CACHE-8, CACHE-10, CACHE-14
#[tokio::test(start_paused = true)]
async fn a_cached_list_is_fetched_again_after_its_time() {
    let (client, mut peer) = kept().await;
    assert_eq!(asked(&client, &mut peer, page(&["a"], None)).await, ["a"]);
    sleep(59 * SECOND).await;
    assert_eq!(names(&client).await, ["a"]);
    peer.gets_nothing().await;
    sleep(SECOND).await;
    assert_eq!(asked(&client, &mut peer, page(&["b"], None)).await, ["b"]);
}

// spec: CACHE-11
#[tokio::test(start_paused = true)]
async fn nothing_is_prefetched() {
    let (client, mut peer) = kept().await;
    asked(&client, &mut peer, page(&["a"], None)).await;
    sleep(3600 * SECOND).await;
    peer.gets_nothing().await;
}

// spec: CACHE-7, CACHE-9
#[tokio::test(start_paused = true)]
async fn a_list_without_a_time_to_live_is_fetched_every_time() {
    let (client, mut peer) = kept().await;
    for ttl in [json!(0), json!(-1), json!(null), json!("60000")] {
        let mut page = page(&["a"], None);
        page["ttlMs"] = ttl;
        asked(&client, &mut peer, page).await;
    }
    asked(&client, &mut peer, json!({ "tools": [] })).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_cached_by_default() {
    let (client, mut peer) = modern_with(builder(), &json!({ "tools": {} })).await;
    for _ in 0..2 {
        asked(&client, &mut peer, page(&["a"], None)).await;
    }
}

// spec: CACHE-9
#[tokio::test(start_paused = true)]
async fn sessions_have_no_time_to_live_so_nothing_is_cached() {
    let tools = json!({ "tools": {} });
    let (client, mut peer) = legacy_with(keeping(), Revision::LATEST_LEGACY, &tools).await;
    for _ in 0..2 {
        asked(&client, &mut peer, page(&["a"], None)).await;
    }
}

// spec: CACHE-15
#[tokio::test(start_paused = true)]
async fn connections_do_not_share_their_caches() {
    let (first, mut one) = kept().await;
    let (second, mut two) = kept().await;
    assert_eq!(asked(&first, &mut one, page(&["a"], None)).await, ["a"]);
    assert_eq!(asked(&second, &mut two, page(&["b"], None)).await, ["b"]);
    assert_eq!(names(&first.clone()).await, ["a"], "clones are the same connection");
}

/// Subscribes, and returns the subscription's id on the wire.
async fn listen(client: &Client, peer: &mut Peer) -> (bowline_client::Changes, i64) {
    let serve = async {
        let request = peer.request("subscriptions/listen").await;
        let filter = request.params["notifications"].clone();
        tell(peer, request.id, "subscriptions/acknowledged", json!({ "notifications": filter }))
            .await;
        request.id
    };
    let open = client.subscribe().tools().resources().resource("a:/1").open();
    let (changes, id) = tokio::join!(open, serve);
    (changes.unwrap(), id)
}

async fn tell(peer: &mut Peer, subscription: i64, method: &str, mut params: Value) {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": subscription });
    peer.notify(&format!("notifications/{method}"), &params).await;
}

// spec: CACHE-17
#[tokio::test(start_paused = true)]
async fn a_change_makes_the_list_stale_at_once() {
    let (client, mut peer) = kept().await;
    let (mut changes, id) = listen(&client, &mut peer).await;
    asked(&client, &mut peer, page(&["a"], None)).await;
    tell(&mut peer, id, "resources/list_changed", json!({})).await;
    changes.next().await.unwrap().unwrap();
    assert_eq!(names(&client).await, ["a"]);
    tell(&mut peer, id, "tools/list_changed", json!({})).await;
    changes.next().await.unwrap().unwrap();
    assert_eq!(asked(&client, &mut peer, page(&["b"], None)).await, ["b"]);
}

// spec: CACHE-17
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_older_than_a_change_is_not_cached() {
    let (client, mut peer) = kept().await;
    let (_changes, id) = listen(&client, &mut peer).await;
    let serving = async {
        let request = peer.request("tools/list").await;
        tell(&mut peer, id, "tools/list_changed", json!({})).await;
        peer.answer(&request, &page(&["old"], None).to_string()).await;
    };
    assert_eq!(tokio::join!(names(&client), serving).0, ["old"]);
    assert_eq!(asked(&client, &mut peer, page(&["new"], None)).await, ["new"]);
}

// spec: CACHE-5, CACHE-17
#[tokio::test(start_paused = true)]
async fn a_resource_is_cached_until_it_changes() {
    let (client, mut peer) = kept().await;
    let (mut changes, id) = listen(&client, &mut peer).await;
    let contents = |text: &str| {
        let contents = json!([{ "uri": "a:/1", "text": text }]);
        json!({ "resultType": "complete", "ttlMs": 60_000, "contents": contents }).to_string()
    };
    let serving = async {
        for (uri, text) in [("a:/1", "one"), ("a:/2", "two"), ("a:/1", "three"), ("a:/1", "four")] {
            let request = peer.request("resources/read").await;
            assert_eq!(request.params["uri"], uri);
            peer.answer(&request, &contents(text)).await;
            if text == "two" {
                tell(&mut peer, id, "resources/updated", json!({ "uri": "a:/1" })).await;
            }
        }
    };
    let reading = async {
        for (uri, text) in [("a:/1", "one"), ("a:/1", "one"), ("a:/2", "two")] {
            assert_eq!(client.read(uri).await.unwrap().text(), text);
        }
        changes.next().await.unwrap().unwrap();
        for (uri, text) in [("a:/1", "three"), ("a:/2", "two"), ("a:/1", "three")] {
            assert_eq!(client.read(uri).await.unwrap().text(), text);
        }
        assert_eq!(client.read("a:/1").fresh().await.unwrap().text(), "four");
        assert_eq!(client.read("a:/1").await.unwrap().text(), "four");
    };
    tokio::join!(reading, serving);
    peer.gets_nothing().await;
}

// spec: CACHE-6
#[tokio::test(start_paused = true)]
async fn a_result_that_depends_on_answers_of_the_user_is_not_cached() {
    let builder = keeping().on_ask(|question| async move { question.accept(()) });
    let (client, mut peer) = modern_with(builder, &json!({ "resources": {} })).await;
    let form = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "?", "requestedSchema": form });
    let question = json!({ "method": "elicitation/create", "params": params });
    let required = json!({ "resultType": "input_required", "inputRequests": { "q": question } });
    for _ in 0..2 {
        let serve = async {
            let request = peer.request("resources/read").await;
            peer.answer(&request, &required.to_string()).await;
            let request = peer.request("resources/read").await;
            let result = json!({ "resultType": "complete", "ttlMs": 60_000, "contents": [] });
            peer.answer(&request, &result.to_string()).await;
        };
        let (outcome, ()) = tokio::join!(client.read("a:/1").into_future(), serve);
        outcome.unwrap();
    }
}

// spec: CACHE-19
#[tokio::test(start_paused = true)]
async fn a_stale_page_is_fetched_again_with_its_cursor() {
    let (client, mut peer) = kept().await;
    let mut last = page(&["b"], None);
    last["ttlMs"] = json!(1000);
    let serving = async {
        serve(&mut peer, None, &page(&["a"], Some("2"))).await;
        serve(&mut peer, Some("2"), &last).await;
    };
    assert_eq!(tokio::join!(names(&client), serving).0, ["a", "b"]);
    sleep(2 * SECOND).await;
    let last = page(&["c"], None);
    let serving = serve(&mut peer, Some("2"), &last);
    assert_eq!(tokio::join!(names(&client), serving).0, ["a", "c"]);
}

// spec: CACHE-20
#[tokio::test(start_paused = true)]
async fn a_fresh_list_fetches_every_page() {
    let (client, mut peer) = kept().await;
    for _ in 0..2 {
        let serving = async {
            serve(&mut peer, None, &page(&["a"], Some("2"))).await;
            serve(&mut peer, Some("2"), &page(&["b"], None)).await;
        };
        let (tools, ()) = tokio::join!(client.tools().fresh().all(), serving);
        assert_eq!(tools.unwrap().len(), 2);
    }
    assert_eq!(names(&client).await, ["a", "b"]);
    peer.gets_nothing().await;
}

// spec: CACHE-21
#[tokio::test(start_paused = true)]
async fn a_refused_cursor_from_the_cache_begins_the_list_again() {
    let (client, mut peer) = kept().await;
    let mut last = page(&["b"], None);
    last["ttlMs"] = json!(0);
    let serving = async {
        serve(&mut peer, None, &page(&["a"], Some("2"))).await;
        serve(&mut peer, Some("2"), &last).await;
    };
    assert_eq!(tokio::join!(names(&client), serving).0, ["a", "b"]);
    let serving = async {
        let request = peer.request("tools/list").await;
        assert_eq!(request.params["cursor"], "2", "the first page is kept");
        peer.refuse(&request, -32602, "no such cursor").await;
        serve(&mut peer, None, &page(&["c"], Some("x"))).await;
        serve(&mut peer, Some("x"), &page(&["d"], None)).await;
    };
    assert_eq!(tokio::join!(names(&client), serving).0, ["c", "d"]);
}

// spec: CACHE-21
#[tokio::test(start_paused = true)]
async fn a_list_that_was_read_in_part_is_not_begun_again() {
    let (client, mut peer) = kept().await;
    asked(&client, &mut peer, page(&["a"], None)).await;
    sleep(60 * SECOND).await;
    asked(&client, &mut peer, page(&["a"], None)).await;
    let mut tools = client.tools();
    tools.next().await.unwrap().unwrap();
    assert_eq!(tools.all().await.unwrap().len(), 0);

    let first = page(&["a"], Some("2"));
    let fresh = client.tools().fresh();
    let serving = async {
        serve(&mut peer, None, &first).await;
        for _ in 0..2 {
            let request = peer.request("tools/list").await;
            assert_eq!(request.params["cursor"], "2");
            peer.refuse(&request, -32602, "no such cursor").await;
            // After the refusal all pages are dropped, so the first one is cached a second time.
            serve(&mut peer, None, &first).await;
        }
    };
    let reading = async {
        assert!(fresh.all().await.unwrap_err().is_refused(), "no page was kept");
        let mut tools = client.tools();
        tools.next().await.unwrap().unwrap();
        assert!(tools.all().await.unwrap_err().is_refused(), "an item is in the caller's hands");
        client.tools().next().await.unwrap().unwrap();
    };
    tokio::join!(reading, serving);
}
