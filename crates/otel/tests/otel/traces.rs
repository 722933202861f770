//! Traces: the parent of a span, links, and what `_meta` carries.

use bowline::layer::{self, Next};
use bowline::{Client, Context, Server, tool, tools};
use bowline_proto::request::Request;
use bowline_testing::Harness;
use opentelemetry::baggage::BaggageExt as _;
use opentelemetry::trace::{
    FutureExt as _, SpanKind, TraceContextExt as _, Tracer as _, TracerProvider as _,
};

use crate::recorder::Recorder;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What the handler finds in `_meta` and in the context of OpenTelemetry
#[tool]
async fn seen(context: Context) -> String {
    let current = opentelemetry::Context::current();
    let user = current.baggage().get("user").map(|it| it.as_str().to_owned());
    let span = current.span().span_context().span_id();
    let meta = [context.traceparent(), context.tracestate(), context.baggage()];
    format!("{meta:?} {user:?} {span}")
}

fn server() -> Server {
    Server::new("seen", "1.0.0").tools(tools![seen])
}

async fn call(client: &Client) -> String {
    client.call("seen", ()).await.unwrap().text().to_string()
}

#[bowline::test(every_revision, stateless)]
async fn the_span_of_the_client_is_the_parent_of_the_servers(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(server())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    let text = call(&client).await;
    let one = recorder.span(&SpanKind::Client, "tools/call seen");
    let other = recorder.span(&SpanKind::Server, "tools/call seen");
    assert_eq!(other.parent_span_id, one.span_context.span_id());
    assert!(other.parent_span_is_remote);
    assert_eq!(other.span_context.trace_id(), one.span_context.trace_id());
    assert!(text.contains(&one.span_context.span_id().to_string()), "{text}");
    assert!(text.ends_with(&other.span_context.span_id().to_string()), "{text}");
}

#[bowline::test]
async fn the_current_span_is_the_parent_of_a_call(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(server())).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    let span = recorder.tracers.tracer("application").start("answer a user");
    let context = opentelemetry::Context::current_with_span(span);
    let id = context.span().span_context().span_id();
    let context = context.with_baggage([opentelemetry::KeyValue::new("user", "Ada Lovelace")]);
    let text = call(&client).with_context(context).await;
    let call = recorder.span(&SpanKind::Client, "tools/call seen");
    assert_eq!(call.parent_span_id, id);
    assert!(
        text.contains("user=Ada%20Lovelace") && text.contains("Some(\"Ada Lovelace\")"),
        "{text}"
    );
}

#[bowline::test]
async fn a_client_without_a_layer_can_name_the_parent(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(recorder.server(server())).await;
    client.tools().all().await.unwrap();
    let call = client.call("seen", ()).meta("traceparent", PARENT).meta("tracestate", "congo=t61");
    call.await.unwrap();
    let span = recorder.span(&SpanKind::Server, "tools/call seen");
    assert_eq!(span.parent_span_id.to_string(), "b7ad6b7169203331");
    assert_eq!(span.span_context.trace_state().header(), "congo=t61");
}

#[bowline::test]
async fn the_layer_of_a_client_continues_a_trace_that_meta_names(t: Harness) {
    let recorder = Recorder::new();
    let client = t.connect(server()).client(|it| recorder.client(it)).await;
    client.tools().all().await.unwrap();
    let call = client.call("seen", ()).meta("traceparent", PARENT).meta("baggage", "user=ann");
    let text = call.await.unwrap().text().to_string();
    let span = recorder.span(&SpanKind::Client, "tools/call seen");
    assert_eq!(span.parent_span_id.to_string(), "b7ad6b7169203331");
    let id = span.span_context.span_id().to_string();
    assert!(text.contains(&id) && text.contains("user=ann"), "{text}");
}

#[bowline::test]
async fn a_client_without_providers_sends_nothing(t: Harness) {
    let client = t.connect(server()).client(|it| it.layer(bowline_otel::client())).await;
    assert!(call(&client).await.starts_with("[None, None, None]"));
}

#[bowline::test]
async fn the_span_of_code_around_the_server_is_a_link_or_the_parent(t: Harness) {
    let recorder = Recorder::new();
    let span = recorder.tracers.tracer("web").start("POST /mcp");
    let context = opentelemetry::Context::current_with_span(span);
    let id = context.span().span_context().span_id();
    let around = layer::from_fn(move |request: Request, next: Next| {
        next.run(request).with_context(context.clone())
    });
    let client = t.connect(recorder.server(server()).layer(around)).await;
    client.tools().all().await.unwrap();
    client.call("seen", ()).meta("traceparent", PARENT).await.unwrap();
    let served = recorder.span(&SpanKind::Server, "tools/call seen");
    assert_eq!(served.parent_span_id.to_string(), "b7ad6b7169203331");
    let links: Vec<_> = served.links.iter().map(|link| link.span_context.span_id()).collect();
    assert_eq!(links, [id]);
    client.call("seen", ()).await.unwrap();
    let alone = recorder.span(&SpanKind::Server, "tools/call seen");
    assert_eq!((alone.parent_span_id, alone.links.len()), (id, 0));
    assert!(!alone.parent_span_is_remote);
}

#[tokio::test]
async fn the_span_that_an_http_header_names_is_a_link_or_the_parent() {
    let recorder = Recorder::new();
    let header = PARENT.replace("b7ad", "0000");
    let served = post(&recorder, Some(PARENT), Some(&header)).await;
    assert_eq!(served.parent_span_id.to_string(), "b7ad6b7169203331");
    let links: Vec<_> =
        served.links.iter().map(|it| it.span_context.span_id().to_string()).collect();
    assert_eq!(links, ["00006b7169203331"]);
    let alone = post(&recorder, None, Some(&header)).await;
    assert_eq!(alone.parent_span_id.to_string(), "00006b7169203331");
    let twice = post(&recorder, Some(PARENT), Some(PARENT)).await;
    assert_eq!(twice.links.len(), 0);
}

/// Posts a call with a parent in `_meta` and one in the header, and returns the span of the server.
async fn post(
    recorder: &Recorder,
    meta: Option<&str>,
    header: Option<&str>,
) -> opentelemetry_sdk::trace::SpanData {
    let endpoint = recorder.server(server()).http().build().unwrap();
    let revision = bowline_types::revision::Revision::V2026_07_28;
    let mut near = bowline_testing::harness::connect_in_memory(endpoint, revision);
    if let Some(header) = header {
        let name = http::HeaderName::from_static("traceparent");
        near = near.with_header(name, http::HeaderValue::try_from(header).unwrap());
    }
    let client =
        Client::builder("test", "1.0.0").revisions([revision]).connect(near).await.unwrap();
    client.tools().all().await.unwrap();
    let mut call = client.call("seen", ());
    if let Some(meta) = meta {
        call = call.meta("traceparent", meta);
    }
    call.await.unwrap();
    recorder.span(&SpanKind::Server, "tools/call seen")
}
