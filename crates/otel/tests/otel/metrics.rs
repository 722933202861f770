//! Metrics: their names, buckets and attributes. Tests run in virtual time.

use std::task::{Context, Waker};
use std::time::Duration;

use bowline::layer::{self, Next};
use bowline_proto::request::{Request, Response, Success};
use bowline_store::backend::{BoxFuture, Expect};
use bowline_store::memory::{MemoryBackend, MemoryLimits};
use bowline_store::wrapper::{Operation, Wrapped, Wrapper};
use bowline_store::{Backend, Key};
use bowline_testing::Harness;
use bowline_types::method::Method;
use bowline_types::tool::CallToolResult;
use opentelemetry::trace::SpanKind;
use serde_json::json;

use crate::recorder::{Recorder, attribute};
use crate::spans::weather;

const BOUNDS: [f64; 17] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 1_800.0,
    7_200.0, 86_400.0,
];

#[bowline::test]
async fn operations_are_measured_on_both_sides(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    for city in ["Köln", "Bonn", "nowhere"] {
        client.call("forecast", json!({ "city": city })).await.unwrap();
    }
    for metric in ["mcp.client.operation.duration", "mcp.server.operation.duration"] {
        let rows = recorder.measured(metric);
        let calls: Vec<_> =
            rows.iter().filter(|it| it.value("mcp.method.name") == Some("tools/call")).collect();
        let [failed, done] = calls[..] else { panic!("{rows:?}") };
        assert_eq!((failed.count, failed.value("error.type")), (1, Some("tool_error")));
        assert_eq!((done.count, done.value("error.type")), (2, None));
        for row in calls {
            assert_eq!(row.bounds, BOUNDS[..14]);
            assert_eq!(row.value("gen_ai.tool.name"), Some("forecast"));
            assert_eq!(row.value("mcp.protocol.version"), Some(t.revision().as_str()));
        }
    }
}

#[tokio::test]
async fn operations_of_a_store_are_measured_without_keys_and_values() {
    let recorder = Recorder::new();
    let mut limits = MemoryLimits::default();
    limits.bytes = 200;
    let memory = MemoryBackend::new(limits);
    let store = bowline_otel::store(memory).meter_provider(recorder.meters());
    let (key, hour) = (Key::new(["canary4711"]), Duration::from_secs(3600));
    for value in ["canary".to_owned(), "canary".repeat(50)] {
        _ = store.put(&key, value.into(), hour, Expect::Anything).await;
    }
    store.renew(&key, hour).await.unwrap();
    let rows = recorder.measured("bowline.store.operation.duration");
    let seen: Vec<_> = rows.iter().map(|row| (row.attributes.join(" "), row.count)).collect();
    let operation = |name: &str| format!("bowline.store.operation={name}");
    assert_eq!(
        seen,
        [
            (operation("put"), 1),
            (operation("put") + " error.type=_OTHER", 1),
            (operation("renew"), 1)
        ]
    );
    assert!(!recorder.everything().contains("canary"), "{}", recorder.everything());
}

/// A store that answers nothing.
#[derive(Default)]
struct Silent(MemoryBackend);

impl Wrapper for Silent {
    fn inner(&self) -> &dyn Backend {
        &self.0
    }

    fn before<'a>(&'a self, _: Operation<'a>) -> BoxFuture<'a, bowline_store::backend::Result<()>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn an_operation_that_is_dropped_is_measured_as_cancelled() {
    let recorder = Recorder::new();
    let store = bowline_otel::store(Wrapped(Silent::default())).meter_provider(recorder.meters());
    let key = Key::new(["key"]);
    let mut operation = store.get(&key);
    assert!(operation.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(recorder.measured("bowline.store.operation.duration").is_empty());
    drop(operation);
    let [row] = &recorder.measured("bowline.store.operation.duration")[..] else {
        panic!("it is measured once")
    };
    assert_eq!((row.count, row.value("error.type")), (1, Some("cancelled")));
}

#[tokio::test]
async fn sessions_streams_and_refusals_of_an_endpoint_are_counted_while_it_lives() {
    let recorder = Recorder::new();
    let endpoint = weather().http().build().unwrap();
    bowline_otel::endpoint(&endpoint, recorder.meters());
    let numbers =
        || ["bowline.sessions", "bowline.streams", "bowline.refused"].map(|it| recorder.number(it));
    assert_eq!(numbers(), [Some(0); 3]);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {},
                    "clientInfo": { "name": "test", "version": "1" } },
    });
    let request = || {
        let request = http::Request::post("/mcp").header("host", "localhost");
        request.header("accept", "application/json, text/event-stream")
    };
    let opening = request().header("content-type", "application/json");
    let opened = endpoint.answer(opening.body(initialize.to_string()).unwrap()).await;
    let session = opened.headers()["mcp-session-id"].clone();
    assert_eq!(numbers(), [Some(1), Some(0), Some(0)]);
    let refused = endpoint.answer(request().body("no JSON".to_owned()).unwrap()).await;
    assert_eq!(refused.status(), 415);
    let get = http::Request::get("/mcp").header("host", "localhost");
    let get = get.header("accept", "text/event-stream").header("mcp-session-id", session);
    let stream = endpoint.answer(get.body(String::new()).unwrap()).await;
    assert_eq!(stream.status(), 200);
    assert_eq!(numbers(), [Some(1), Some(1), Some(1)]);
    drop(stream);
    assert_eq!(numbers(), [Some(1), Some(0), Some(1)]);
    drop(endpoint);
    assert_eq!(numbers(), [Some(0), Some(0), Some(1)]);
}

#[bowline::test]
async fn names_that_were_made_up_add_one_row(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    for number in 0..20 {
        client.call(format!("made-up-{number}"), json!({})).await.unwrap_err();
        client.prompt(format!("made-up-{number}")).await.unwrap_err();
        client.read(format!("notes://{number}")).await.unwrap();
    }
    for metric in ["mcp.client.operation.duration", "mcp.server.operation.duration"] {
        let rows = recorder.measured(metric);
        let many: Vec<_> = rows.iter().filter(|row| row.count == 20).collect();
        assert_eq!(many.len(), 3, "{rows:?}");
        assert!(rows.len() <= 4, "{rows:?}");
        let tool = many.iter().find_map(|row| row.value("gen_ai.tool.name"));
        assert_eq!(tool, Some("_OTHER"));
        assert!(many.iter().all(|row| row.value("mcp.resource.uri").is_none()));
    }
}

/// A layer of a server that has no list of its tools, and answers calls of any name.
fn answer_every_name(request: Request, next: Next) -> BoxFuture<'static, Response> {
    if request.parts.method != Method::ToolsCall {
        return Box::pin(next.run(request));
    }
    let result = CallToolResult::error("there is no such tool");
    Box::pin(async move { Success::complete(result, request.parts.revision) })
}

#[bowline::test]
async fn a_server_that_answers_every_name_adds_one_row(t: Harness) {
    let recorder = Recorder::new();
    let server = weather().layer(layer::from_fn(answer_every_name));
    let client = t.connect(recorder.server(server)).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    for number in 0..20 {
        let name = format!("{number}{}", "x".repeat(1000));
        assert!(client.call(name, json!({})).await.unwrap().is_error());
    }
    for metric in ["mcp.client.operation.duration", "mcp.server.operation.duration"] {
        let rows = recorder.measured(metric);
        let tools: Vec<_> = rows.iter().filter_map(|row| row.value("gen_ai.tool.name")).collect();
        assert_eq!(tools, ["_OTHER"], "{metric}");
    }
    assert!(!recorder.everything().contains("xxxx"));
}

#[bowline::test]
async fn a_listed_tool_that_fails_is_counted_under_its_name(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    client.call("forecast", json!({ "city": "atlantis" })).await.unwrap_err();
    for metric in ["mcp.client.operation.duration", "mcp.server.operation.duration"] {
        let rows = recorder.measured(metric);
        let failed = rows.iter().find(|row| row.value("error.type") == Some("-32050"));
        let failed = failed.unwrap_or_else(|| panic!("{rows:?}"));
        assert_eq!(failed.value("gen_ai.tool.name"), Some("forecast"));
    }
}

#[bowline::test]
async fn a_layer_of_a_client_can_name_the_server(t: Harness) {
    let recorder = Recorder::new();
    let layer = || bowline_otel::client().tracer_provider(&recorder.tracers);
    let layer = || layer().meter_provider(recorder.meters()).upstream("far\u{1b}[2J");
    let client = t.connect(weather()).client(|it| it.layer(layer())).await;
    client.tools().all().await.unwrap();
    let span = recorder.span(&SpanKind::Client, "tools/list");
    let name = "far\\u{1b}[2J";
    assert_eq!(attribute(&span, "bowline.upstream").as_deref(), Some(name));
    let rows = recorder.measured("mcp.client.operation.duration");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row.value("bowline.upstream") == Some(name)), "{rows:?}");
}

#[bowline::test]
async fn sessions_are_measured_when_they_end(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(weather())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    let metrics = ["mcp.client.session.duration", "mcp.server.session.duration"];
    for metric in metrics {
        assert!(recorder.measured(metric).is_empty(), "{metric}");
    }
    client.close().await;
    drop(client);
    // Time is virtual: this returns when everything has ended.
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    for metric in metrics {
        let rows = recorder.measured(metric);
        let counts: Vec<_> = rows.iter().map(|row| row.count).collect();
        let expected: &[u64] = if t.revision().has_handshake() { &[1] } else { &[] };
        assert_eq!(counts, expected, "{metric} {rows:?}");
        assert!(rows.iter().all(|row| row.bounds == BOUNDS), "{rows:?}");
    }
}
