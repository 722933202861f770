//! Paged lists.

use bowline_client::Client;
use futures_util::{StreamExt, TryStreamExt, poll};
use serde_json::{Value, json};

use crate::peer::{Peer, both, builder, modern};

fn page(names: &[&str], cursor: Option<&str>) -> String {
    let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = names.iter().map(tool).collect();
    let mut page = json!({ "resultType": "complete", "tools": tools });
    if let Some(cursor) = cursor {
        page["nextCursor"] = cursor.into();
    }
    page.to_string()
}

/// Answers a request for the page at this cursor.
async fn serve(peer: &mut Peer, cursor: Option<&str>, page: &str) {
    let request = peer.request("tools/list").await;
    assert_eq!(request.params.get("cursor"), cursor.map(Value::from).as_ref(), "{request:?}");
    peer.answer(&request, page).await;
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.tools().all().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

// spec: PAGE-1, PAGE-4, PAGE-6
#[tokio::test(start_paused = true)]
async fn pages_of_any_size_are_one_list() {
    for (client, mut peer) in both(builder()).await {
        let serving = async {
            serve(&mut peer, None, &page(&["a", "b", "c"], Some("p&=2"))).await;
            serve(&mut peer, Some("p&=2"), &page(&["d"], Some("é\"\\n"))).await;
            serve(&mut peer, Some("é\"\\n"), &page(&[], Some("4"))).await;
            serve(&mut peer, Some("4"), &page(&["e"], None)).await;
        };
        let (names, ()) = tokio::join!(names(&client), serving);
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
        peer.gets_nothing().await;
    }
}

// spec: PAGE-7
#[tokio::test(start_paused = true)]
async fn a_new_connection_knows_no_cursors_of_the_old() {
    let builder = builder();
    for _ in 0..2 {
        for (client, mut peer) in both(builder.clone()).await {
            let mut tools = client.tools();
            let first = page(&["a"], Some("2"));
            let first = serve(&mut peer, None, &first);
            let (tool, ()) = tokio::join!(tools.try_next(), first);
            assert_eq!(tool.unwrap().unwrap().name, "a");
        }
    }
}

// spec: PAGE-8
#[tokio::test(start_paused = true)]
async fn an_empty_cursor_is_not_the_end() {
    for (client, mut peer) in both(builder()).await {
        let serving = async {
            serve(&mut peer, None, &page(&["a"], Some(""))).await;
            serve(&mut peer, Some(""), &page(&["b"], None)).await;
        };
        let (names, ()) = tokio::join!(names(&client), serving);
        assert_eq!(names, ["a", "b"]);
    }
}

// spec: PAGE-5
#[tokio::test(start_paused = true)]
async fn a_server_without_pages_is_a_list_of_one_page() {
    for (client, mut peer) in both(builder()).await {
        let only = page(&["a"], None);
        let (names, ()) = tokio::join!(names(&client), serve(&mut peer, None, &only));
        assert_eq!(names, ["a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_is_fetched_only_when_the_one_before_is_used_up() {
    let (client, mut peer) = modern(builder()).await;
    let mut tools = client.tools();
    peer.gets_nothing().await;
    let first = page(&["a", "b"], Some("2"));
    let (tool, ()) = tokio::join!(StreamExt::next(&mut tools), serve(&mut peer, None, &first));
    assert_eq!(tool.unwrap().unwrap().name, "a");
    assert_eq!(tools.next().await.unwrap().unwrap().name, "b");
    peer.gets_nothing().await;
    let last = page(&["c"], None);
    let (rest, ()) =
        tokio::join!(tools.try_collect::<Vec<_>>(), serve(&mut peer, Some("2"), &last));
    assert_eq!(rest.unwrap()[0].name, "c");
}

// spec: CANC-14
#[tokio::test(start_paused = true)]
async fn dropping_a_list_cancels_the_page_that_is_being_fetched() {
    let (client, mut peer) = modern(builder()).await;
    let mut tools = client.tools();
    assert!(poll!(StreamExt::next(&mut tools)).is_pending());
    let request = peer.request("tools/list").await;
    peer.gets_nothing().await;
    drop(tools);
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);
}

#[tokio::test(start_paused = true)]
async fn cursors_that_repeat_end_the_list_with_an_error() {
    let (client, mut peer) = modern(builder()).await;
    let serving = async {
        serve(&mut peer, None, &page(&["a"], Some("x"))).await;
        serve(&mut peer, Some("x"), &page(&["b"], Some("x"))).await;
    };
    let mut tools = client.tools();
    let read = async {
        let mut read = Vec::new();
        while let Some(tool) = tools.next().await {
            read.push(tool);
        }
        read
    };
    let (read, ()) = tokio::join!(read, serving);
    let [Ok(a), Ok(b), Err(error)] = &read[..] else { panic!("{read:?}") };
    assert_eq!((a.name.as_str(), b.name.as_str()), ("a", "b"));
    assert!(error.is_invalid_answer());
    let expected = "calling `tools/list`: its pages repeat: \
                    the server sent the cursor \"x\" again";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_cannot_be_fetched_ends_the_list() {
    for (client, mut peer) in both(builder()).await {
        let serving = async {
            serve(&mut peer, None, &page(&["a"], Some("2"))).await;
            let request = peer.request("tools/list").await;
            peer.refuse(&request, -32602, "bad cursor").await;
        };
        let mut tools = client.tools();
        let read = async {
            assert_eq!(tools.next().await.unwrap().unwrap().name, "a");
            assert_eq!(tools.next().await.unwrap().unwrap_err().rpc().unwrap().code, -32602);
            assert!(tools.next().await.is_none());
        };
        tokio::join!(read, serving);
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_for_an_invalid_page_names_the_place() {
    let (client, mut peer) = modern(builder()).await;
    let serving = serve(&mut peer, None, r#"{"tools":[{"name":"a"}]}"#);
    let (outcome, ()) = tokio::join!(client.tools().all(), serving);
    let error = outcome.unwrap_err();
    assert!(error.is_invalid_answer());
    assert!(error.to_string().contains("`result.tools[0].inputSchema`: missing"), "{error}");
}

// spec: MRTR-3
#[tokio::test(start_paused = true)]
async fn a_list_that_requires_input_is_invalid() {
    let (client, mut peer) = modern(builder()).await;
    let serving = serve(&mut peer, None, r#"{"resultType":"input_required","requestState":"s"}"#);
    let (outcome, ()) = tokio::join!(client.tools().all(), serving);
    let expected = "calling `tools/list`: the server's answer is invalid: \
                    `tools/list` cannot require input";
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

// spec: XMH-13
#[tokio::test(start_paused = true)]
async fn header_marks_are_ignored_on_other_transports() {
    let (client, mut peer) = modern(builder()).await;
    let mark = json!({ "type": "number", "x-mcp-header": "no token" });
    let schema = json!({ "type": "object", "properties": { "a": mark } });
    let page = json!({ "tools": [{ "name": "marked", "inputSchema": schema }] });
    let page = page.to_string();
    let (names, ()) = tokio::join!(names(&client), serve(&mut peer, None, &page));
    assert_eq!(names, ["marked"]);
}
