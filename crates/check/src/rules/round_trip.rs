//! Questions inside results, on 2026-07-28.

use serde_json::Value;

use crate::message::Channel;
use crate::past::has;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::STATELESS;
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::{Seen, WireReply};

pub(super) const RULES: &[Rule] = &[
    must("MRTR-3", STATELESS, "only calls, prompts and reads ask for input", methods),
    must("MRTR-4", STATELESS, "a result that asks has requests or a state", something),
    must("MRTR-5", STATELESS, "the keys of requests for input are unique", unique_keys),
    shaped(
        "MRTR-6",
        STATELESS,
        "a request for input has a method and params",
        &["InputRequiredResult", "InputRequest"],
    ),
    must("MRTR-7", STATELESS, "only what the client declared is asked for", declared),
    must("MRTR-11", STATELESS, "a state that was changed is refused", changed_state),
    must("MRTR-31", STATELESS, "a result that asks is the last message of its stream", last)
        .inferred(),
];

fn asking<'a>(seen: &Seen<'a>) -> Option<(WireReply<'a>, &'a Value)> {
    let reply = seen.reply()?;
    let result = reply.result?;
    let asks = result.get("resultType").is_some_and(|kind| kind == "input_required");
    asks.then_some((reply, result))
}

fn methods(seen: &Seen<'_>) -> Verdict {
    let Some((reply, _)) = asking(seen) else { return Idle };
    let method = reply.asked.method.as_str();
    Verdict::that(matches!(method, "tools/call" | "prompts/get" | "resources/read"), || {
        format!("`{method}` asks for input")
    })
}

fn something(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = asking(seen) else { return Idle };
    let has = result.get("inputRequests").is_some() || result.get("requestState").is_some();
    Verdict::that(has, || "there is neither `inputRequests` nor `requestState`".to_owned())
}

fn unique_keys(seen: &Seen<'_>) -> Verdict {
    let (Some(message), Some(_)) = (seen.server(), asking(seen)) else { return Idle };
    let repeated = message.repeated_keys.iter().find(|key| key.contains("inputRequests."));
    Verdict::first(repeated.map(|key| format!("`{key}` stands twice")))
}

fn declared(seen: &Seen<'_>) -> Verdict {
    if asking(seen).is_none() {
        return Idle;
    }
    Verdict::first(seen.questions().into_iter().filter_map(|question| {
        let capability = match question.method {
            "sampling/createMessage" => "sampling",
            "elicitation/create" => "elicitation",
            "roots/list" => "roots",
            _ => return None,
        };
        let is_declared = has(question.capabilities, capability);
        (!is_declared).then(|| format!("the client did not declare `{capability}`"))
    }))
}

/// The drive retries a call with a state that it changed, under this id.
fn changed_state(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    if !reply.asked.id.as_str().is_some_and(|id| id.starts_with("changed-state")) {
        return Idle;
    }
    Verdict::that(reply.error.is_some(), || "a changed `requestState` was accepted".to_owned())
}

fn last(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    let asked = match message.channel {
        Channel::Post(_) => seen.past.asked_on(message.channel),
        _ => return Idle,
    };
    match asked.filter(|asked| asked.answers > 0) {
        Some(_) if message.is_notification() => {
            Broken("a message came after the answer on the same stream".to_owned())
        }
        _ if asking(seen).is_some() => Kept,
        _ => Idle,
    }
}
