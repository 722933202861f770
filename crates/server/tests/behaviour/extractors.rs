//! What handlers can take beside their arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bowline_proto::request::{ClientProfile, Owner, Request};
use bowline_server::extract::{FromCall, HeaderValue};
use bowline_server::{
    Call, Cancel, Context, Log, Notify, Progress, Registry, Result, Server, State, Tool,
};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::id::ProgressToken;
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;
use serde_json::json;

use crate::peer::{BOTH, EVERY, Peer};

fn server(tool: Tool) -> Server {
    Server::new("extractors", "1").tool(tool)
}

#[tokio::test]
async fn state_is_shared_by_all_calls() {
    let count = |State(counter): State<Arc<AtomicU32>>| async move {
        counter.fetch_add(1, Ordering::Relaxed)
    };
    let server = server(Tool::new("count", count)).state(Arc::new(AtomicU32::new(0)));
    let old = Peer::new(&server, Revision::V2024_11_05);
    let new = Peer::new(&server, Revision::LATEST);
    assert_eq!(old.text("count", json!({})).await, "0");
    assert_eq!(new.text("count", json!({})).await, "1");
}

#[tokio::test]
async fn the_context_tells_who_calls() {
    let tell = |context: Context| async move {
        let client = context.client().map_or("unnamed", |client| client.name.as_str());
        let subject = context.owner().identity().map_or("anonymous", |(_, subject)| subject);
        let forms = context.capabilities().supports_form_elicitation();
        format!("{client} {subject} {} {forms}", context.revision())
    };
    let server = server(Tool::new("tell", tell));
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        assert_eq!(
            peer.text("tell", json!({})).await,
            format!("unnamed anonymous {revision} false")
        );
        let mut peer = Peer::with_forms(&server, revision);
        let info = Some(Implementation::new("cli", "1"));
        peer.client = ClientProfile { info, ..peer.client };
        peer.owner = Owner::known("https://issuer.example", "ann");
        assert_eq!(peer.text("tell", json!({})).await, format!("cli ann {revision} true"));
    }
}

/// A request for a tool as the HTTP endpoint makes it, with a header and a value of an outer layer.
fn over_http(peer: &Peer, name: &str) -> Request {
    let (mut parts, ()) =
        http::Request::builder().header("X-Tenant", "north").body(()).unwrap().into_parts();
    parts.extensions.insert(7_u32);
    parts.extensions.insert("from HTTP");
    let mut request = peer.request(Method::ToolsCall, &json!({ "name": name }));
    request.parts.extensions.insert(parts);
    request
}

async fn text(peer: &Peer, request: Request) -> String {
    let success = peer.send(request).await.unwrap();
    let result: CallToolResult = success.body().parse().unwrap();
    result.text()
}

#[tokio::test]
async fn headers_of_the_http_request_are_in_the_context() {
    let tell = |context: Context| async move {
        let tenant = context.headers().get("x-tenant").map(HeaderValue::to_str);
        format!("{tenant:?} {:?} {:?}", context.header("X-TENANT"), context.header("not a name"))
    };
    let peer = Peer::new(&server(Tool::new("tell", tell)), Revision::LATEST);
    let expected = r#"Some(Ok("north")) Some("north") None"#;
    assert_eq!(text(&peer, over_http(&peer, "tell")).await, expected);
    assert_eq!(peer.text("tell", json!({})).await, "None None None");
}

#[tokio::test]
async fn what_a_layer_around_the_endpoint_attached_is_an_extension() {
    let tell = |context: Context| async move {
        format!("{:?} {:?}", context.extension::<u32>(), context.extension::<&str>())
    };
    let peer = Peer::new(&server(Tool::new("tell", tell)), Revision::LATEST);
    let mut request = over_http(&peer, "tell");
    assert_eq!(text(&peer, request.clone()).await, r#"Some(7) Some("from HTTP")"#);
    request.parts.extensions.insert("from a layer of the server");
    assert_eq!(text(&peer, request).await, r#"Some(7) Some("from a layer of the server")"#);
}

#[tokio::test]
async fn the_registry_and_the_notifier_are_extractors() {
    let learn = |registry: Registry, notify: Notify| async move {
        notify.resource_updated("a://b");
        registry.insert(Tool::new("learned", || async { "yes" }))
    };
    let peer = Peer::new(&server(Tool::new("learn", learn)), Revision::LATEST);
    assert_eq!(peer.text("learn", json!({})).await, "");
    assert_eq!(peer.text("learned", json!({})).await, "yes");
}

#[tokio::test]
async fn the_context_tells_what_stands_in_meta() {
    let tell = |context: Context| async move {
        let own: Option<u8> = context.meta("example.com/own");
        let wrong: Option<u8> = context.meta("traceparent");
        format!("{:?} {own:?} {wrong:?} {:?}", context.traceparent(), context.baggage())
    };
    let mut peer = Peer::new(&server(Tool::new("tell", tell)), Revision::LATEST);
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    peer.meta = json!({ "traceparent": parent, "example.com/own": 7 });
    let expected = format!("Some({parent:?}) Some(7) None None");
    assert_eq!(peer.text("tell", json!({})).await, expected);
}

// spec: META-11
#[tokio::test]
async fn a_trace_that_breaks_the_rules_is_left_out() {
    let tell = |context: Context| async move {
        let trace = [context.traceparent(), context.tracestate(), context.baggage()];
        format!("{:?}", trace.map(|text| text.is_some()))
    };
    let server = server(Tool::new("tell", tell));
    for revision in BOTH {
        let mut peer = Peer::new(&server, revision);
        peer.meta = json!({ "traceparent": "00-ab-cd-01", "tracestate": 7, "baggage": "a=b c" });
        assert_eq!(peer.text("tell", json!({})).await, "[false, false, false]");
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        peer.meta = json!({ "traceparent": parent, "tracestate": "a=1", "baggage": "b=c" });
        assert_eq!(peer.text("tell", json!({})).await, "[true, true, true]");
    }
}

#[derive(Clone)]
struct Tenant(&'static str);

impl FromCall for Tenant {
    async fn from_call(call: &Call) -> Result<Self> {
        let tenant = call.parts().extensions.get::<Tenant>();
        tenant.cloned().ok_or_else(|| "this call belongs to no tenant".into())
    }
}

#[tokio::test]
async fn users_can_write_extractors() {
    let tell = |Tenant(name): Tenant, context: Context| async move {
        assert!(context.extension::<Tenant>().is_some());
        name
    };
    let peer = Peer::new(&server(Tool::new("tell", tell)), Revision::LATEST);
    assert_eq!(peer.failure("tell", json!({})).await, "this call belongs to no tenant");
    let mut request = peer.request(Method::ToolsCall, &json!({ "name": "tell" }));
    request.parts.extensions.insert(Tenant("acme"));
    let success = peer.send(request).await.unwrap();
    assert!(success.body().as_str().contains("acme"), "{success:?}");
}

async fn process(progress: Progress) {
    let mut bar = progress.total(3_usize);
    for file in ["a", "b", "c"] {
        tokio::time::advance(Duration::from_millis(10)).await;
        bar.inc(file);
    }
}

fn with_token(server: &Server, revision: Revision) -> Peer {
    let mut peer = Peer::new(server, revision);
    peer.progress = Some(ProgressToken("token".into()));
    peer
}

// spec: PROG-3, PROG-4, PROG-6
#[tokio::test(start_paused = true)]
async fn progress_goes_to_clients_that_sent_a_token() {
    for revision in EVERY {
        let peer = with_token(&server(Tool::new("process", process)), revision);
        peer.call("process", json!({})).await.unwrap();
        let told = peer.inbox.progress();
        let told: Vec<_> =
            told.iter().map(|it| (it.progress, it.total, it.message.as_deref())).collect();
        let expected =
            [(1.0, Some(3.0), Some("a")), (2.0, Some(3.0), Some("b")), (3.0, Some(3.0), Some("c"))];
        assert_eq!(told, expected);
    }
}

// spec: PROG-13
#[tokio::test(start_paused = true)]
async fn progress_is_not_told_to_those_who_do_not() {
    for revision in BOTH {
        let peer = Peer::new(&server(Tool::new("process", process)), revision);
        peer.call("process", json!({})).await.unwrap();
        assert!(peer.inbox.progress().is_empty());
    }
}

// spec: PROG-10
#[tokio::test(start_paused = true)]
async fn progress_that_comes_too_fast_is_left_out_but_not_its_end() {
    let rush = |progress: Progress| async move {
        let mut bar = progress.total(1000);
        for _ in 0..1000 {
            bar.inc("");
        }
    };
    let peer = with_token(&server(Tool::new("rush", rush)), Revision::LATEST);
    peer.call("rush", json!({})).await.unwrap();
    let told = peer.inbox.progress();
    assert_eq!(told.iter().map(|it| it.progress).collect::<Vec<_>>(), [1.0, 1000.0]);
    assert_eq!(told[0].message, None);
}

// spec: PROG-4, PROG-5
#[tokio::test(start_paused = true)]
async fn progress_only_ever_grows() {
    let wander = |progress: Progress| async move {
        for done in [0.5, 0.5, 0.25, f64::NAN, f64::INFINITY, 0.75] {
            tokio::time::advance(Duration::from_millis(10)).await;
            progress.report(done, None, "wandering");
        }
    };
    let peer = with_token(&server(Tool::new("wander", wander)), Revision::LATEST);
    peer.call("wander", json!({})).await.unwrap();
    let told: Vec<_> = peer.inbox.progress().iter().map(|it| it.progress).collect();
    assert_eq!(told, [0.5, 0.75]);
}

// spec: LOG-9, LOG-19
#[tokio::test]
async fn log_messages_bear_the_name_of_their_tool() {
    let speak = |log: Log| async move {
        log.debug("quiet");
        log.info(format_args!("{} things", 2));
        log.data(LoggingLevel::Error, &json!({ "code": 7 }));
    };
    let server = server(Tool::new("speak", speak));
    for revision in BOTH {
        let mut peer = Peer::new(&server, revision);
        peer.log_level = Some(LoggingLevel::Info);
        peer.call("speak", json!({})).await.unwrap();
        let logs = peer.inbox.logs();
        let said: Vec<_> = logs.iter().map(|log| (log.level, log.data.as_str())).collect();
        let expected =
            [(LoggingLevel::Info, r#""2 things""#), (LoggingLevel::Error, r#"{"code":7}"#)];
        assert_eq!(said, expected);
        assert_eq!(logs[0].logger.as_deref(), Some("speak"));
    }
}

#[tokio::test]
async fn every_level_has_its_method() {
    let speak = |log: Log| async move {
        log.debug("a");
        log.info("a");
        log.notice("a");
        log.warning("a");
        log.error("a");
        log.critical("a");
        log.alert("a");
        log.emergency("a");
    };
    let mut peer = Peer::new(&server(Tool::new("speak", speak)), Revision::LATEST);
    peer.log_level = Some(LoggingLevel::Debug);
    peer.call("speak", json!({})).await.unwrap();
    let levels: Vec<_> = peer.inbox.logs().iter().map(|log| log.level).collect();
    assert_eq!(levels, LoggingLevel::ALL);
}

// spec: PROG-7, PROG-8, CANC-20
#[tokio::test(start_paused = true)]
async fn nothing_is_said_after_the_answer() {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let leak = move |progress: Progress, log: Log| {
        let sender = sender.clone();
        async move {
            progress.report(1, None, "in time");
            sender.send((progress, log)).unwrap();
        }
    };
    let peer = with_token(&server(Tool::new("leak", leak)), Revision::LATEST);
    peer.call("leak", json!({})).await.unwrap();
    let (progress, log) = { receiver }.recv().await.unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    progress.report(2, None, "too late");
    log.error("too late");
    assert_eq!(peer.inbox.progress().len(), 1);
    assert!(peer.inbox.logs().is_empty());
}

/// Lets time go by, on the paused clock.
async fn pass(duration: Duration) {
    _ = tokio::time::timeout(duration, std::future::pending::<()>()).await;
}

/// A handler that says when it has begun, been cancelled, and ended.
fn patient(steps: &Arc<AtomicU32>, cleanup: Duration) -> Tool {
    let steps = steps.clone();
    let wait = move |cancel: Cancel| {
        let steps = steps.clone();
        async move {
            assert!(!cancel.is_cancelled());
            cancel.cancelled().await;
            steps.fetch_add(1, Ordering::SeqCst);
            pass(cleanup).await;
            steps.fetch_add(1, Ordering::SeqCst);
        }
    };
    Tool::new("wait", wait).grace(Duration::from_secs(2))
}

async fn cancel_after_a_poll(tool: Tool) {
    let peer = Peer::new(&server(tool), Revision::LATEST);
    let mut answer = peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "wait" })));
    assert!(futures_util::poll!(&mut answer).is_pending());
    drop(answer);
    pass(Duration::from_secs(10)).await;
}

// spec: CANC-5
#[tokio::test(start_paused = true)]
async fn a_handler_may_clean_up_after_a_cancellation() {
    let steps = Arc::new(AtomicU32::new(0));
    cancel_after_a_poll(patient(&steps, Duration::from_secs(1))).await;
    assert_eq!(steps.load(Ordering::SeqCst), 2);
}

// spec: CANC-6
#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_end_after_a_cancellation_is_dropped() {
    let steps = Arc::new(AtomicU32::new(0));
    cancel_after_a_poll(patient(&steps, Duration::from_secs(3))).await;
    assert_eq!(steps.load(Ordering::SeqCst), 1);
}
