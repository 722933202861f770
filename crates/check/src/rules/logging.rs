//! Log messages.

use bowline_types::meta::key;
use serde_json::Value;

use crate::message::Channel;
use crate::past::Asked;
use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, STATEFUL, STATELESS};
use crate::rule::{Rule, Verdict, must, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    should("LOG-3", STATEFUL, "messages below the level are not sent", level).inferred(),
    should("LOG-5", ALL, "an unknown level is answered with -32602", unknown_level),
    must("LOG-18", STATELESS, "only requests that ask for log messages get them", asked_for),
    must("LOG-20", STATELESS, "log messages come on the stream of their request", own_stream),
];

const LEVELS: &[&str] =
    &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

fn log<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    seen.notification("notifications/message")
}

fn level(seen: &Seen<'_>) -> Verdict {
    let level = log(seen).and_then(|params| params.get("level")).and_then(Value::as_str);
    let (Some(level), Some(least)) = (level, seen.past.log_level.as_deref()) else { return Idle };
    Verdict::that(rank(level) >= rank(least), || {
        format!("a message of level {level} came, and the client wants {least}")
    })
}

fn unknown_level(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(|reply| reply.code() != Some(-32601)) else {
        return Idle;
    };
    let level = match reply.asked.method.as_str() {
        "logging/setLevel" => reply.asked.param("level"),
        _ => reply.asked.meta(key::LOG_LEVEL).and_then(Value::as_str),
    };
    let Some(level) = level.filter(|level| rank(level).is_none()) else { return Idle };
    Verdict::that(reply.code() == Some(-32602), || {
        format!("the level `{level}` got {}", super::errors::outcome(&reply))
    })
}

/// Over HTTP the stream tells the request; on stdio any open request may be it.
fn asked_for(seen: &Seen<'_>) -> Verdict {
    let (Some(message), Some(_)) = (seen.server(), log(seen)) else { return Idle };
    let wants = |asked: &Asked| asked.meta(key::LOG_LEVEL).is_some();
    let is_wanted = match message.channel {
        Channel::Stdio => seen.past.requests().iter().any(wants),
        channel => seen.past.asked_on(channel).is_some_and(wants),
    };
    Verdict::that(is_wanted, || "a log message came, and no request asked for any".to_owned())
}

fn own_stream(seen: &Seen<'_>) -> Verdict {
    let (Some(message), Some(_)) = (seen.server(), log(seen)) else { return Idle };
    let asked = seen.past.asked_on(message.channel);
    let is_foreign = match message.channel {
        Channel::Stdio => log(seen).is_some_and(|params| {
            params.pointer("/_meta/io.modelcontextprotocol~1subscriptionId").is_some()
        }),
        _ => asked.is_some_and(|asked| asked.method == "subscriptions/listen"),
    };
    Verdict::that(!is_foreign, || "a log message came on a stream of changes".to_owned())
}
