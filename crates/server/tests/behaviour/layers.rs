//! Layers around all calls, and around those of one tool.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::request::{Request, Response, Success};
use bowline_server::layer::{self, Next};
use bowline_server::{Ask, Context, Server, Tool};
use bowline_types::elicitation::schema::{FormSchema, StringSchema};
use bowline_types::elicitation::{ElicitParams, ElicitResult};
use bowline_types::error::ErrorObject;
use bowline_types::input::{InputRequests, InputRequired};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_util::future::BoxFuture;
use serde_json::json;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::peer::{BOTH, Peer, accept};

type Trace = Arc<Mutex<Vec<&'static str>>>;

/// A handler of a layer that says when it is passed in either direction.
fn tracing(
    trace: &Trace,
    inwards: &'static str,
    outwards: &'static str,
) -> impl Fn(Request, Next) -> BoxFuture<'static, Response> + Clone + Send + Sync + use<> {
    let trace = trace.clone();
    move |request, next| {
        let trace = trace.clone();
        Box::pin(async move {
            trace.lock().unwrap().push(inwards);
            let response = next.run(request).await;
            trace.lock().unwrap().push(outwards);
            response
        })
    }
}

#[tokio::test]
async fn the_last_layer_is_the_outermost_and_tools_are_inside_of_servers() {
    let trace = Trace::default();
    let tool = Tool::new("it", || async { "done" })
        .layer(layer::from_fn(tracing(&trace, "d", "D")))
        .layer(layer::from_fn(tracing(&trace, "c", "C")));
    let server = Server::new("layers", "1")
        .layer(layer::from_fn(tracing(&trace, "b", "B")))
        .tool(tool)
        .layer(layer::from_fn(tracing(&trace, "a", "A")));
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.text("it", json!({})).await, "done");
    assert_eq!(trace.lock().unwrap().concat(), "abcdDCBA");
}

#[tokio::test]
async fn a_layer_may_answer_by_itself() {
    let refuse = layer::from_fn(|request: Request, next: Next| async move {
        match request.parts.method {
            Method::ToolsCall => Err(ErrorObject::new(-32000, "not today")),
            _ => next.run(request).await,
        }
    });
    let server = Server::new("closed", "1").tool(Tool::new("it", || async {})).layer(refuse);
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.call("it", json!({})).await.unwrap_err().message, "not today");
    assert!(peer.ask(Method::ToolsList, json!({})).await.is_ok());
}

#[tokio::test]
async fn what_a_layer_attaches_reaches_the_handler() {
    let attach = || {
        layer::from_fn(|mut request: Request, next: Next| async move {
            request.parts.extensions.insert("acme");
            next.run(request).await
        })
    };
    let tell = |context: Context| async move { *context.extension::<&str>().unwrap() };
    let by_server = Server::new("tenants", "1").tool(Tool::new("it", tell)).layer(attach());
    let by_tool = Server::new("tenants", "1").tool(Tool::new("it", tell).layer(attach()));
    for server in [by_server, by_tool] {
        assert_eq!(Peer::new(&server, Revision::LATEST).text("it", json!({})).await, "acme");
    }
}

fn slow() -> Tool {
    Tool::new("slow", std::future::pending::<()>)
}

// spec: TOOL-35
#[tokio::test(start_paused = true)]
async fn an_error_in_a_layer_of_a_tool_is_reported_to_the_model() {
    let tool = slow().layer(TimeoutLayer::new(Duration::from_secs(1)));
    let server = Server::new("slow", "1").tool(tool);
    for revision in BOTH {
        let text = Peer::new(&server, revision).failure("slow", json!({})).await;
        assert_eq!(text, "request timed out");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_in_a_layer_of_a_server_is_reported_to_the_client() {
    let server =
        Server::new("slow", "1").tool(slow()).layer(TimeoutLayer::new(Duration::from_secs(1)));
    let error = Peer::new(&server, Revision::LATEST).call("slow", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32603, "request timed out"));
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn a_limit_makes_calls_wait() {
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let seen = most.clone();
    let work = move || {
        let (running, most) = (running.clone(), most.clone());
        async move {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
        }
    };
    let tool = Tool::new("work", work).layer(ConcurrencyLimitLayer::new(2));
    let server = Server::new("busy", "1").tool(tool);
    let peer = Peer::new(&server, Revision::LATEST);
    // The limit outlives changes of the registry.
    let first = peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "work" })));
    server.registry().insert(Tool::new("other", || async {})).unwrap();
    let rest = (0..9).map(|_| peer.call("work", json!({})));
    let (first, rest) = tokio::join!(first, futures_util::future::join_all(rest));
    assert!(first.unwrap().is_ok() && rest.iter().all(Result::is_ok));
    assert_eq!(seen.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_tool_inside_of_layers_can_ask() {
    let tool = Tool::new("ask", |ask: Ask| async move {
        ask.confirm("Sure?").await.map(|sure| sure.to_string())
    });
    let tool = tool.layer(ConcurrencyLimitLayer::new(1));
    let peer = Peer::with_forms(&Server::new("ask", "1").tool(tool), Revision::LATEST);
    let (_, state) = peer.round("ask", json!({}), json!({}), None).await.asks();
    let answers = json!({ "q1": accept(&json!({ "confirm": true })) });
    assert_eq!(peer.round("ask", json!({}), answers, Some(&state)).await.text(), "true");
}

// spec: TOOL-34
#[tokio::test]
async fn a_layer_that_panics_fails_only_its_own_call() {
    let panics = || layer::from_fn(async |_: Request, _: Next| -> Response { panic!("42") });
    let tool = Tool::new("it", || async {}).layer(panics());
    let server = Server::new("panics", "1").tool(tool).tool(Tool::new("fine", || async { "fine" }));
    let peer = Peer::new(&server, Revision::LATEST);
    let error = peer.call("it", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32603, "the tool `it` panicked"));
    assert_eq!(peer.text("fine", json!({})).await, "fine");
    let peer = Peer::new(&server.layer(panics()), Revision::LATEST);
    let error = peer.call("fine", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32603);
    assert_eq!(error.message, "a layer panicked while it served `tools/call`");
}

#[tokio::test]
async fn a_layer_that_makes_up_a_request_gets_an_error() {
    let swap = layer::from_fn(|mut request: Request, next: Next| async move {
        request.parts.extensions = Default::default();
        next.run(request).await
    });
    let server = Server::new("swap", "1").tool(Tool::new("it", || async {}).layer(swap));
    let error = Peer::new(&server, Revision::LATEST).call("it", json!({})).await.unwrap_err();
    assert!(error.message.contains("replaced the request"), "{error}");
}

// spec: MRTR-2, MRTR-4, MRTR-8
#[tokio::test]
async fn a_layer_may_ask_in_the_words_of_the_wire() {
    let ask = layer::from_fn(|mut request: Request, next: Next| async move {
        match request.parts.input.take() {
            Some(input) if input.state.as_deref() == Some("asked") => {
                let answer: Option<ElicitResult> = input.responses.parse("name").unwrap();
                request.parts.extensions.insert(answer);
                next.run(request).await
            }
            _ => {
                let mut requests = InputRequests::new();
                let form = FormSchema::new().with_required("name", StringSchema::new());
                requests.insert("name", ElicitParams::form("Who?", form).into()).unwrap();
                let required = InputRequired::new(requests).with_request_state("asked");
                Success::input_required(required, request.parts.revision)
            }
        }
    });
    let greet = |context: Context| async move {
        let answer = context.extension::<Option<ElicitResult>>().cloned().flatten();
        format!("{:?}", answer.and_then(|answer| answer.content))
    };
    let server = Server::new("raw", "1").tool(Tool::new("greet", greet).layer(ask));
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (questions, state) = peer.round("greet", json!({}), json!({}), None).await.asks();
    assert_eq!(questions, [("name".to_owned(), "Who?".to_owned())]);
    let answers = json!({ "name": accept(&json!({ "name": "Ann" })) });
    let done = peer.round("greet", json!({}), answers, Some(&state)).await;
    assert_eq!(done.text(), r#"Some({"name":"Ann"})"#);
}
