//! Cancellation.

use serde_json::Value;

use crate::past::Carrier;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, STATEFUL, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("CANC-1", STATEFUL, "the server cancels only requests of its own", own_requests),
    shaped("CANC-4", ALL, "a cancellation names its request", &["Cancelled"]),
    should("CANC-7", ALL, "a cancelled request is not answered", no_answer),
    must("CANC-10", ALL, "a cancellation that comes too late does no harm", survives_race),
    must("CANC-19", STATELESS, "the server cancels only streams of changes", only_listen),
    must("CANC-20", STATELESS, "nothing comes for a cancelled request", silence),
];

fn own_requests(seen: &Seen<'_>) -> Verdict {
    let Some(params) = seen.notification("notifications/cancelled") else { return Idle };
    let Some(id) = params.get("requestId") else { return Idle };
    let is_own = seen.past.server_requests.contains_key(&id.to_string());
    Verdict::that(is_own, || format!("the server sent no request with the id {id}"))
}

/// An answer may cross the cancellation; it is late only if the server has certainly read that.
fn no_answer(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(|reply| reply.asked.is_cancelled) else { return Idle };
    Verdict::that(!reply.asked.is_cancellation_read, || {
        format!("`{}` was answered after its cancellation", reply.asked.method)
    })
}

fn survives_race(seen: &Seen<'_>) -> Verdict {
    let is_probe = |id: &Value| id.as_str().is_some_and(|id| id.starts_with("after-late-cancel"));
    if seen.unanswered().is_some_and(|asked| is_probe(&asked.id)) {
        return Broken("after a late cancellation the server answers no more".to_owned());
    }
    match seen.reply().filter(|reply| is_probe(&reply.asked.id)) {
        Some(_) => Kept,
        None => Idle,
    }
}

fn only_listen(seen: &Seen<'_>) -> Verdict {
    let Some(params) = seen.notification("notifications/cancelled") else { return Idle };
    let Some(id) = params.get("requestId") else { return Idle };
    let is_listen = seen.past.listened.iter().any(|listened| listened.id == *id);
    Verdict::that(is_listen, || format!("the server cancelled {id}, which is no listen request"))
}

fn silence(seen: &Seen<'_>) -> Verdict {
    if seen.past.carrier != Carrier::Stdio {
        return Idle;
    }
    let token = seen.notification("notifications/progress").and_then(|it| it.get("progressToken"));
    let asked = match token {
        Some(token) => seen.past.asked_with_token(token),
        None => seen.reply().map(|reply| reply.asked),
    };
    let Some(asked) = asked.filter(|asked| asked.is_cancelled) else { return Idle };
    Verdict::that(!asked.is_cancellation_read, || {
        format!("a message for `{}` came after its cancellation", asked.method)
    })
}
