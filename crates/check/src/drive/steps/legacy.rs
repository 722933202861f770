//! Steps of the revisions with a handshake.

use http::Method as Verb;
use serde_json::{Value, json};

use super::super::probe::Probe;
use super::features::{CallableTool, callable_tools};

pub(super) async fn ping(probe: &mut Probe) {
    probe.request("ping", json!({})).await;
}

pub(super) async fn log_level(probe: &mut Probe) {
    probe.request("logging/setLevel", json!({"level": "warning"})).await;
    if probe.watch.past().declares("logging") {
        probe.request("logging/setLevel", json!({"level": "bowline-loud"})).await;
    }
}

pub(super) async fn subscribes(probe: &mut Probe) {
    if !probe.watch.past().declares("resources.subscribe") {
        return;
    }
    let Some(answer) = probe.request("resources/list", json!({})).await else { return };
    let Some(uri) = answer.pointer("/result/resources/0/uri").cloned() else { return };
    probe.request("resources/subscribe", json!({"uri": uri})).await;
    probe.request("resources/unsubscribe", json!({"uri": uri})).await;
}

pub(super) async fn batch(probe: &mut Probe) {
    let id = probe.fresh_id();
    let message = json!([{"jsonrpc": "2.0", "id": id, "method": "ping"}]);
    probe.batch(&message.to_string(), &id).await;
}

/// A tool that may be a task is called as one. Without such a tool a plain call and one with `task`,
/// which has to be ignored, are compared.
pub(super) async fn tasks(probe: &mut Probe) {
    let declares = probe.watch.past().declares("tasks.requests.tools.call");
    let may_be_task = |tool: &CallableTool| {
        let support = tool.definition.pointer("/execution/taskSupport");
        support.is_some_and(|it| it == "optional" || it == "required")
    };
    let tools = callable_tools(probe);
    if let Some(tool) = tools.into_iter().find(|tool| may_be_task(tool) == declares) {
        let mut params = json!({"name": tool.name, "arguments": tool.arguments});
        if !declares {
            probe.request("tools/call", params.clone()).await;
        }
        params["task"] = json!({"ttl": 60_000});
        let answer = probe.request("tools/call", params).await;
        let id = answer.and_then(|it| it.pointer("/result/task/taskId").cloned());
        if let Some(id) = id {
            follow(probe, &id).await;
        }
    }
    if declares {
        probe.request("tasks/get", json!({"taskId": "bowline-unknown-task"})).await;
    }
    if probe.watch.past().declares("tasks.list") {
        probe.request("tasks/list", json!({"cursor": "bowline-no-cursor"})).await;
    }
}

async fn follow(probe: &mut Probe, id: &Value) {
    probe.request("tasks/get", json!({"taskId": id})).await;
    probe.request("tasks/result", json!({"taskId": id})).await;
    probe.request("tasks/get", json!({"taskId": id})).await;
    if probe.watch.past().declares("tasks.list") {
        probe.request("tasks/list", json!({})).await;
    }
    if probe.watch.past().declares("tasks.cancel") {
        probe.request("tasks/cancel", json!({"taskId": id})).await;
    }
}

pub(super) async fn get(probe: &mut Probe) {
    probe.verb(Verb::GET).await;
}

pub(super) async fn ends(probe: &mut Probe) {
    if probe.watch.past().session.is_none() {
        return;
    }
    probe.verb(Verb::DELETE).await;
    if probe.watch.past().is_session_over {
        let id = probe.fresh_id();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        probe.with_headers(&message, Vec::new()).await;
    }
}

pub(super) async fn version_header(probe: &mut Probe) {
    let id = probe.fresh_id();
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let version = Some("1999-01-01".to_owned());
    probe.with_headers(&message, vec![("mcp-protocol-version", version)]).await;
}

pub(super) async fn no_session(probe: &mut Probe) {
    if probe.watch.past().session.is_some() {
        let id = probe.fresh_id();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        probe.with_headers(&message, vec![("mcp-session-id", None)]).await;
    }
}

/// In a session of its own: a process has one handshake.
pub(super) async fn old_version(probe: &mut Probe) {
    let params = json!({
        "protocolVersion": "1999-01-01",
        "capabilities": {},
        "clientInfo": {"name": "bowline-check", "version": env!("CARGO_PKG_VERSION")},
    });
    probe.request("initialize", params).await;
}

/// Asks for what came after the last event that had an id.
pub(super) async fn resumes(probe: &mut Probe) {
    let Some(id) = probe.watch.past().last_event.clone() else { return };
    probe.get_with(vec![("last-event-id", Some(id))]).await;
}
