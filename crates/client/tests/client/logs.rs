//! Log messages: the level is set as each era does it.

use bowline_client::types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_client::types::revision::Revision;
use serde_json::json;

use crate::peer::{Heard, assert_call_works, builder, initialized, legacy, modern, pair};

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn keep(heard: &Heard) -> impl Fn(LogMessageParams) + Send + Sync + 'static + use<> {
    let heard = heard.clone();
    move |message| heard.push(format!("{}: {}", message.level, message.data))
}

fn message(level: &str) -> String {
    let params = json!({ "level": level, "data": "disk" });
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }).to_string()
}

// spec: LOG-11, LOG-19
#[tokio::test(start_paused = true)]
async fn a_modern_call_carries_the_log_level() {
    let heard = Heard::default();
    let builder = builder().on_log(LoggingLevel::Warning, keep(&heard));
    let (client, mut peer) = modern(builder).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        assert_eq!(request.params["_meta"][LEVEL], "warning");
        peer.send(&message("error")).await;
        peer.answer_text(&request, "one").await;
        let request = peer.request("tools/call").await;
        assert_eq!(request.params["_meta"][LEVEL], "debug");
        peer.answer_text(&request, "two").await;
    };
    let calls = async {
        client.call("work", ()).await.unwrap();
        client.call("work", ()).log_level(LoggingLevel::Debug).await.unwrap();
    };
    tokio::join!(calls, serve);
    assert_eq!(heard.all(), [r#"error: "disk""#]);
}

// spec: LOG-18
#[tokio::test(start_paused = true)]
async fn a_modern_call_without_a_handler_carries_no_log_level() {
    let (client, mut peer) = modern(builder()).await;
    let serve = async {
        let request = peer.request("tools/call").await;
        assert_eq!(request.params["_meta"].get(LEVEL), None);
        peer.answer_text(&request, "one").await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    outcome.unwrap();
}

// spec: LOG-2
#[tokio::test(start_paused = true)]
async fn the_log_level_of_a_session_is_set_once() {
    let (heard, diagnostics) = (Heard::default(), Heard::default());
    let builder =
        builder().on_log(LoggingLevel::Notice, keep(&heard)).on_diagnostic(diagnostics.hear());
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        peer.shake("2025-11-25").await;
        peer.notification("notifications/initialized").await;
        let request = peer.request("logging/setLevel").await;
        assert_eq!(request.params, json!({ "level": "notice" }));
        peer.answer(&request, "{}").await;
    };
    let (client, ()) = tokio::join!(builder.connect(near), serve);
    let client = client.unwrap();
    let serve = async {
        peer.send(&message("alert")).await;
        let request = peer.request("tools/call").await;
        assert_eq!(request.params.get("_meta"), None);
        peer.answer_text(&request, "done").await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    outcome.unwrap();
    assert_eq!(heard.all(), [r#"alert: "disk""#]);
    assert_eq!(diagnostics.all(), [""; 0]);
}

// spec: LOG-2, CAP-2
#[tokio::test(start_paused = true)]
async fn a_session_without_logging_gets_no_log_level() {
    let (near, mut peer) = pair();
    let serve = async {
        let handshake = peer.request("initialize").await;
        let result = initialized("2025-11-25").replace(r#""logging":{},"#, "");
        assert_ne!(result, initialized("2025-11-25"));
        peer.answer(&handshake, &result).await;
        peer.notification("notifications/initialized").await;
    };
    let builder = builder().revisions([Revision::V2025_11_25]).on_log(LoggingLevel::Info, |_| {});
    let (client, ()) = tokio::join!(builder.connect(near), serve);
    let _client = client.unwrap();
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_does_not_end_the_connection() {
    let builder = builder().on_diagnostic(|_| panic!("no log file"));
    let (client, mut peer) = legacy(builder, Revision::V2025_06_18).await;
    peer.send("noise").await;
    assert_call_works(&client, &mut peer).await;
}
