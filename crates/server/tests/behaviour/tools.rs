//! Listing and calling tools.

use bowline_server::{Args, Context, Server, Tool};
use bowline_types::implementation::Icon;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer, waiting_tool};

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first
    a: i64,
    b: i64,
}

async fn add(Args(Add { a, b }): Args<Add>) -> i64 {
    a + b
}

fn server() -> Server {
    Server::new("calculator", "1.0.0")
        .tool(Tool::new("add", add).describe("Add two numbers").read_only().closed_world())
        .tool(Tool::new("name", |context: Context| async move { context.name().to_owned() }))
}

// spec: TOOL-8, TOOL-13, TOOL-15
#[tokio::test]
async fn tools_are_listed_with_what_they_say_of_themselves() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let expected = json!({ "tools": [
        {
            "name": "add",
            "description": "Add two numbers",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": { "type": "integer", "description": "The first" },
                    "b": { "type": "integer" },
                },
                "required": ["a", "b"],
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        },
        { "name": "name", "inputSchema": { "type": "object", "additionalProperties": false } },
    ]});
    assert_eq!(list, expected);
}

#[tokio::test]
async fn a_tool_is_described_in_full() {
    let tool = Tool::new("wipe", || async {})
        .title("Wipe the disk")
        .icon(Icon::new("https://example.com/wipe.png"))
        .destructive()
        .idempotent()
        .meta("example.com/risk", "high");
    let peer = Peer::new(&Server::new("disk", "1").tool(tool), Revision::LATEST);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let tool = &list["tools"][0];
    assert_eq!(tool["title"], "Wipe the disk");
    assert_eq!(tool["icons"][0]["src"], "https://example.com/wipe.png");
    assert_eq!(tool["annotations"], json!({ "destructiveHint": true, "idempotentHint": true }));
    assert_eq!(tool["_meta"], json!({ "example.com/risk": "high" }));
}

#[test]
fn a_tool_that_only_adds_says_so() {
    let tool = Tool::new("append", || async {}).additive();
    assert!(!tool.definition().hints().is_destructive());
}

#[tokio::test]
async fn a_list_fits_the_revision_of_the_caller() {
    let server = Server::new("disk", "1").tool(Tool::new("wipe", || async {}).title("Wipe"));
    let list = async |revision| {
        Peer::new(&server, revision).ask(Method::ToolsList, json!({})).await.unwrap()
    };
    assert_eq!(list(Revision::V2025_06_18).await["tools"][0]["title"], "Wipe");
    assert_eq!(list(Revision::V2024_11_05).await["tools"][0]["title"], Value::Null);
}

// spec: TOOL-12, PAGE-1, PAGE-10
#[tokio::test]
async fn a_long_list_comes_in_pages_in_the_order_of_registration() {
    let names = ["e", "d", "c", "b", "a"];
    let tools = names.map(|name| Tool::new(name, || async {}));
    let server = Server::new("letters", "1").tools(tools).page_size(2);
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        let (mut seen, mut params) = (Vec::new(), json!({}));
        loop {
            let page = peer.ask(Method::ToolsList, params).await.unwrap();
            let tools = page["tools"].as_array().unwrap();
            assert!(tools.len() <= 2);
            seen.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            let Some(cursor) = page.get("nextCursor") else { break };
            params = json!({ "cursor": cursor });
        }
        assert_eq!(seen, names, "{revision}");
    }
}

// spec: PAGE-3, PAGE-9
#[tokio::test]
async fn a_bad_cursor_is_refused() {
    let peer = Peer::new(&server(), Revision::LATEST);
    for cursor in [json!("nope"), json!(""), json!(7)] {
        let error = peer.ask(Method::ToolsList, json!({ "cursor": cursor })).await.unwrap_err();
        assert_eq!(error.code, -32602);
        assert!(error.message.contains("cursor`"), "{error}");
    }
}

#[tokio::test]
async fn a_tool_is_called_by_its_name() {
    for revision in EVERY {
        let peer = Peer::new(&server(), revision);
        assert_eq!(peer.text("add", json!({ "a": 1, "b": 2 })).await, "3", "{revision}");
        assert_eq!(peer.text("name", json!({})).await, "name", "{revision}");
    }
}

// spec: TOOL-20, TOOL-33
#[tokio::test]
async fn a_tool_that_does_not_exist_is_an_error_of_the_request() {
    for revision in EVERY {
        let peer = Peer::new(&server(), revision);
        let error = peer.call("nope", json!({})).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, "no tool is named `nope`"));
        assert_eq!(peer.call("Add", json!({})).await.unwrap_err().code, -32602);
    }
}

// spec: TOOL-34
#[tokio::test]
async fn a_call_without_a_name_is_an_error_of_the_request() {
    let peer = Peer::new(&server(), Revision::LATEST);
    for params in [json!({}), json!({ "name": null }), json!({ "name": 7 })] {
        let error = peer.ask(Method::ToolsCall, params).await.unwrap_err();
        assert_eq!(error.code, -32602);
        assert!(error.message.starts_with("`params.name`: "), "{error}");
    }
}

// spec: TOOL-1
#[tokio::test]
async fn a_server_without_tools_offers_none() {
    let server = Server::new("empty", "1");
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for method in [Method::ToolsList, Method::ToolsCall, Method::SubscriptionsListen] {
            let error = peer.ask(method, json!({ "name": "a" })).await.unwrap_err();
            assert_eq!(error.code, -32601);
            assert!(error.message.contains(method.name()), "{error}");
        }
        let discovered = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
        assert_eq!(discovered["capabilities"], json!({}));
    }
}

// spec: TOOL-9
#[tokio::test]
async fn a_server_may_offer_tools_before_it_has_any() {
    let peer = Peer::new(&Server::new("later", "1").tools([]), Revision::LATEST);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list, json!({ "tools": [] }));
    let discovered = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
    assert_eq!(discovered["capabilities"]["tools"], json!({ "listChanged": true }));
}

// spec: DISC-1, DISC-3
#[tokio::test]
async fn a_server_tells_what_it_speaks_and_can_do() {
    let server = server().instructions("Add, do not guess");
    let peer = Peer::new(&server, Revision::LATEST);
    let discovered = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
    assert_eq!(discovered["instructions"], "Add, do not guess");
    assert_eq!(discovered["supportedVersions"][0], "2026-07-28");
    assert_eq!(discovered["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(discovered["capabilities"], json!({ "tools": { "listChanged": true } }));
}

// spec: DISC-3
#[tokio::test]
async fn a_server_that_is_choosy_tells_only_what_it_speaks() {
    let server = server().revisions([Revision::V2025_06_18, Revision::V2026_07_28]);
    let peer = Peer::new(&server, Revision::LATEST);
    let discovered = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28", "2025-06-18"]));
    assert_eq!(server.config().revisions().len(), 2);
}

#[tokio::test]
async fn what_is_not_built_is_not_offered() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let error = peer.ask(Method::PromptsList, json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601);
}

// spec: TOOL-34
#[tokio::test]
async fn a_tool_that_panics_fails_only_its_own_call() {
    let boom = |Args(Add { a, b }): Args<Add>| async move {
        tokio::task::yield_now().await;
        assert_ne!(b, 0, "the secret is 42");
        a / b
    };
    let server = Server::new("divider", "1").tool(Tool::new("divide", boom));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let calls = (0..100).map(|b| peer.call("divide", json!({ "a": 100, "b": b })));
        let results = futures_util::future::join_all(calls).await;
        let failed: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(
            (failed[0].code, failed[0].message.as_str()),
            (-32603, "the tool `divide` panicked")
        );
    }
}

// spec: CANC-5, CANC-6
#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    let (wait, dropped) = waiting_tool();
    let peer = Peer::new(&Server::new("slow", "1").tool(wait), Revision::LATEST);
    let mut answer = peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "wait" })));
    assert!(futures_util::poll!(&mut answer).is_pending());
    drop(answer);
    assert!(dropped.await.is_err());
}
