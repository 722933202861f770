//! The layers that limit and record calls, and the limits that hold without any.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_proto::request::Owner;
use bowline_server::layer::{
    Audit, AuditOutcome, AuditRecord, ConcurrencyLimit, RateLimit, ResultSizeLimit, Timeout,
};
use bowline_server::{Args, Ask, Error, Server, Tool};
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};
use crate::wire::{Wire, call, request};

fn quick(name: &str) -> Tool {
    Tool::new(name, || async { "done" })
}

/// Lets time go by, on the paused clock.
async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn a_tool_is_called_so_often_by_each_caller() {
    let server = Server::new("rates", "1")
        .tool(quick("rare").layer(RateLimit::per_minute(2)))
        .tool(quick("other").layer(RateLimit::per_minute(2)));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for _ in 0..2 {
            assert_eq!(peer.text("rare", json!({})).await, "done");
        }
        let text = peer.failure("rare", json!({})).await;
        assert_eq!(text, "`rare` was called more than 2 times in 60s; try again in 30.0 s");
        assert_eq!(peer.text("other", json!({})).await, "done");
        assert_eq!(Peer::new(&server, revision).text("rare", json!({})).await, "done");
        pass(30).await;
        assert_eq!(peer.text("rare", json!({})).await, "done");
    }
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn a_known_caller_is_the_same_on_every_connection() {
    let server = Server::new("rates", "1").tool(quick("rare").layer(RateLimit::per_minute(1)));
    let as_owner = |subject: &str| {
        let mut peer = Peer::new(&server, Revision::LATEST);
        peer.owner = Owner::known("https://issuer.example", subject);
        peer
    };
    assert_eq!(as_owner("ann").text("rare", json!({})).await, "done");
    as_owner("ann").failure("rare", json!({})).await;
    assert_eq!(as_owner("bob").text("rare", json!({})).await, "done");
}

// spec: COMP-10, COMP-15
#[tokio::test(start_paused = true)]
async fn some_methods_can_be_limited_alone() {
    let limit = RateLimit::new(1, Duration::from_secs(1)).on([Method::CompletionComplete]);
    let server = Server::new("rates", "1").tool(quick("it")).layer(limit);
    let peer = Peer::new(&server, Revision::LATEST);
    let complete = async || peer.ask(Method::CompletionComplete, json!({})).await.unwrap_err();
    assert_eq!(complete().await.code, -32601);
    let error = complete().await;
    let data: Value = error.parse_data().unwrap();
    assert_eq!((error.code, data), (429, json!({ "retryAfterMs": 1001 })));
    for _ in 0..9 {
        assert_eq!(peer.text("it", json!({})).await, "done");
    }
    pass(1).await;
    assert_eq!(complete().await.code, -32601);
}

// spec: TOOL-44, COMP-15
#[tokio::test(start_paused = true)]
async fn requests_are_limited_on_each_connection_without_any_layer() {
    let mut limits = Limits::default();
    limits.requests_per_minute = 3;
    let server = Server::new("rates", "1").tool(quick("it")).limits(limits);
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    for id in [2, 3] {
        assert_eq!(wire.ask(call(id, "it")).await["result"]["content"][0]["text"], "done");
    }
    let refused = wire.ask(request(4, "tools/list", &json!({}))).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(4), &json!(429)));
    assert_eq!(refused["error"]["data"], json!({ "retryAfterMs": 20_001 }));
    pass(20).await;
    assert!(wire.ask(call(5, "it")).await["result"].is_object());
    assert_eq!(Limits::default().requests_per_minute, 1_800_000);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_their_turn_and_too_many_are_refused() {
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let seen = most.clone();
    let work = move || {
        let (running, most) = (running.clone(), most.clone());
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            "done"
        }
    };
    let tool = Tool::new("work", work).layer(ConcurrencyLimit::new(2).waiting(3));
    let peer = Peer::new(&Server::new("busy", "1").tool(tool), Revision::LATEST);
    let calls = (0..6).map(|_| peer.call("work", json!({})));
    let results = futures_util::future::join_all(calls).await;
    let failed: Vec<_> =
        results.into_iter().map(Result::unwrap).filter(|it| it["isError"] == true).collect();
    assert_eq!(failed.len(), 1);
    let text = "`work` is busy: 2 calls run and 3 wait already; try again later";
    assert_eq!(failed[0]["content"][0]["text"], text);
    assert_eq!(seen.load(Ordering::SeqCst), 2);
    // Who stops waiting leaves room for others.
    let begin = || peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "work" })));
    let mut waiting: Vec<_> = (0..5).map(|_| begin()).collect();
    for answer in &mut waiting {
        assert!(futures_util::poll!(answer).is_pending());
    }
    drop(waiting);
    assert_eq!(peer.text("work", json!({})).await, "done");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_ended() {
    let slow = || Tool::new("slow", std::future::pending::<()>);
    let timeout = Timeout::new(Duration::from_secs(30));
    let by_tool = Server::new("slow", "1").tool(slow().layer(timeout));
    let by_server = Server::new("slow", "1").tool(slow()).layer(timeout);
    for server in [by_tool, by_server] {
        for revision in BOTH {
            let text = Peer::new(&server, revision).failure("slow", json!({})).await;
            assert_eq!(text, "`slow` took longer than 30s and was ended");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_neither_ended_nor_counted() {
    let server = Server::new("slow", "1")
        .tool(quick("it"))
        .layer(Timeout::new(Duration::from_secs(1)))
        .layer(ConcurrencyLimit::new(1));
    let peer = Peer::new(&server, Revision::LATEST);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &params));
    assert!(futures_util::poll!(&mut listening).is_pending());
    pass(60).await;
    assert_eq!(peer.text("it", json!({})).await, "done");
    assert!(futures_util::poll!(&mut listening).is_pending());
}

fn long(length: usize) -> Tool {
    Tool::new("long", move || async move { "x".repeat(length) })
}

// spec: TOOL-45
#[tokio::test]
async fn a_result_that_is_too_long_is_not_sent() {
    let limited = Server::new("long", "1").tool(long(1000).layer(ResultSizeLimit::new(1000)));
    let by_default = Server::new("long", "1").tool(long(Limits::default().result));
    for server in [limited, by_default] {
        for revision in BOTH {
            let text = Peer::new(&server, revision).failure("long", json!({})).await;
            assert!(text.starts_with("the result of `tools/call` has "), "{text}");
        }
    }
    let fits = Server::new("long", "1").tool(long(900).layer(ResultSizeLimit::new(1000)));
    assert_eq!(Peer::new(&fits, Revision::LATEST).text("long", json!({})).await.len(), 900);
    assert!(Limits::default().result < Limits::for_client().frame);
}

#[tokio::test]
async fn a_list_that_is_too_long_is_an_error_of_the_request() {
    let server = Server::new("long", "1").tool(quick("it")).layer(ResultSizeLimit::new(10));
    let error = Peer::new(&server, Revision::LATEST).ask(Method::ToolsList, json!({})).await;
    assert_eq!(error.unwrap_err().code, -32603);
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    password: String,
}

/// A server whose calls are recorded.
fn audited(audit: fn(Audit) -> Audit) -> (Server, Arc<Mutex<Vec<AuditRecord>>>) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let written = records.clone();
    let audit = audit(Audit::new(move |record| written.lock().unwrap().push(record)));
    let log_in = |Args(Login { password }): Args<Login>| async move {
        if password == "hunter2" { Ok("in") } else { Err(Error::from("wrong")) }
    };
    let sure = |ask: Ask| async move { Ok::<_, Error>(ask.confirm("Sure?").await?.to_string()) };
    let server = Server::new("audited", "1")
        .tool(Tool::new("log_in", log_in))
        .tool(Tool::new("sure", sure))
        .tool(Tool::new("slow", std::future::pending::<()>))
        .layer(audit);
    (server, records)
}

#[tokio::test(start_paused = true)]
async fn every_call_leaves_one_record() {
    let (server, records) = audited(|audit| audit);
    let mut peer = Peer::with_forms(&server, Revision::LATEST);
    peer.client.info = Some(Implementation::new("cli", "1"));
    peer.owner = Owner::known("https://issuer.example", "ann");
    peer.text("log_in", json!({ "password": "hunter2" })).await;
    peer.failure("log_in", json!({ "password": "?" })).await;
    peer.call("nope", json!({})).await.unwrap_err();
    peer.round("sure", json!({}), json!({}), None).await.asks();
    peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let mut slow = peer.begin(peer.request(Method::ToolsCall, &json!({ "name": "slow" })));
    assert!(futures_util::poll!(&mut slow).is_pending());
    pass(3).await;
    drop(slow);
    let records = records.lock().unwrap();
    let outcomes: Vec<_> = records.iter().map(|it| (it.name.as_deref(), it.outcome)).collect();
    let expected = [
        (Some("log_in"), AuditOutcome::Completed),
        (Some("log_in"), AuditOutcome::Failed),
        (Some("nope"), AuditOutcome::Refused(-32602)),
        (Some("sure"), AuditOutcome::Asked),
        (None, AuditOutcome::Completed),
        (Some("slow"), AuditOutcome::Cancelled),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(records[5].duration, Duration::from_secs(3));
    assert_eq!(records[0].client.as_deref(), Some("cli"));
    assert_eq!(records[5].to_string(), r#""ann" tools/call "slow" Cancelled in 3s"#);
}

#[tokio::test]
async fn the_record_of_a_session_names_what_the_client_did() {
    let (server, records) = audited(|audit| audit);
    for revision in ["2024-11-05", "2025-11-25"] {
        let mut wire = Wire::to(&server);
        wire.initialize_in(revision, json!({})).await;
        assert!(wire.ask(request(2, "ping", &json!({}))).await["result"].is_object());
        wire.hang_up().await;
        let written = std::mem::take(&mut *records.lock().unwrap());
        let written: Vec<_> = written.iter().map(|it| (it.method, it.outcome)).collect();
        assert_eq!(written, [(Method::Initialize, AuditOutcome::Completed)]);
    }
}

// spec: LOG-12
#[tokio::test]
async fn a_record_holds_arguments_only_where_that_is_wanted() {
    let arguments = json!({ "password": "hunter2" });
    let (server, records) = audited(|audit| audit);
    Peer::new(&server, Revision::LATEST).text("log_in", arguments.clone()).await;
    assert!(!format!("{:?}", records.lock().unwrap()).contains("hunter2"));
    let (server, records) = audited(Audit::with_arguments);
    Peer::new(&server, Revision::LATEST).text("log_in", arguments.clone()).await;
    let written = records.lock().unwrap()[0].arguments.clone().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), arguments);
}
