//! MCP Apps: the declaration, views with their settings, and which tools are for whom.

use bowline_client::Client;
use serde_json::{Value, json};

use crate::peer::{Heard, Peer, both, both_with, builder, modern};

const VIEW: &str = "ui://weather/view";
const HTML: &str = "<!DOCTYPE html><title>Weather</title>";
const MIME: &str = "text/html;profile=mcp-app";

fn capabilities() -> Value {
    json!({ "resources": {}, "tools": {}, "extensions": { "io.modelcontextprotocol/ui": {} } })
}

fn contents(ui: &Value) -> Value {
    json!([{ "uri": VIEW, "mimeType": MIME, "text": HTML, "_meta": { "ui": ui } }])
}

/// Answers the next read.
async fn serve(peer: &mut Peer, contents: &Value) {
    let request = peer.request("resources/read").await;
    assert_eq!(request.params["uri"], VIEW);
    let result = json!({ "resultType": "complete", "contents": contents });
    peer.answer(&request, &result.to_string()).await;
}

async fn view(
    client: &Client,
    peer: &mut Peer,
    contents: &Value,
) -> bowline_client::Result<bowline_client::View> {
    tokio::join!(client.view(VIEW), serve(peer, contents)).0
}

async fn list(peer: &mut Peer) {
    let schema = json!({ "type": "object" });
    let tool = |name: &str, ui: Value| json!({ "name": name, "inputSchema": schema, "_meta": { "ui": ui } });
    let tools = [
        tool("forecast", json!({ "resourceUri": VIEW })),
        tool("refresh", json!({ "resourceUri": VIEW, "visibility": ["app"] })),
        tool("delete", json!({ "visibility": ["model"] })),
        json!({ "name": "plain", "inputSchema": schema }),
    ];
    let request = peer.request("tools/list").await;
    let result = json!({ "resultType": "complete", "tools": tools });
    peer.answer(&request, &result.to_string()).await;
}

// spec: APP-6, EXT-4
#[tokio::test(start_paused = true)]
async fn a_client_declares_views_when_its_application_shows_them() {
    let expected = json!({ "mimeTypes": [MIME] });
    for (is_on, builder) in [(true, builder().ui()), (false, builder())] {
        let expected = if is_on { expected.clone() } else { Value::Null };
        let (client, mut peer) = modern(builder.clone()).await;
        let call = async {
            let request = peer.request("tools/list").await;
            let key = "io.modelcontextprotocol/clientCapabilities";
            let declared = &request.params["_meta"][key]["extensions"];
            assert_eq!(declared["io.modelcontextprotocol/ui"], expected);
            peer.answer(&request, r#"{"resultType":"complete","tools":[]}"#).await;
        };
        tokio::join!(client.tools().all(), call).0.unwrap();
    }
}

// spec: APP-9
#[tokio::test(start_paused = true)]
async fn a_view_is_read_with_what_it_needs() {
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        let ui = json!({
            "csp": { "connectDomains": ["https://api.example.com"] },
            "permissions": { "camera": {} },
        });
        let view = view(&client, &mut peer, &contents(&ui)).await.unwrap();
        assert_eq!((view.uri(), view.html()), (VIEW, HTML));
        assert!(
            view.content_security_policy().contains("connect-src 'self' https://api.example.com;")
        );
        assert_eq!(view.external_domains(), ["https://api.example.com"]);
        assert_eq!(view.allow_attribute(), "camera");
    }
}

// spec: APP-13, APP-15
#[tokio::test(start_paused = true)]
async fn an_origin_that_would_allow_everything_is_left_out_and_reported() {
    let heard = Heard::default();
    for (client, mut peer) in
        both_with(builder().ui().on_diagnostic(heard.hear()), &capabilities()).await
    {
        let ui = json!({ "csp": { "resourceDomains": ["*", "https://cdn.example.com"] } });
        let view = view(&client, &mut peer, &contents(&ui)).await.unwrap();
        let policy = view.content_security_policy();
        assert!(policy.contains("script-src 'self' 'unsafe-inline' https://cdn.example.com;"));
        assert!(!policy.contains('*'), "{policy}");
    }
    let expected = "the view `ui://weather/view` names no origin, but `*`";
    assert_eq!(heard.all(), [expected, expected]);
}

#[tokio::test(start_paused = true)]
async fn a_view_in_another_form_is_refused() {
    let (bytes, html) = ("PCFkb2N0eXBlIGh0bWw+", "<!doctype html>");
    let blob = json!([{ "uri": VIEW, "mimeType": "text/html; profile=mcp-app", "blob": bytes }]);
    let one = |mime: &str| json!({ "uri": VIEW, "mimeType": mime, "text": HTML });
    let bad = [
        (json!([]), "a view is one item"),
        (json!([one(MIME), one(MIME)]), "a view is one item"),
        (json!([one("text/html")]), "not `text/html`"),
        (json!([{ "uri": VIEW, "mimeType": MIME, "blob": "/w==" }]), "no UTF-8"),
        (contents(&json!({ "csp": 1 })), "_meta.ui"),
    ];
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        assert_eq!(view(&client, &mut peer, &blob).await.unwrap().html(), html);
        for (contents, reason) in &bad {
            let error = view(&client, &mut peer, contents).await.unwrap_err();
            assert!(error.is_invalid_answer(), "{error}");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_for_an_application_that_shows_no_views() {
    for (client, mut peer) in both(builder()).await {
        let error = client.view(VIEW).await.unwrap_err();
        assert!(error.to_string().contains("build it with `.ui()`"), "{error}");
        peer.gets_nothing().await;
    }
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        let error = client.view("https://example.com/").await.unwrap_err();
        assert!(error.to_string().contains("begins with `ui://`"), "{error}");
        peer.gets_nothing().await;
    }
}

// spec: APP-10
#[tokio::test(start_paused = true)]
async fn the_tools_for_a_model_leave_out_those_for_views() {
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        let tools = tokio::join!(client.tools().for_model().all(), list(&mut peer)).0.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["forecast", "delete", "plain"]);
        let tools = tokio::join!(client.tools().all(), list(&mut peer)).0.unwrap();
        assert_eq!(tools.len(), 4);
    }
}

// spec: APP-11
#[tokio::test(start_paused = true)]
async fn a_view_calls_only_tools_of_its_server_that_are_for_views() {
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        let view = view(&client, &mut peer, &contents(&json!({}))).await.unwrap();
        // The first call lists the tools, because nothing is known of them yet.
        let refused = tokio::join!(view.call("delete", ()), list(&mut peer)).0.unwrap_err();
        assert!(refused.is_denied(), "{refused}");
        let unknown = tokio::join!(view.call("other", ()), list(&mut peer)).0.unwrap_err();
        assert!(unknown.is_denied(), "{unknown}");
        peer.gets_nothing().await;
        for tool in ["refresh", "forecast", "plain"] {
            let serve = async {
                let request = peer.request("tools/call").await;
                assert_eq!(request.params["name"], tool);
                peer.answer_text(&request, "sun").await;
            };
            let outcome = tokio::join!(view.call(tool, ()), serve).0.unwrap();
            assert_eq!(outcome.text(), "sun");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_reads_resources_of_its_server() {
    for (client, mut peer) in both_with(builder().ui(), &capabilities()).await {
        let view = view(&client, &mut peer, &contents(&json!({}))).await.unwrap();
        let contents = contents(&json!({}));
        let (read, ()) = tokio::join!(view.read(VIEW), serve(&mut peer, &contents));
        assert_eq!(read.unwrap().text(), HTML);
    }
}
