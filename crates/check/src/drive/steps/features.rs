//! What a client does with the features of a server, in every revision.

use bowline_types::meta::key;
use serde_json::{Value, json};

use super::super::probe::Probe;
use super::super::values;

/// Pages of one list that are read.
const PAGES: usize = 20;
/// Resources, prompts and tools of which one server shows enough.
const FEW: usize = 5;

/// The lists: method, member with the items, capability.
const LISTS: &[(&str, &str, &str)] = &[
    ("tools/list", "tools", "tools"),
    ("resources/list", "resources", "resources"),
    ("resources/templates/list", "resourceTemplates", "resources"),
    ("prompts/list", "prompts", "prompts"),
];

pub(super) async fn lists(probe: &mut Probe) {
    for (method, items, capability) in LISTS {
        if probe.watch.past().declares(capability) {
            list(probe, method, items).await;
        }
    }
}

/// All items of a list, bounded.
pub(super) async fn list(probe: &mut Probe, method: &str, items: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), None::<Value>);
    for _ in 0..PAGES {
        let params = cursor.as_ref().map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let Some(answer) = probe.request(method, params).await else { return found };
        let page = answer.pointer(&format!("/result/{items}")).and_then(Value::as_array);
        found.extend(page.into_iter().flatten().cloned());
        cursor = answer.pointer("/result/nextCursor").filter(|it| it.is_string()).cloned();
        if cursor.is_none() {
            break;
        }
    }
    found
}

pub(super) async fn undeclared(probe: &mut Probe) {
    for (method, _, capability) in LISTS {
        if !probe.watch.past().declares(capability) {
            probe.request(method, json!({})).await;
        }
    }
}

pub(super) async fn reads(probe: &mut Probe) {
    if !probe.watch.past().declares("resources") {
        return;
    }
    let resources = list(probe, "resources/list", "resources").await;
    let pages: Vec<Value> = probe
        .watch
        .past()
        .tools
        .values()
        .filter_map(|tool| tool.pointer("/_meta/ui/resourceUri").cloned())
        .collect();
    let uris = resources.iter().filter_map(|it| it.get("uri").cloned());
    for uri in uris.take(FEW).chain(pages.into_iter().take(FEW)).collect::<Vec<_>>() {
        probe.request("resources/read", json!({"uri": uri})).await;
    }
}

pub(super) async fn prompts(probe: &mut Probe) {
    if !probe.watch.past().declares("prompts") {
        return;
    }
    for (index, prompt) in list(probe, "prompts/list", "prompts").await.iter().take(FEW).enumerate()
    {
        let name = prompt.get("name").cloned().unwrap_or_default();
        let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let required = arguments.filter(|it| it.get("required").is_some_and(|it| it == true));
        let mut given = json!({});
        for argument in required {
            if let Some(argument) = argument.get("name").and_then(Value::as_str) {
                given[argument] = json!("a");
            }
        }
        let is_empty = given.as_object().is_none_or(serde_json::Map::is_empty);
        probe.request("prompts/get", json!({"name": name, "arguments": given})).await;
        if !is_empty {
            let id = json!(format!("missing-argument-{index}"));
            probe.request_as(id, "prompts/get", json!({"name": name})).await;
        }
    }
}

pub(super) async fn completes(probe: &mut Probe) {
    if !probe.watch.past().declares("completions") {
        return;
    }
    for prompt in list(probe, "prompts/list", "prompts").await.iter().take(FEW) {
        let Some(argument) = prompt.pointer("/arguments/0/name") else { continue };
        let reference = json!({"type": "ref/prompt", "name": prompt.get("name")});
        let params = json!({"ref": reference, "argument": {"name": argument, "value": ""}});
        probe.request("completion/complete", params).await;
    }
    let reference = json!({"type": "ref/prompt", "name": "bowline-unknown-prompt"});
    let params = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
    probe.request("completion/complete", params).await;
}

/// A tool that may be called, with arguments that fit its schema.
pub(super) struct CallableTool {
    pub(super) name: String,
    pub(super) definition: Value,
    pub(super) arguments: Value,
}

/// The tools that the user names, and a few of those that declare that they change nothing. Tools that
/// did not answer in time before are left out.
pub(super) fn callable_tools(probe: &mut Probe) -> Vec<CallableTool> {
    let is_safe =
        |tool: &Value| tool.pointer("/annotations/readOnlyHint").is_some_and(|hint| hint == true);
    let past = probe.watch.past();
    let tools = past.tools.iter().filter(|(name, _)| !past.known.slow_tools.contains(*name));
    let (named, others): (Vec<_>, Vec<_>) =
        tools.partition(|(name, _)| probe.callable.contains(name));
    let others = others.into_iter().filter(|(_, tool)| is_safe(tool));
    let (mut callable, mut misfits) = (Vec::new(), Vec::new());
    let most = named.len() + FEW;
    for (name, tool) in named.into_iter().chain(others) {
        if callable.len() == most {
            break;
        }
        match values::fitting(tool.get("inputSchema").unwrap_or(&Value::Null)) {
            Some(arguments) => {
                let (name, definition) = (name.clone(), tool.clone());
                callable.push(CallableTool { name, definition, arguments });
            }
            None => misfits.push(name.clone()),
        }
    }
    probe.uncalled.extend(misfits);
    callable
}

pub(super) async fn calls(probe: &mut Probe) {
    for (index, tool) in callable_tools(probe).into_iter().enumerate() {
        let CallableTool { name, arguments, .. } = tool;
        let mut meta = json!({"progressToken": format!("token-{index}")});
        if !probe.revision.has_handshake() {
            meta[key::LOG_LEVEL] = json!("debug");
        }
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let answer = probe.request("tools/call", params).await;
        retry_changed(probe, &name, &arguments, answer).await;
    }
}

/// A call that asks for input is sent again with a state that differs by one letter.
async fn retry_changed(probe: &mut Probe, name: &str, arguments: &Value, answer: Option<Value>) {
    let state = answer.as_ref().and_then(|it| it.pointer("/result/requestState")?.as_str());
    let Some(state) = state.filter(|state| !state.is_empty()) else { return };
    let middle = state.chars().count() / 2;
    let changed: String = state
        .chars()
        .enumerate()
        .map(|(index, letter)| match (index == middle, letter) {
            (true, 'A') => 'B',
            (true, _) => 'A',
            (false, letter) => letter,
        })
        .collect();
    let params = json!({"name": name, "arguments": arguments, "requestState": changed, "inputResponses": {}});
    probe.request_as(json!(format!("changed-state-{name}")), "tools/call", params).await;
}

pub(super) async fn cancels_late(probe: &mut Probe) {
    let method = if probe.revision.has_handshake() { "ping" } else { "server/discover" };
    let id = probe.fresh_id();
    probe.request_as(id.clone(), method, json!({})).await;
    // Over HTTP a client of 2026-07-28 closes the stream instead.
    if probe.revision.has_handshake() || probe.carrier() == crate::past::Carrier::Stdio {
        probe.notify("notifications/cancelled", json!({"requestId": id})).await;
    }
    probe.request_as(json!("after-late-cancel"), method, json!({})).await;
    probe.listen().await;
}
