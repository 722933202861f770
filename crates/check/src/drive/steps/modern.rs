//! Steps of the revision without a handshake.

use bowline_proto::mirror;
use bowline_types::meta::key;
use serde_json::{Value, json};

use super::super::probe::Probe;
use super::features::{CallableTool, callable_tools};
use crate::past::Carrier;

/// The name of the extension of tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

pub(super) async fn listens(probe: &mut Probe) {
    let offered = [
        "tools.listChanged",
        "prompts.listChanged",
        "resources.listChanged",
        "resources.subscribe",
    ];
    if !offered.iter().any(|it| probe.watch.past().declares(it)) {
        return;
    }
    let id = probe.fresh_id();
    let filter = json!({"toolsListChanged": true, "promptsListChanged": true});
    let params = json!({"notifications": filter, "_meta": probe.meta()});
    let message =
        json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params});
    probe.send(&message.to_string()).await;
    probe.listen().await;
    probe.notify("notifications/cancelled", json!({"requestId": id})).await;
}

pub(super) async fn tasks(probe: &mut Probe) {
    let extensions = probe.watch.past().server_capabilities.get("extensions");
    if extensions.is_none_or(|it| it.get(TASKS).is_none()) {
        return;
    }
    let capabilities = json!({"extensions": {TASKS: {}}});
    let capabilities = &capabilities;
    let unknown = json!({"taskId": "bowline-unknown-task", "_meta": {key::CLIENT_CAPABILITIES: capabilities}});
    probe.request("tasks/get", unknown).await;
    probe.request("tasks/get", json!({"taskId": "bowline-unknown-task"})).await;
    probe.request("tasks/result", json!({"taskId": "bowline-unknown-task"})).await;
    let filter = json!({"taskIds": ["bowline-unknown-task"]});
    probe.request("subscriptions/listen", json!({"notifications": filter})).await;
    call_as_task(probe, capabilities).await;
}

/// A call that may become a task; the task is asked for at once.
async fn call_as_task(probe: &mut Probe, capabilities: &Value) {
    let meta = json!({key::CLIENT_CAPABILITIES: capabilities});
    for CallableTool { name, arguments, .. } in callable_tools(probe) {
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let Some(answer) = probe.request("tools/call", params).await else { continue };
        let Some(id) = answer.pointer("/result/taskId").cloned() else { continue };
        for _ in 0..2 {
            probe.request("tasks/get", json!({"taskId": id, "_meta": meta})).await;
        }
        probe.request("tasks/cancel", json!({"taskId": id, "_meta": meta})).await;
        return;
    }
}

pub(super) async fn removed(probe: &mut Probe) {
    probe.request("ping", json!({})).await;
    probe.request("logging/setLevel", json!({"level": "info"})).await;
    probe.request("resources/subscribe", json!({"uri": "bowline-unknown://nothing"})).await;
}

pub(super) async fn without_meta(probe: &mut Probe) {
    let without = |name: &str| json!({"_meta": {name: Value::Null}});
    probe.request("server/discover", without(key::CLIENT_INFO)).await;
    probe.request("server/discover", without(key::CLIENT_CAPABILITIES)).await;
}

pub(super) async fn version(probe: &mut Probe) {
    probe.request("server/discover", json!({"_meta": {key::PROTOCOL_VERSION: "2099-01-01"}})).await;
}

/// A request whose headers differ from its body, one way after the other.
pub(super) async fn headers(probe: &mut Probe) {
    debug_assert!(probe.carrier() == Carrier::Http, "stdio has no headers");
    let method = "server/discover";
    let text = |value: &str| Some(value.to_owned());
    let wrong: Vec<(&'static str, Option<String>)> = vec![
        (mirror::METHOD, text("tools/list")),
        (mirror::METHOD, text("SERVER/DISCOVER")),
        (mirror::METHOD, None),
        (mirror::METHOD, text("serv\u{e9}r/discover")),
        (mirror::PROTOCOL_VERSION, text("2025-11-25")),
        (mirror::PROTOCOL_VERSION, None),
        (mirror::METHOD, text("  server/discover ")),
    ];
    for header in wrong {
        let id = probe.fresh_id();
        let params = json!({"_meta": probe.meta()});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        probe.with_headers(&message, vec![header]).await;
    }
    if probe.watch.past().declares("tools") {
        let id = probe.fresh_id();
        let params = json!({"name": "bowline-unknown-tool", "_meta": probe.meta()});
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let name = text("=?base64?Ym93bGluZS11bmtub3duLXRvb2w=?=");
        probe.with_headers(&message, vec![(mirror::NAME, name)]).await;
    }
}
