//! Consent before tool calls, and audit records after them.

use std::sync::Arc;
use std::time::Duration;

use bowline_client::types::tool::ToolAnnotations;
use bowline_client::{ClientBuilder, Consent, ToolCall, ToolCallRecord};
use futures_util::poll;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::peer::{Heard, Peer, both, builder, modern};

/// Keeps the audit records.
fn audited(builder: ClientBuilder, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.audit(move |record: &ToolCallRecord| {
        let (tool, bytes) = (record.tool(), record.argument_bytes());
        heard.push(format!("{tool} {bytes} {:?} {:?}", record.outcome(), record.duration()));
    })
}

fn denying(builder: ClientBuilder) -> ClientBuilder {
    builder.on_call(|_| async { Consent::Deny("the user said no".to_owned()) })
}

async fn serve_one(peer: &mut Peer) {
    let request = peer.request("tools/call").await;
    peer.answer_text(&request, "done").await;
}

// spec: TOOL-2, TOOL-5, TOOL-46, TOOL-47
#[tokio::test(start_paused = true)]
async fn a_call_is_shown_whole_before_it_is_made() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().label("files").on_call(move |call: ToolCall| {
        let server = call.server().map(|it| it.name.clone());
        let arguments = call.arguments().as_str();
        log.push(format!("{:?} {server:?} {} {arguments}", call.label(), call.tool()));
        async { Consent::Allow }
    });
    for (client, mut peer) in both(builder).await {
        let call = client.call("delete", json!({ "path": "/" }));
        let (outcome, ()) = tokio::join!(call.into_future(), serve_one(&mut peer));
        assert_eq!(outcome.unwrap().text(), "done");
    }
    assert_eq!(heard.all(), [r#"Some("files") Some("scripted") delete {"path":"/"}"#; 2]);
}

// spec: TRUST-4, TOOL-2
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_the_user_has_agreed() {
    let agreed = Arc::new(Notify::new());
    let user = Arc::clone(&agreed);
    let builder = builder().on_call(move |_| {
        let user = Arc::clone(&user);
        async move {
            user.notified().await;
            Consent::Allow
        }
    });
    for (client, mut peer) in both(builder).await {
        let mut call = client.call("delete", ()).into_future();
        assert!(poll!(&mut call).is_pending());
        peer.gets_nothing().await;
        agreed.notify_one();
        let (outcome, ()) = tokio::join!(call, serve_one(&mut peer));
        assert_eq!(outcome.unwrap().text(), "done");
    }
}

// spec: TRUST-4, TOOL-2
#[tokio::test(start_paused = true)]
async fn a_call_that_is_denied_is_never_sent() {
    for (client, mut peer) in both(denying(builder())).await {
        let error = client.call("delete", ()).await.unwrap_err();
        assert_eq!(error.to_string(), "calling `delete`: it was not allowed: the user said no");
        assert!(error.is_denied() && !error.is_refused() && !error.may_retry());
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_hook_every_call_is_made() {
    for (client, mut peer) in both(builder()).await {
        let call = client.call("delete", ());
        let (outcome, ()) = tokio::join!(call.into_future(), serve_one(&mut peer));
        outcome.unwrap();
    }
}

/// The hints of a call after the tool was listed as read-only.
async fn taken_for(builder: ClientBuilder) -> Vec<String> {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder.on_call(move |call: ToolCall| {
        let claimed = call.claimed_annotations().map(ToolAnnotations::is_read_only);
        log.push(format!("{claimed:?} {}", call.hints().is_read_only()));
        async { Consent::Deny(String::new()) }
    });
    for (client, mut peer) in both(builder).await {
        assert!(client.call("peek", ()).await.unwrap_err().is_denied());
        let serve = async {
            let request = peer.request("tools/list").await;
            let tool = json!({
                "name": "peek",
                "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true },
            });
            let result = json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "public", "tools": [tool]
            });
            peer.answer(&request, &result.to_string()).await;
        };
        tokio::join!(client.tools().all(), serve).0.unwrap();
        assert!(client.call("peek", ()).await.unwrap_err().is_denied());
    }
    heard.all()
}

// spec: TOOL-27, TOOL-28, TRUST-5
#[tokio::test(start_paused = true)]
async fn annotations_count_only_if_the_server_is_trusted() {
    assert_eq!(taken_for(builder()).await, ["None false", "Some(true) false"].repeat(2));
    let trusting = builder().trust_annotations();
    assert_eq!(taken_for(trusting).await, ["None false", "Some(true) true"].repeat(2));
}

// spec: TOOL-50
#[tokio::test(start_paused = true)]
async fn every_call_leaves_a_record_however_it_ends() {
    let heard = Heard::default();
    for (client, mut peer) in both(audited(builder(), &heard)).await {
        let serve = async {
            let slow = peer.request("tools/call").await;
            sleep(Duration::from_secs(3)).await;
            peer.answer_text(&slow, "done").await;
            let failing = peer.request("tools/call").await;
            let failed = json!({ "resultType": "complete", "content": [], "isError": true });
            peer.answer(&failing, &failed.to_string()).await;
            let unknown = peer.request("tools/call").await;
            peer.refuse(&unknown, -32602, "no tool is named `unknown`").await;
        };
        let calls = async {
            client.call("slow", json!({ "a": 1 })).await.unwrap();
            client.call("failing", ()).await.unwrap();
            client.call("unknown", ()).await.unwrap_err();
        };
        tokio::join!(calls, serve);
        let silent = client.call("silent", ()).timeout(Duration::from_secs(2));
        assert!(silent.await.unwrap_err().is_timeout());
        client.close().await;
        client.call("closed", ()).await.unwrap_err();
    }
    let expected = [
        "slow 7 Succeeded 3s",
        "failing 2 ToolFailed 0ns",
        "unknown 2 Refused(-32602) 0ns",
        "silent 2 TimedOut 2s",
        "closed 2 Closed 0ns",
    ];
    assert_eq!(heard.all(), expected.repeat(2));
}

// spec: TOOL-50
#[tokio::test(start_paused = true)]
async fn a_call_that_is_denied_or_dropped_leaves_a_record_too() {
    let heard = Heard::default();
    let (client, _peer) = modern(denying(audited(builder(), &heard))).await;
    client.call("delete", ()).await.unwrap_err();
    let (client, mut peer) = modern(audited(builder(), &heard)).await;
    let mut call = client.call("slow", ()).into_future();
    assert!(poll!(&mut call).is_pending());
    peer.request("tools/call").await;
    drop(call);
    peer.notification("notifications/cancelled").await;
    assert_eq!(heard.all(), ["delete 2 Denied 0ns", "slow 2 Cancelled 0ns"]);
}

// spec: TOOL-50
#[tokio::test(start_paused = true)]
async fn the_duration_of_a_record_excludes_the_time_for_consent() {
    let heard = Heard::default();
    let builder = audited(builder(), &heard).on_call(|_| async {
        sleep(Duration::from_secs(60)).await;
        Consent::Allow
    });
    let (client, mut peer) = modern(builder).await;
    let call = client.call("quick", ());
    let (outcome, ()) = tokio::join!(call.into_future(), serve_one(&mut peer));
    outcome.unwrap();
    assert_eq!(heard.all(), ["quick 2 Succeeded 0ns"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_audit_hook_is_contained() {
    let builder = builder().audit(|_| panic!("no disk"));
    let (client, mut peer) = modern(builder).await;
    let call = client.call("quick", ());
    let (outcome, ()) = tokio::join!(call.into_future(), serve_one(&mut peer));
    assert_eq!(outcome.unwrap().text(), "done");
}
