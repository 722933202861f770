//! Completion.

use serde_json::Value;

use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, SINCE_03};
use crate::rule::{Rule, Verdict, must, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("COMP-2", ALL, "there are at most 100 values", few_values).inferred(),
    should("COMP-6", SINCE_03, "an unknown prompt is answered with -32602", unknown_prompt),
];

/// The most values that a completion may have.
const MOST: usize = 100;

fn few_values(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("completion/complete") else { return Idle };
    let Some(values) = result.pointer("/completion/values").and_then(Value::as_array) else {
        return Verdict::Broken("the result has no `completion.values`".to_owned());
    };
    Verdict::that(values.len() <= MOST, || format!("there are {} values", values.len()))
}

fn unknown_prompt(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("completion/complete") else { return Idle };
    let name = reply.asked.params.pointer("/ref/name").and_then(Value::as_str);
    if !name.is_some_and(|name| name.starts_with("bowline-unknown")) || reply.code() == Some(-32601)
    {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("an unknown prompt got {}", super::errors::outcome(&reply))
    })
}
