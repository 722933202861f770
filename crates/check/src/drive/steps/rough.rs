//! What servers have to refuse, in every revision.

use serde_json::json;

use super::super::probe::Probe;

/// A page that has no business with the server.
const FOREIGN: &str = "https://evil.example";

pub(super) async fn unknown_method(probe: &mut Probe) {
    probe.request("bowline/unknown", json!({})).await;
}

pub(super) async fn unknown_notification(probe: &mut Probe) {
    probe.notify("notifications/bowline/unknown", json!({})).await;
    probe.listen().await;
}

pub(super) async fn unknown_names(probe: &mut Probe) {
    let cursor = json!({"cursor": "bowline-no-cursor"});
    if probe.watch.past().declares("tools") {
        let call = json!({"name": "bowline-unknown-tool", "arguments": {}});
        probe.request("tools/call", call).await;
        probe.request("tools/list", cursor.clone()).await;
    }
    if probe.watch.past().declares("resources") {
        probe.request("resources/read", json!({"uri": "bowline-unknown://nothing/here"})).await;
        probe.request("resources/list", cursor.clone()).await;
    }
    if probe.watch.past().declares("prompts") {
        probe.request("prompts/get", json!({"name": "bowline-unknown-prompt"})).await;
        probe.request("prompts/list", cursor).await;
    }
}

pub(super) async fn missing_params(probe: &mut Probe) {
    let requests = [
        ("tools/call", "tools"),
        ("resources/read", "resources"),
        ("prompts/get", "prompts"),
        ("completion/complete", "completions"),
    ];
    for (method, capability) in requests {
        if probe.watch.past().declares(capability) {
            probe.request(method, json!({})).await;
        }
    }
}

/// The message is what a client would send first; only its `Origin` is wrong.
pub(super) async fn origin(probe: &mut Probe) {
    let id = probe.fresh_id();
    let message = match probe.revision.has_handshake() {
        true => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
        false => {
            let params = json!({"_meta": probe.meta()});
            json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": params})
        }
    };
    probe.with_headers(&message, vec![("origin", Some(FOREIGN.to_owned()))]).await;
}

pub(super) async fn array(probe: &mut Probe) {
    probe.send("[]").await;
}

pub(super) async fn no_request(probe: &mut Probe) {
    probe.send(r#"{"jsonrpc":"2.0","params":{}}"#).await;
}

pub(super) async fn no_json(probe: &mut Probe) {
    probe.send("{\"jsonrpc\":\"2.0\",").await;
}
