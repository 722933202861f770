//! Spans: their names, kinds and attributes. Tests run in virtual time.

use bowline::{Client, Error, Json, Resource, Server, Uri, prompt, prompts, tool, tools};
use bowline_testing::{Harness, TransportKind};
use opentelemetry::trace::{SpanKind, Status};
use opentelemetry_sdk::trace::SpanData;
use serde_json::json;

use crate::recorder::{Recorder, attribute};

/// Forecast the weather
#[tool]
async fn forecast(city: String) -> Result<Json<String>, Error> {
    match city.as_str() {
        "atlantis" => Err(Error::rpc(-32_050, "sunk")),
        "nowhere" => Err("there is no such place".into()),
        city => Ok(Json(format!("{city}: rain"))),
    }
}

/// Greet the user
#[prompt]
async fn greet(name: String) -> String {
    format!("Say hello to {name}")
}

async fn note(Uri(uri): Uri) -> String {
    format!("the note {uri}")
}

pub(crate) fn weather() -> Server {
    let server = Server::new("weather", "1.0.0").tools(tools![forecast]).prompts(prompts![greet]);
    server.resource(Resource::template("notes://{+rest}", note))
}

/// Lists what the server has: only listed names are recorded.
pub(crate) async fn list(client: &Client) {
    client.tools().all().await.unwrap();
    client.prompts().all().await.unwrap();
}

fn sides(recorder: &Recorder, name: &str) -> [SpanData; 2] {
    [SpanKind::Client, SpanKind::Server].map(|kind| recorder.span(&kind, name))
}

#[bowline::test(every_revision, stateless)]
async fn a_call_is_a_span_of_each_side(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    list(&client).await;
    client.call("forecast", json!({ "city": "Köln" })).await.unwrap();
    for span in sides(&recorder, "tools/call forecast") {
        let value = |key| attribute(&span, key);
        assert_eq!(value("mcp.method.name").as_deref(), Some("tools/call"));
        assert_eq!(value("gen_ai.tool.name").as_deref(), Some("forecast"));
        assert_eq!(value("gen_ai.operation.name").as_deref(), Some("execute_tool"));
        assert_eq!(value("mcp.protocol.version").as_deref(), Some(t.revision().as_str()));
        assert_eq!(value("error.type"), None);
        assert_eq!(span.status, Status::Unset);
        assert_eq!(span.instrumentation_scope.name(), "bowline");
    }
}

#[bowline::test]
async fn prompts_and_resources_are_named(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    list(&client).await;
    client.prompt("greet").argument("name", "Ada").await.unwrap();
    client.read("notes://ann:secret@shelf/1?token=2#3").await.unwrap();
    for span in sides(&recorder, "prompts/get greet") {
        assert_eq!(attribute(&span, "gen_ai.prompt.name").as_deref(), Some("greet"));
        assert_eq!(attribute(&span, "gen_ai.operation.name"), None);
    }
    for span in sides(&recorder, "resources/read") {
        assert_eq!(attribute(&span, "mcp.resource.uri").as_deref(), Some("notes://shelf/1"));
    }
}

#[bowline::test]
async fn failures_have_a_type_and_no_text(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    list(&client).await;
    assert!(client.call("forecast", json!({ "city": "nowhere" })).await.unwrap().is_error());
    for span in sides(&recorder, "tools/call forecast") {
        assert_eq!(attribute(&span, "error.type").as_deref(), Some("tool_error"));
        assert_eq!(attribute(&span, "rpc.response.status_code"), None);
        assert_eq!(span.status, Status::error("the tool failed"));
    }
    client.call("forecast", json!({ "city": "atlantis" })).await.unwrap_err();
    for span in sides(&recorder, "tools/call forecast") {
        assert_eq!(attribute(&span, "error.type").as_deref(), Some("-32050"));
        assert_eq!(attribute(&span, "rpc.response.status_code").as_deref(), Some("-32050"));
        assert_eq!(span.status, Status::error(""));
    }
}

#[bowline::test]
async fn an_unknown_tool_has_no_name(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    client.call("forecst", json!({})).await.unwrap_err();
    for span in sides(&recorder, "tools/call") {
        assert_eq!(attribute(&span, "gen_ai.tool.name").as_deref(), Some("_OTHER"));
        assert_eq!(attribute(&span, "error.type").as_deref(), Some("-32602"));
        assert_eq!(span.status, Status::error("invalid params"));
    }
}

#[bowline::test(every_revision, stateless)]
async fn spans_say_how_messages_travel(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    list(&client).await;
    client.call("forecast", json!({ "city": "Köln" })).await.unwrap();
    let [client, server] = sides(&recorder, "tools/call forecast");
    let is_http = matches!(t.case().transport, TransportKind::Http | TransportKind::Stateless);
    let of_client = |key| attribute(&client, key);
    let of_server = |key| attribute(&server, key);
    if is_http {
        assert_eq!(of_client("network.transport").as_deref(), Some("tcp"));
        assert_eq!(of_client("network.protocol.name").as_deref(), Some("http"));
        assert_eq!(of_client("server.address").as_deref(), Some("localhost"));
        assert_eq!(of_client("server.port").as_deref(), Some("80"));
        assert_eq!(of_server("network.transport").as_deref(), Some("tcp"));
        assert_eq!(of_server("network.protocol.name").as_deref(), Some("http"));
        assert_eq!(of_server("network.protocol.version").as_deref(), Some("1.1"));
    } else {
        assert_eq!(of_server("network.transport").as_deref(), Some("pipe"));
        assert_eq!(of_server("network.protocol.name"), None);
    }
    let has_session =
        t.case().transport == TransportKind::Http && t.revision().has_streamable_http();
    let session = of_server("mcp.session.id");
    assert_eq!(session.is_some(), has_session && t.revision().has_sessions(), "{session:?}");
    assert!(session.is_none_or(|session| session.len() == 8));
}

#[bowline::test]
async fn a_handshake_is_an_initialize(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    let name = if t.revision().has_handshake() { "initialize" } else { "server/discover" };
    let span = recorder.span(&SpanKind::Server, name);
    assert_eq!(attribute(&span, "mcp.method.name").as_deref(), Some(name));
    assert!(recorder.spans().iter().all(|span| span.name != "subscriptions/listen"));
}

#[bowline::test]
async fn a_dropped_call_is_cancelled(t: Harness) {
    let recorder = Recorder::new();
    let endless = bowline::Tool::new("endless", std::future::pending::<String>);
    let server = recorder.server(Server::new("slow", "1.0.0").tool(endless));
    let client = t.connect(server).client(|it| recorder.client(it)).await;
    let call = client.call("endless", ());
    let wait = std::time::Duration::from_secs(1);
    assert!(tokio::time::timeout(wait, call.into_future()).await.is_err());
    // Time is virtual: this returns when the cancellation has arrived.
    tokio::time::sleep(wait).await;
    for span in sides(&recorder, "tools/call") {
        assert_eq!(attribute(&span, "error.type").as_deref(), Some("cancelled"));
    }
}
