//! Progress.

use serde_json::Value;

use crate::past::Asked;
use crate::rule::Verdict::{Broken, Idle};
use crate::rule::span::{ALL, ONLY_11};
use crate::rule::{Rule, Verdict, must};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("PROG-2", ALL, "a progress token is unique among open requests", unique),
    must("PROG-4", ALL, "progress only increases", increases),
    must("PROG-7", ALL, "progress has the token of a request", known_token),
    must("PROG-8", ALL, "progress ends with the answer", before_answer),
    must("PROG-12", ONLY_11, "progress of a task ends with the task", before_end_of_task),
    must("PROG-13", ALL, "there is no progress without a token", asked_for).inferred(),
];

/// The notification with its token.
fn progress<'a>(seen: &Seen<'a>) -> Option<(&'a Value, &'a Value)> {
    let params = seen.notification("notifications/progress")?;
    Some((params, params.get("progressToken")?))
}

fn unique(seen: &Seen<'_>) -> Verdict {
    let Some((_, params)) = seen.request() else { return Idle };
    let Some(token) = params.pointer("/_meta/progressToken") else { return Idle };
    let mut others = seen.past.server_requests.values();
    let is_used = others.any(|other| other.is_open && other.token.as_ref() == Some(token));
    Verdict::that(!is_used, || format!("another open request has the token {token}"))
}

fn increases(seen: &Seen<'_>) -> Verdict {
    let Some((params, token)) = progress(seen) else { return Idle };
    let before = seen.past.asked_with_token(token).and_then(|asked| asked.progress);
    let now = params.get("progress").and_then(Value::as_f64);
    match (before, now) {
        (Some(before), Some(now)) => {
            Verdict::that(now > before, || format!("progress went from {before} to {now}"))
        }
        _ => Idle,
    }
}

fn known_token(seen: &Seen<'_>) -> Verdict {
    let Some((_, token)) = progress(seen) else { return Idle };
    let has_tokens = seen.past.requests().iter().any(|asked| asked.token().is_some());
    if !has_tokens {
        return Idle;
    }
    let is_known = seen.past.asked_with_token(token).is_some();
    Verdict::that(is_known, || format!("no request gave the token {token}"))
}

/// The task of a call goes on after its first answer.
fn is_task(asked: &Asked) -> bool {
    asked.params.get("task").is_some()
}

fn before_answer(seen: &Seen<'_>) -> Verdict {
    let Some((_, token)) = progress(seen) else { return Idle };
    let Some(asked) = seen.past.asked_with_token(token) else { return Idle };
    Verdict::that(asked.is_open() || is_task(asked), || {
        format!("progress of `{}` came after its answer", asked.method)
    })
}

fn before_end_of_task(seen: &Seen<'_>) -> Verdict {
    let Some((params, token)) = progress(seen) else { return Idle };
    let asked = seen.past.asked_with_token(token).filter(|asked| is_task(asked));
    let id = params.pointer("/_meta/io.modelcontextprotocol~1related-task/taskId");
    let status = id.and_then(Value::as_str).and_then(|id| seen.past.tasks.get(id));
    match (asked, status.map(String::as_str)) {
        (Some(_), Some("completed" | "failed" | "cancelled")) => {
            Broken("progress came after the end of its task".to_owned())
        }
        (Some(_), Some(_)) => crate::rule::Verdict::Kept,
        _ => Idle,
    }
}

fn asked_for(seen: &Seen<'_>) -> Verdict {
    let Some((_, token)) = progress(seen) else { return Idle };
    let has_tokens = seen.past.requests().iter().any(|asked| asked.token().is_some());
    Verdict::that(has_tokens, || format!("no request gave any token, and progress has {token}"))
}
