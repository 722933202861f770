//! Modern requests (2026-07-28): statuses, kinds of responses, ids.

use bowline_types::revision::Revision;
use serde_json::json;

use crate::test_server::{TestServer, call, meta, modern, request, sample_server, text_of, within};
use crate::wire::Request;

/// A server that speaks only 2026-07-28.
async fn modern_only() -> TestServer {
    let (server, handlers) = sample_server();
    TestServer::of((server.revisions([Revision::V2026_07_28]), handlers), |http| http).await
}

fn with_meta(change: impl FnOnce(&mut serde_json::Value)) -> Request {
    let mut meta = meta();
    change(&mut meta);
    let version = meta["io.modelcontextprotocol/protocolVersion"].as_str().unwrap_or("2026-07-28");
    let version = version.to_owned();
    Request::post(request(1, "tools/list", json!({ "_meta": meta })))
        .with("MCP-Protocol-Version", version)
        .with("Mcp-Method", "tools/list")
}

// spec: HTTP-2, HTTP-13, SESS-17, H26-5, H26-6
#[tokio::test]
async fn an_answer_without_earlier_messages_is_json_and_has_no_session_header() {
    let server = TestServer::open().await;
    let plain = call("echo", json!({ "text": "hello" }));
    let named = plain.clone().with("Mcp-Session-Id", "made-up").with("Last-Event-ID", "1.1");
    for request in [plain, named] {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("mcp-session-id"), None, "{answer:?}");
        assert_eq!(text_of(&answer.json()), "hello");
        assert_eq!(answer.json()["id"], 1);
    }
}

// spec: HTTP-13, HTTP-26, HTTP-30, HTTP-33
#[tokio::test]
async fn a_call_that_sends_messages_before_its_answer_is_a_stream_that_ends_with_the_answer() {
    let server = TestServer::open().await;
    let mut wire =
        crate::wire::Wire::send(server.address, &call("tell", json!({ "count": 2 }))).await;
    server.handlers.running(1).await;
    server.handlers.step(1);
    let head = within(wire.head()).await;
    assert!(head.is_stream(), "{head:?}");
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    assert_eq!(head.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(head.header("mcp-session-id"), None);
    let first = within(wire.event()).await.unwrap();
    assert_eq!(first.json()["params"]["data"], "1", "said as soon as it is known");
    server.handlers.step(2);
    let rest = within(wire.messages()).await;
    assert_eq!(rest[0].json()["params"]["data"], "2");
    assert_eq!(text_of(&rest[1].json()), "told 2");
    assert_eq!(rest.len(), 2, "nothing follows the answer");
    assert!(wire.is_whole() && rest.iter().all(|event| event.id.is_none()));
}

// spec: HTTP-31
#[tokio::test]
async fn a_stream_has_only_messages_of_its_request() {
    let server = TestServer::open().await;
    let tell = |count: usize| call("tell", json!({ "count": count }));
    let mut two = crate::wire::Wire::send(server.address, &tell(2)).await;
    let mut three = crate::wire::Wire::send(server.address, &tell(3)).await;
    server.handlers.running(2).await;
    server.handlers.step(7);
    for (wire, count) in [(&mut two, 2), (&mut three, 3)] {
        assert!(within(wire.head()).await.is_stream());
        let told = within(wire.messages()).await;
        let (answer, notices) = told.split_last().unwrap();
        let numbers: Vec<_> =
            notices.iter().map(|it| it.json()["params"]["data"].clone()).collect();
        let expected: Vec<_> = (1..=count).map(|number| json!(number.to_string())).collect();
        assert_eq!(numbers, expected);
        assert_eq!(text_of(&answer.json()), format!("told {count}"));
    }
}

// spec: HTTP-32, TR-7
#[tokio::test]
async fn a_tool_that_asks_returns_an_input_required_result_and_sends_no_request() {
    let server = TestServer::open().await;
    let mut own = meta();
    own["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let params = json!({ "name": "ask", "arguments": {}, "_meta": own });
    let request = Request::post(request(1, "tools/call", params))
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "ask");
    let answer = server.ask(&request).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["result"]["resultType"], "input_required", "{answer:?}");
    assert!(answer.json().get("method").is_none());
}

// spec: H26-1, ERR-7
#[tokio::test]
async fn an_unknown_method_is_404_with_a_json_body() {
    let server = TestServer::open().await;
    for method in ["no/such", "ping", "initialize", "resources/subscribe", "prompts/list"] {
        let answer = server.ask(&modern("x", method, json!({}))).await;
        assert_eq!((answer.status(), answer.code()), (404, -32601), "{method}: {answer:?}");
        assert_eq!(answer.json()["id"], "x");
    }
}

// spec: VER-1, VER-2, ERR-10
#[tokio::test]
async fn an_unknown_version_is_400_with_the_known_versions() {
    let server = TestServer::open().await;
    for version in ["2099-01-01", "2025-11-25", "nonsense"] {
        let request = with_meta(|meta| {
            meta["io.modelcontextprotocol/protocolVersion"] = version.into();
        });
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.code()), (400, -32022), "{version}: {answer:?}");
        let data = &answer.json()["error"]["data"];
        assert_eq!(
            (&data["requested"], &data["supported"][0]),
            (&json!(version), &json!("2026-07-28"))
        );
    }
}

// spec: RQM-4, RQM-5, ERR-2
#[tokio::test]
async fn a_missing_key_of_meta_is_400_and_the_error_names_it() {
    let server = TestServer::open().await;
    for key in ["protocolVersion", "clientCapabilities"] {
        let key = format!("io.modelcontextprotocol/{key}");
        let request = with_meta(|meta| {
            meta.as_object_mut().unwrap().remove(&key);
        });
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.code()), (400, -32602), "{answer:?}");
        assert!(answer.reason().contains(&key), "{answer:?}");
        assert_eq!(answer.json()["id"], 1);
    }
    let broken = Request::post(request(3, "tools/list", json!({ "_meta": 7 })));
    let answer = server.ask(&broken.with("MCP-Protocol-Version", "2026-07-28")).await;
    assert_eq!((answer.status(), answer.code()), (400, -32602), "{answer:?}");
    assert_eq!(answer.json()["id"], 3, "the error has the id, which is known: {answer:?}");
}

// spec: RQM-8, RQM-9, ERR-10
#[tokio::test]
async fn a_missing_client_capability_is_400() {
    let server = TestServer::open().await;
    let answer = server.ask(&call("ask", json!({}))).await;
    assert_eq!((answer.status(), answer.code()), (400, -32021), "{answer:?}");
    let required = &answer.json()["error"]["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{answer:?}");
}

// spec: HTTP-10, HTTP-11, HTTP-12
#[tokio::test]
async fn a_notification_is_202_without_a_body_or_400() {
    let server = TestServer::open().await;
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let notification = Request::post(cancelled).with("MCP-Protocol-Version", "2026-07-28");
    for accepted in
        [notification.clone(), notification.clone().with("Mcp-Method", "notifications/cancelled")]
    {
        let answer = server.ask(&accepted).await;
        assert_eq!((answer.status(), answer.body.as_str()), (202, ""), "{answer:?}");
    }
    let lying = notification.clone().with("Mcp-Method", "tools/call");
    let unknown = Request::post(cancelled).with("MCP-Protocol-Version", "2099-01-01");
    for refused in [lying, unknown] {
        let answer = server.ask(&refused).await;
        assert_eq!(answer.status(), 400, "{answer:?}");
        assert!(answer.json().get("id").is_none(), "{answer:?}");
    }
}

// spec: HTTP-7, HTTP-9, HTTP-11, TR-7
#[tokio::test]
async fn responses_batches_and_invalid_json_are_400() {
    let server = TestServer::open().await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (body, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(), -32600),
        (format!("[{list}]"), -32600),
        ("[]".to_owned(), -32600),
        ("{".to_owned(), -32700),
        (String::new(), -32700),
        ("\u{1}".to_owned(), -32700),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#.to_owned(), -32600),
        ("null".to_owned(), -32600),
    ] {
        let request = Request::post(body.clone()).with("MCP-Protocol-Version", "2026-07-28");
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.code()), (400, code), "{body}: {answer:?}");
    }
}

// spec: RPC-6
#[tokio::test]
async fn the_response_repeats_the_id_unchanged() {
    let server = TestServer::open().await;
    for id in [
        json!(0),
        json!(-5),
        json!("1"),
        json!(""),
        json!("größe \"x\""),
        json!(9007199254740993_i64),
    ] {
        let answer = server.ask(&modern(id.clone(), "tools/list", json!({}))).await;
        assert_eq!(answer.json()["id"], id);
    }
}

// spec: H26-3, H26-4, HTTP-40, SESS-11
#[tokio::test]
async fn a_modern_only_server_accepts_only_post_with_a_version() {
    let server = modern_only().await;
    for request in [Request::get(), Request::delete(), Request::new("PUT", String::new())] {
        let answer = server.ask(&request.with("Mcp-Session-Id", "x")).await;
        assert_eq!(
            (answer.status(), answer.header("allow")),
            (405, Some("POST, OPTIONS")),
            "{answer:?}"
        );
    }
    let bare = Request::post(request(1, "tools/list", json!({})));
    let answer = server.ask(&bare).await;
    assert_eq!((answer.status(), answer.code()), (400, -32020), "{answer:?}");
    let old = Request::post(crate::test_server::initialize(Revision::V2025_06_18));
    let answer = server.ask(&old.with("MCP-Protocol-Version", "2025-06-18")).await;
    assert_eq!((answer.status(), answer.code()), (400, -32022), "{answer:?}");
    assert_eq!(answer.header("mcp-session-id"), None);
}

// spec: H26-4
#[tokio::test]
async fn a_get_with_a_modern_version_is_405() {
    let server = TestServer::open().await;
    for request in [Request::get(), Request::delete()] {
        let request = request.with("MCP-Protocol-Version", "2026-07-28");
        assert_eq!(server.ask(&request).await.status(), 405);
    }
}

// spec: ERA-1, ERA-2, ST-1, ST-3
#[tokio::test]
async fn both_eras_share_one_connection() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_06_18).await;
    let mut wire = crate::wire::Wire::open(server.address).await;
    for _ in 0..3 {
        for request in
            [session.call("echo", json!({ "text": "x" })), call("echo", json!({ "text": "x" }))]
        {
            wire.write(&request.bytes()).await;
            let answer = within(wire.answer()).await;
            assert_eq!(text_of(&answer.json()), "x");
        }
    }
}

// spec: HTTP-34
#[tokio::test]
async fn the_server_sends_comments_on_a_silent_stream() {
    let server =
        TestServer::limited(|it| it.keep_alive = std::time::Duration::from_millis(20)).await;
    let mut wire =
        crate::wire::Wire::send(server.address, &call("tell", json!({ "count": 1 }))).await;
    server.handlers.step(1);
    within(wire.head()).await;
    assert!(within(wire.event()).await.unwrap().has_message());
    for _ in 0..3 {
        assert!(within(wire.event()).await.unwrap().is_comment);
    }
    server.handlers.step(1);
    assert_eq!(within(wire.messages()).await.len(), 1);
}
