//! A client as a service.

use std::convert::Infallible;
use std::sync::Arc;

use bowline_client::Relay;
use bowline_client::types::method::Method;
use bowline_client::types::revision::Revision;
use bowline_proto::members::Members;
use bowline_proto::request::{
    Access, ClientProfile as Caller, ExchangeId, Extensions, Outbox, Owner, Parts, Request,
    Response,
};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::peer::{both, both_with, builder};

fn members(value: &Value) -> Members {
    Members::cut(value.to_string().into()).unwrap()
}

fn request(method: Method, params: &Value, revision: Revision) -> Request {
    let parts = Parts {
        exchange: ExchangeId(1),
        method,
        revision,
        client: Arc::new(Caller::default()),
        meta: members(&json!({ "progressToken": 7, "com.example/tenant": "acme" })),
        progress: None,
        log_level: None,
        input: None,
        owner: Owner::anonymous(),
        access: Access::everything(),
        outbox: Outbox::closed(),
        headers: None,
        extensions: Extensions::default(),
    };
    Request { parts, params: members(params) }
}

async fn ask(relay: &Relay, request: Request) -> Response {
    let Ok::<_, Infallible>(response) = relay.clone().call(request).await;
    response
}

#[tokio::test(start_paused = true)]
async fn a_relayed_call_carries_the_meta_of_its_caller() {
    for (client, mut peer) in both(builder()).await {
        let relay = client.relay();
        let params = json!({ "name": "add", "arguments": { "a": 1 } });
        let call = ask(&relay, request(Method::ToolsCall, &params, Revision::V2024_11_05));
        let serve = async {
            let request = peer.request("tools/call").await;
            assert_eq!(request.params["arguments"], json!({ "a": 1 }));
            assert_eq!(request.params["_meta"]["com.example/tenant"], "acme");
            assert_ne!(request.params["_meta"]["progressToken"], 7);
            let result = r#"{"content":[],"structuredContent":{"sum":1}}"#;
            peer.answer(&request, result).await;
        };
        let (response, ()) = tokio::join!(call, serve);
        // Projected to a revision without structured content.
        let body = response.unwrap().body().as_str().to_owned();
        assert_eq!(body, r#"{"content":[{"type":"text","text":"{\"sum\":1}"}]}"#);
    }
}

/// A header that a tool asks for is missed in the very first call. The tools are listed for that once.
// spec: XMH-21
#[tokio::test(start_paused = true)]
async fn a_first_call_without_a_header_that_its_tool_asks_for_is_refused() {
    for (client, mut peer) in both(builder()).await {
        let relay = client.relay();
        let over_http = |tool: &str| {
            let params = json!({ "name": tool, "arguments": { "region": "eu" } });
            let mut request = request(Method::ToolsCall, &params, Revision::LATEST);
            request.parts.headers = Some(std::iter::empty::<(&str, Option<&str>)>().collect());
            request
        };
        let call = ask(&relay, over_http("run"));
        let serve = async {
            let request = peer.request("tools/list").await;
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            let schema = json!({ "type": "object", "properties": { "region": region } });
            let list = json!({ "tools": [{ "name": "run", "inputSchema": schema }] });
            peer.answer(&request, &list.to_string()).await;
        };
        let (response, ()) = tokio::join!(call, serve);
        let error = response.unwrap_err();
        assert!(error.message.contains("`Mcp-Param-Region` is missing"), "{error}");

        let call = ask(&relay, over_http("hidden"));
        let serve = async {
            let request = peer.request("tools/call").await;
            peer.answer(&request, r#"{"content":[]}"#).await;
        };
        let (response, ()) = tokio::join!(call, serve);
        response.unwrap();
    }
}

// spec: RSRC-18, RSRC-19
#[tokio::test(start_paused = true)]
async fn a_missing_resource_has_the_error_code_of_the_callers_revision() {
    for (client, mut peer) in both_with(builder(), &json!({ "resources": {} })).await {
        for (revision, code) in [(Revision::LATEST_LEGACY, -32002), (Revision::LATEST, -32602)] {
            let relay = client.relay();
            let params = json!({ "uri": "a:/1" });
            let read = ask(&relay, request(Method::ResourcesRead, &params, revision));
            let serve = async {
                let request = peer.request("resources/read").await;
                peer.refuse(&request, -32002, "Resource not found").await;
            };
            let (response, ()) = tokio::join!(read, serve);
            assert_eq!(response.unwrap_err().code, code);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_relay_does_not_forward_what_the_server_does_not_offer() {
    for (client, mut peer) in both(builder()).await {
        let prompts = request(Method::PromptsList, &json!({}), Revision::LATEST);
        assert_eq!(ask(&client.relay(), prompts).await.unwrap_err().code, -32601);
        peer.gets_nothing().await;
    }
}

// spec: CANC-14, CANC-15
#[tokio::test(start_paused = true)]
async fn dropping_an_answer_cancels_the_call() {
    for (client, mut peer) in both(builder()).await {
        let params = json!({ "name": "add" });
        let relay = client.relay();
        let call = ask(&relay, request(Method::ToolsCall, &params, Revision::LATEST));
        tokio::select! {
            response = call => panic!("{response:?}"),
            _ = peer.request("tools/call") => {}
        }
        peer.notification("notifications/cancelled").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_relay_describes_what_it_passes_on() {
    let offered =
        json!({ "tools": { "listChanged": true }, "logging": {}, "experimental": { "x": {} } });
    for (client, _peer) in both_with(builder(), &offered).await {
        let discover = request(Method::ServerDiscover, &json!({}), Revision::LATEST);
        let said: Value = ask(&client.relay(), discover).await.unwrap().body().parse().unwrap();
        assert_eq!(said["capabilities"], json!({ "tools": { "listChanged": true } }));
        assert_eq!(said["instructions"], "Ask first.");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_gets_no_changes_cannot_follow_a_resource() {
    let offered = json!({ "resources": { "subscribe": true } });
    for (client, _peer) in both_with(builder(), &offered).await {
        let params = json!({ "uri": "a:/1" });
        let follow = request(Method::ResourcesSubscribe, &params, Revision::LATEST_LEGACY);
        let error = ask(&client.relay(), follow).await.unwrap_err();
        assert!(error.message.contains("reports no changes to this session"), "{error}");
    }
}
