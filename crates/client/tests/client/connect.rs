//! Negotiation: the era of the server, the revision, capabilities and identities.

use std::time::Duration;

use bowline_client::types::implementation::Implementation;
use bowline_client::types::revision::Revision;
use bowline_client::{ClientBuilder, Error, Limits, Result};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::peer::{
    DISCOVERED, Heard, Near, Peer, assert_call_works, both_with, builder, initialized, legacy,
    modern, pair, with_question_tasks, with_tasks,
};

const PROTOCOL: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn asking(builder: ClientBuilder) -> ClientBuilder {
    builder.on_ask(|question| async move { question.decline() })
}

/// Connects while the server does its part, and expects a failure.
async fn fails<F: Future<Output = Peer>>(
    builder: ClientBuilder,
    near: Near,
    serve: F,
) -> (Error, Peer) {
    let (outcome, peer): (Result<_>, _) = tokio::join!(builder.connect(near), serve);
    (outcome.unwrap_err(), peer)
}

// spec: ERA-3, ERA-4, DISC-2, DISC-5, RQM-1, RQM-2, RQM-3
#[tokio::test(start_paused = true)]
async fn a_server_that_answers_the_probe_is_modern() {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let meta = &probe.params["_meta"];
        assert_eq!(meta[PROTOCOL], "2026-07-28");
        assert_eq!(meta[CLIENT], json!({ "name": "tester", "version": "0.1.0" }));
        assert_eq!(meta[CAPABILITIES], with_tasks(&json!({})));
        peer.answer(&probe, DISCOVERED).await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    let client = client.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(client.server_info(), Some(&Implementation::new("scripted", "2")));
    assert_eq!(client.instructions(), Some("Ask first."));
    assert!(client.capabilities().supports_tools());
    assert!(!client.capabilities().supports_prompts());
    peer.gets_nothing().await;
}

// spec: ERA-5, ERA-6, LIFE-1, LIFE-2, LIFE-4, LIFE-5, LIFE-7, LIFE-8, LIFE-19
#[tokio::test(start_paused = true)]
async fn any_other_error_leads_to_a_handshake() {
    for code in [-32601, -32600, -32602, -32603, -32700, -32000, -32001, -32002, 0, -1, 404] {
        let (near, mut peer) = pair();
        let serve = async {
            let probe = peer.request("server/discover").await;
            peer.refuse(&probe, code, "what?").await;
            let handshake = peer.request("initialize").await;
            let expected = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "tester", "version": "0.1.0" },
            });
            assert_eq!(handshake.params, expected);
            peer.gets_nothing().await;
            peer.answer(&handshake, &initialized("2025-11-25")).await;
            peer.notification("notifications/initialized").await;
        };
        let (client, ()) = tokio::join!(builder().connect(near), serve);
        let client = client.unwrap();
        assert_eq!(client.revision(), Revision::V2025_11_25, "{code}");
        assert_eq!(client.server_info(), Some(&Implementation::new("scripted", "1")));
        assert_eq!(client.instructions(), Some("Ask first."));
        peer.gets_nothing().await;
    }
}

// spec: ERA-5
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_discovery_leads_to_a_handshake() {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        peer.answer(&probe, "{}").await;
        peer.shake("2025-06-18").await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    assert_eq!(client.unwrap().revision(), Revision::V2025_06_18);
}

// spec: ERA-5, TIME-1
#[tokio::test(start_paused = true)]
async fn a_probe_without_an_answer_leads_to_a_handshake() {
    let heard = Heard::default();
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let start = Instant::now();
        let handshake = peer.request("initialize").await;
        assert_eq!(start.elapsed(), Limits::default().probe_timeout);
        assert_ne!(handshake.id, probe.id);
        peer.refuse(&probe, -32601, "late").await;
        peer.answer(&handshake, &initialized("2025-11-25")).await;
        peer.notification("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(builder().on_diagnostic(heard.hear()).connect(near), serve);
    assert_eq!(client.unwrap().revision(), Revision::V2025_11_25);
    assert!(heard.all().is_empty(), "a late answer is not reported");
}

// spec: ERA-4, VER-3
#[tokio::test(start_paused = true)]
async fn a_modern_server_without_our_revision_gets_one_from_its_list() {
    let unsupported = |supported: Value| {
        let data = json!({ "supported": supported, "requested": "2026-07-28" });
        json!({ "code": -32022, "message": "no", "data": data })
    };
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let error = unsupported(json!(["2030-01-01", "2025-06-18"]));
        peer.send_json(json!({ "jsonrpc": "2.0", "id": probe.id, "error": error })).await;
        let handshake = peer.shake("2025-06-18").await;
        assert_eq!(handshake.params["protocolVersion"], "2025-06-18");
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    assert_eq!(client.unwrap().revision(), Revision::V2025_06_18);

    let (near, mut peer) = pair();
    let serve = async move {
        let probe = peer.request("server/discover").await;
        let error = unsupported(json!(["2030-01-01"]));
        peer.send_json(json!({ "jsonrpc": "2.0", "id": probe.id, "error": error })).await;
        peer.hears_the_end().await;
        peer
    };
    let (error, _) = fails(builder(), near, serve).await;
    let expected = "connecting: no revision in common: the server speaks 2030-01-01";
    assert_eq!(error.to_string(), expected);
    assert!(error.is_connect() && !error.may_retry());
}

// spec: LIFE-12
#[tokio::test(start_paused = true)]
async fn a_version_that_we_do_not_speak_ends_the_connection() {
    let (near, mut peer) = pair();
    let serve = async move {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        peer.shake("2024-10-07").await;
        peer.hears_the_end().await;
        peer
    };
    let (error, _) = fails(builder(), near, serve).await;
    let expected = "connecting: no revision in common: the server speaks 2024-10-07";
    assert_eq!(error.to_string(), expected);
}

// spec: LIFE-13, LIFE-14
#[tokio::test(start_paused = true)]
async fn the_version_that_the_server_offers_is_spoken() {
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let (client, _peer) = legacy(builder(), revision).await;
        assert_eq!(client.revision(), revision);
    }
}

// spec: LIFE-17, LIFE-18
#[tokio::test(start_paused = true)]
async fn the_error_for_a_refused_handshake_quotes_the_server() {
    let (near, mut peer) = pair();
    let serve = async move {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        let handshake = peer.request("initialize").await;
        peer.refuse(&handshake, -32602, "Unsupported protocol version").await;
        peer.hears_the_end().await;
        peer
    };
    let (error, _) = fails(builder(), near, serve).await;
    assert_eq!(error.rpc().unwrap().code, -32602);
    let expected = "connecting: the server refused to begin: Unsupported protocol version (-32602)";
    assert_eq!(error.to_string(), expected);
}

// spec: LIFE-17, TIME-1, CANC-2
#[tokio::test(start_paused = true)]
async fn a_handshake_without_an_answer_ends_in_time_and_is_not_cancelled() {
    let (near, mut peer) = pair();
    let serve = async move {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        peer.request("initialize").await;
        peer.hears_the_end().await;
        peer
    };
    let start = Instant::now();
    let (error, _) = fails(builder(), near, serve).await;
    assert!(error.is_timeout() && error.may_retry(), "{error}");
    assert_eq!(start.elapsed(), Limits::default().request_timeout);
}

// spec: ERA-7
#[tokio::test(start_paused = true)]
async fn a_client_of_modern_revisions_only_fails_with_a_clear_error() {
    let (near, mut peer) = pair();
    let serve = async move {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "Method not found").await;
        peer.hears_the_end().await;
        peer
    };
    let modern = builder().revisions([Revision::V2026_07_28]);
    let (error, _) = fails(modern, near, serve).await;
    let expected = "connecting: the server seems to need a handshake (it refused the probe: \
                    Method not found (-32601)), which this client does not speak";
    assert_eq!(error.to_string(), expected);
}

// spec: LIFE-7
#[tokio::test(start_paused = true)]
async fn a_client_of_the_handshake_era_alone_does_not_probe() {
    let (near, mut peer) = pair();
    let serve = async {
        let handshake = peer.shake("2025-03-26").await;
        assert_eq!(handshake.params["protocolVersion"], "2025-03-26");
    };
    let old = builder().revisions([Revision::V2024_11_05, Revision::V2025_03_26]);
    let (client, ()) = tokio::join!(old.connect(near), serve);
    assert_eq!(client.unwrap().revision(), Revision::V2025_03_26);
}

// spec: ELIC-1, ELIC-2, ELIC-3
#[tokio::test(start_paused = true)]
async fn capabilities_follow_from_the_handlers() {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let expected = json!({ "elicitation": { "form": {} } });
        assert_eq!(probe.params["_meta"][CAPABILITIES], with_tasks(&expected));
        peer.refuse(&probe, -32601, "what?").await;
        let handshake = peer.shake("2025-11-25").await;
        assert_eq!(handshake.params["capabilities"], with_question_tasks(&expected));
    };
    let (client, ()) = tokio::join!(asking(builder()).connect(near), serve);
    client.unwrap();
}

// spec: CAP-3
#[tokio::test(start_paused = true)]
async fn unknown_capabilities_are_ignored() {
    let unknown = json!({ "telepathy": [1, { "far": null }] });
    let list = json!({ "listChanged": true, "subscribe": true, "telepathy": unknown });
    let call = json!({ "tools": { "call": unknown, "telepathy": 1 }, "telepathy": unknown });
    let tasks = json!({ "list": unknown, "cancel": unknown, "requests": call, "telepathy": 1 });
    let all = json!({
        "telepathy": unknown, "tools": list, "resources": list, "prompts": list,
        "logging": unknown, "completions": unknown, "tasks": tasks,
        "experimental": { "telepathy": unknown }, "extensions": { "com.example/x": unknown },
    });
    for (client, mut peer) in both_with(builder(), &all).await {
        let declared = client.capabilities();
        assert!(declared.supports_tools_list_changed() && declared.supports_prompts_list_changed());
        assert!(declared.supports_resources_subscribe() && declared.supports_logging());
        assert_call_works(&client, &mut peer).await;
    }
}

// spec: ELIC-1
#[tokio::test(start_paused = true)]
async fn elicitation_is_declared_without_modes_where_the_revision_has_none() {
    let (near, mut peer) = pair();
    let serve = async {
        let handshake = peer.shake("2025-06-18").await;
        assert_eq!(handshake.params["capabilities"], json!({ "elicitation": {} }));
    };
    let older = asking(builder()).revisions([Revision::V2025_06_18]);
    let (client, ()) = tokio::join!(older.connect(near), serve);
    client.unwrap();
}

// spec: ELIC-2, RQM-1, RQM-2, RQM-3
#[tokio::test(start_paused = true)]
async fn every_modern_request_says_who_asks_and_what_it_can_do() {
    let (client, mut peer) = modern(asking(builder())).await;
    let serve = async {
        let call = peer.request("tools/call").await;
        let meta = &call.params["_meta"];
        assert_eq!(meta[PROTOCOL], "2026-07-28");
        assert_eq!(meta[CLIENT]["name"], "tester");
        let expected = with_tasks(&json!({ "elicitation": { "form": {} } }));
        assert_eq!(meta[CAPABILITIES], expected);
        peer.answer_text(&call, "done").await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: PING-1, LIFE-6
#[tokio::test(start_paused = true)]
async fn a_server_may_ping_before_it_answers_the_handshake() {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        peer.refuse(&probe, -32601, "what?").await;
        let handshake = peer.request("initialize").await;
        peer.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
        assert_eq!(peer.message().await, json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
        peer.answer(&handshake, &initialized("2025-11-25")).await;
    };
    let (client, ()) = tokio::join!(builder().connect(near), serve);
    client.unwrap();
}

// spec: STDIO-4
#[tokio::test(start_paused = true)]
async fn lines_that_are_no_messages_are_ignored_and_reported() {
    let heard = Heard::default();
    let (near, mut peer) = pair();
    let serve = async {
        peer.send("Starting server…").await;
        peer.send("").await;
        let probe = peer.request("server/discover").await;
        peer.send(r#"{"level":"info","msg":"ready"}"#).await;
        peer.answer(&probe, DISCOVERED).await;
    };
    let (client, ()) = tokio::join!(builder().on_diagnostic(heard.hear()).connect(near), serve);
    assert_eq!(client.unwrap().revision(), Revision::V2026_07_28);
    let heard = heard.all();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert!(heard[0].ends_with(": Starting server…"), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_writes_nothing_but_noise_is_given_up() {
    let (near, mut peer) = pair();
    let serve = async move {
        peer.request("server/discover").await;
        for line in 0..=Limits::default().noise {
            peer.send(&format!("line {line}")).await;
        }
        peer.hears_the_end().await;
        peer
    };
    let (error, _) = fails(builder(), near, serve).await;
    let expected = "connecting: the server writes lines that are no protocol, such as `line 100`";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_exits_before_it_answers_is_reported_as_closed() {
    let (near, mut peer) = pair();
    let connecting = tokio::spawn(builder().connect(near));
    peer.request("server/discover").await;
    drop(peer);
    let error = connecting.await.unwrap().unwrap_err();
    assert!(error.is_closed() && error.is_connect() && error.may_retry(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_connect_closes_the_channel() {
    let (near, mut peer) = pair();
    let connecting = tokio::time::timeout(Duration::from_secs(1), builder().connect(near));
    let (outcome, _) = tokio::join!(connecting, peer.request("server/discover"));
    outcome.unwrap_err();
    peer.hears_the_end().await;
}
