//! Sampling: what servers ask the client's model.

use std::collections::HashSet;

use serde_json::Value;

use crate::past::has;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("SAMP-8", SINCE_11, "tools need `sampling.tools`", declared_tools),
    must("SAMP-12", SINCE_11, "results of tools stand alone in their message", results_alone),
    must("SAMP-13", SINCE_11, "uses of tools are followed by their results", uses_answered),
    must("SAMP-15", SINCE_11, "a result of a tool names an earlier use", results_known),
    shaped(
        "SAMP-29",
        ALL,
        "messages and `maxTokens` are there, and priorities from 0 to 1",
        &[
            "CreateMessageRequest",
            "ModelPreferences",
            "ModelHint",
            "ToolChoice",
            "ToolUseContent",
            "ToolResultContent",
        ],
    )
    .inferred(),
    shaped("SAMP-30", STATELESS, "a message has a role and content", &["SamplingMessage"]),
];

/// The params of sampling requests, with the capabilities of the client.
fn requests<'a>(seen: &Seen<'a>) -> Vec<(&'a Value, &'a Value)> {
    let questions = seen.questions().into_iter();
    let sampling = questions.filter(|it| it.method == "sampling/createMessage");
    sampling.map(|it| (it.params, it.capabilities)).collect()
}

fn declared_tools(seen: &Seen<'_>) -> Verdict {
    let requests = requests(seen);
    let with_tools = requests
        .iter()
        .find(|(params, _)| params.get("tools").is_some() || params.get("toolChoice").is_some());
    match with_tools {
        None => Idle,
        Some((_, capabilities)) => Verdict::that(has(capabilities, "sampling.tools"), || {
            "sampling came with tools, and the client did not declare `sampling.tools`".to_owned()
        }),
    }
}

/// The blocks of a message, whether it has one or many.
fn blocks(message: &Value) -> Vec<&Value> {
    match message.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().collect(),
        Some(block) => vec![block],
        None => Vec::new(),
    }
}

fn of_type<'a>(message: &'a Value, kind: &str) -> Vec<&'a Value> {
    let blocks = blocks(message).into_iter();
    blocks.filter(|block| block.get("type").is_some_and(|it| it == kind)).collect()
}

/// The messages of each request, or nothing if none has tools in it.
fn conversations<'a>(seen: &Seen<'a>) -> Vec<&'a [Value]> {
    let messages = requests(seen).into_iter();
    messages.filter_map(|(it, _)| it.get("messages")?.as_array().map(Vec::as_slice)).collect()
}

fn results_alone(seen: &Seen<'_>) -> Verdict {
    let conversations = conversations(seen);
    let mut messages = conversations.iter().copied().flatten().peekable();
    if messages.peek().is_none() {
        return Idle;
    }
    Verdict::first(messages.filter_map(|message| {
        let results = of_type(message, "tool_result").len();
        let is_mixed = results > 0 && results < blocks(message).len();
        is_mixed.then(|| "a message mixes results of tools with other blocks".to_owned())
    }))
}

fn uses_answered(seen: &Seen<'_>) -> Verdict {
    for messages in conversations(seen) {
        for (index, message) in messages.iter().enumerate() {
            let uses = of_type(message, "tool_use");
            let next = messages.get(index + 1).map(|next| of_type(next, "tool_result"));
            let next = next.unwrap_or_default();
            let is_answered =
                |it: &&Value| next.iter().any(|result| result["toolUseId"] == it["id"]);
            if let Some(missing) = uses.iter().find(|it| !is_answered(it)) {
                return Broken(format!("the use {} of a tool has no result", missing["id"]));
            }
        }
    }
    if conversations(seen).is_empty() { Idle } else { Kept }
}

fn results_known(seen: &Seen<'_>) -> Verdict {
    for messages in conversations(seen) {
        let mut used = HashSet::new();
        for message in messages {
            let results = of_type(message, "tool_result");
            if let Some(it) = results.iter().find(|it| !used.contains(&it["toolUseId"].to_string()))
            {
                return Broken(format!("no use of a tool has the id {}", it["toolUseId"]));
            }
            used.extend(of_type(message, "tool_use").iter().map(|it| it["id"].to_string()));
        }
    }
    if conversations(seen).is_empty() { Idle } else { Kept }
}
