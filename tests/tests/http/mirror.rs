//! Mirrored headers: missing, duplicate, different, unreadable.

use std::collections::HashSet;

use bowline::{Prompt, Tool};
use bowline_types::method::METHODS;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::test_server::{TestServer, call, modern, sample_server, text_of};
use crate::wire::Request;

const MISMATCH: i64 = -32020;

/// A call with every mirrored header.
fn placed() -> Request {
    call("place", json!({ "region": "us-west1", "zone": 42 }))
        .with("Mcp-Param-Region", "us-west1")
        .with("Mcp-Param-Zone", "42")
}

// spec: HDR-6, HDR-7, HDR-8, HDR-9, HDR-10, HDR-12, XMH-21, XMH-22, XMH-23, ERR-10
#[tokio::test]
async fn a_mirrored_header_must_come_once_and_match_the_body() {
    let server = TestServer::open().await;
    let good = server.ask(&placed()).await;
    assert_eq!(text_of(&good.json()), "us-west1 42");
    for (header, other_case) in [
        ("MCP-Protocol-Version", "2026-07-28x"),
        ("Mcp-Method", "Tools/Call"),
        ("Mcp-Name", "PLACE"),
        ("Mcp-Param-Region", "US-WEST1"),
        ("Mcp-Param-Zone", "43"),
    ] {
        let same = placed().parts().1.iter().find(|(name, _)| name == header).unwrap().1.clone();
        let broken = [
            ("missing", placed().without(header)),
            ("doubled", placed().with(header, &same)),
            ("different", placed().set(header, "other")),
            ("in another case", placed().set(header, other_case)),
            ("empty", placed().set(header, "")),
            ("not ASCII", placed().set(header, "größe")),
            ("not UTF-8", placed().set(header, b"\xff\xfe")),
            ("bad base64", placed().set(header, "=?base64?***?=")),
        ];
        for (how, request) in broken {
            let answer = server.ask(&request).await;
            // A dual-era server takes a request without a version in body and header for a legacy
            // request. Here the body has the version, so the header is missing.
            assert_eq!(answer.status(), 400, "{header} {how}: {answer:?}");
            assert_eq!(answer.code(), MISMATCH, "{header} {how}: {answer:?}");
            assert_eq!(answer.json()["id"], 1, "{header} {how}: {answer:?}");
            assert!(answer.reason().contains(header), "{header} {how}: {answer:?}");
        }
    }
}

// spec: HDR-11, HDR-13, HDR-14, XMH-24
#[tokio::test]
async fn a_mirrored_header_may_be_encoded_padded_or_have_another_form_of_the_number() {
    let server = TestServer::open().await;
    let encoded = [
        ("Mcp-Name", "=?base64?cGxhY2U=?="),
        ("Mcp-Param-Region", "=?base64?dXMtd2VzdDE=?="),
        ("Mcp-Param-Region", "\t us-west1  "),
        ("Mcp-Param-Zone", "42.0"),
        ("Mcp-Method", "  tools/call"),
        ("MCP-Protocol-Version", "2026-07-28 "),
    ];
    for (header, value) in encoded {
        let answer = server.ask(&placed().set(header, value)).await;
        assert_eq!(answer.status(), 200, "{header}: {value}: {answer:?}");
    }
    let names_in_any_case =
        placed().without("Mcp-Name").with("MCP-NAME", "place").without("Mcp-Param-Zone");
    let names_in_any_case = names_in_any_case.with("mcp-param-ZONE", "42");
    assert_eq!(server.ask(&names_in_any_case).await.status(), 200);
}

// spec: XMH-20
#[tokio::test]
async fn an_absent_argument_needs_no_header_and_the_server_ignores_unknown_headers() {
    let server = TestServer::open().await;
    let absent = call("place", json!({ "region": "a" })).with("Mcp-Param-Region", "a");
    assert_eq!(server.ask(&absent).await.status(), 200);
    let claimed = server.ask(&absent.clone().with("Mcp-Param-Zone", "1")).await;
    assert_eq!((claimed.status(), claimed.code()), (400, MISMATCH));
    let unknown = absent.with("Mcp-Param-Unknown", "x");
    assert_eq!(server.ask(&unknown).await.status(), 200);
    let elsewhere = call("echo", json!({ "text": "a" })).with("Mcp-Param-Region", "b");
    assert_eq!(server.ask(&elsewhere).await.status(), 200, "this tool marks nothing");
}

// spec: HDR-4, HDR-7, HDR-8
#[tokio::test]
async fn a_request_that_names_a_feature_needs_the_name_header() {
    let named = [
        ("tools/call", "name"),
        ("resources/read", "uri"),
        ("prompts/get", "name"),
        ("tasks/get", "taskId"),
        ("tasks/update", "taskId"),
        ("tasks/cancel", "taskId"),
    ];
    let rows = METHODS.iter().filter(|row| row.method.is_from_client(Revision::V2026_07_28));
    let rows = rows.filter_map(|row| Some((row.name, row.method.named_by()?)));
    assert_eq!(rows.collect::<HashSet<_>>(), HashSet::from(named));

    let (server, handlers) = sample_server();
    let prompt = Prompt::new("note", || async { "a" });
    let tool = Tool::new("note", || async { "a" });
    let server = TestServer::of((server.prompt(prompt).tool(tool), handlers), |http| http).await;
    for (method, member) in named {
        let name = if member == "uri" { "note://a" } else { "note" };
        let bare = modern(1, method, json!({ member: name })).without("Mcp-Name");
        let good = server.ask(&bare.clone().with("Mcp-Name", name)).await;
        let expected = if method.starts_with("tasks/") { 404 } else { 200 };
        assert_eq!(good.status(), expected, "{method}: {good:?}");
        for broken in [bare.clone(), bare.with("Mcp-Name", "note://b")] {
            let answer = server.ask(&broken).await;
            let found = (answer.status(), answer.code());
            assert_eq!(found, (400, MISMATCH), "{method}: {answer:?}");
            assert!(answer.reason().contains("Mcp-Name"), "{method}: {answer:?}");
        }
    }
}

// spec: RQM-4, RQM-5
#[tokio::test]
async fn the_server_refuses_a_body_that_lacks_what_the_headers_have() {
    let server = TestServer::open().await;
    let bare = crate::test_server::request(7, "tools/list", json!({}));
    let request = Request::post(bare)
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", "tools/list");
    let answer = server.ask(&request).await;
    assert_eq!((answer.status(), answer.code()), (400, -32602), "{answer:?}");
    assert_eq!(answer.json()["id"], 7);
}
