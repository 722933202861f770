//! Capabilities: what was declared is offered, and nothing else is used.

use serde_json::Value;

use crate::past::has;
use crate::rule::Verdict::{Broken, Idle};
use crate::rule::span::{ALL, FROM_06_TO_11, SINCE_03, STATEFUL, UP_TO_03};
use crate::rule::{Rule, Verdict, must, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("CAP-1", ALL, "features that work are declared", undeclared).inferred(),
    must("CAP-3", ALL, "capabilities that the server does not know do no harm", tolerates)
        .inferred(),
    must("CAP-4", STATEFUL, "updates of resources need `resources.subscribe`", updates).inferred(),
    must("CAP-5", STATEFUL, "the client is asked only for what it declared", asks).inferred(),
    must("CAP-7", STATEFUL, "what is declared can be listed", lists).inferred(),
    must("LIFE-15", FROM_06_TO_11, "changes are announced only if that was declared", changes),
    should("LIFE-16", UP_TO_03, "changes are announced only if that was declared", changes),
    must("TOOL-1", ALL, "a server with tools declares `tools`", tools),
    must("RSRC-1", ALL, "a server with resources declares `resources`", resources),
    must("PRMT-1", ALL, "a server with prompts declares `prompts`", prompts),
    must("COMP-1", SINCE_03, "a server that completes declares `completions`", completions),
    must("LOG-1", ALL, "a server that logs declares `logging`", logging),
];

/// A method worked, though its capability was not declared.
fn works_undeclared(seen: &Seen<'_>, method: &str, capability: &str, list: &str) -> Verdict {
    let Some((_, result)) = seen.result_of(method) else { return Idle };
    if !seen.past.knows_capabilities() {
        return Idle;
    }
    let is_empty = result.get(list).and_then(Value::as_array).is_some_and(Vec::is_empty);
    let is_fine = seen.past.declares(capability) || is_empty;
    Verdict::that(is_fine, || format!("`{method}` works, and `{capability}` is not declared"))
}

fn undeclared(seen: &Seen<'_>) -> Verdict {
    let subscribe = works_undeclared(seen, "resources/subscribe", "resources.subscribe", "");
    match subscribe {
        Idle => works_undeclared(seen, "logging/setLevel", "logging", ""),
        verdict => verdict,
    }
}

fn tools(seen: &Seen<'_>) -> Verdict {
    works_undeclared(seen, "tools/list", "tools", "tools")
}

fn resources(seen: &Seen<'_>) -> Verdict {
    match works_undeclared(seen, "resources/list", "resources", "resources") {
        Idle => {
            works_undeclared(seen, "resources/templates/list", "resources", "resourceTemplates")
        }
        verdict => verdict,
    }
}

fn prompts(seen: &Seen<'_>) -> Verdict {
    works_undeclared(seen, "prompts/list", "prompts", "prompts")
}

fn completions(seen: &Seen<'_>) -> Verdict {
    works_undeclared(seen, "completion/complete", "completions", "")
}

fn lists(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let capability = match reply.asked.method.as_str() {
        "tools/list" => "tools",
        "resources/list" => "resources",
        "prompts/list" => "prompts",
        _ => return Idle,
    };
    if !seen.past.declares(capability) {
        return Idle;
    }
    Verdict::that(reply.code() != Some(-32601), || {
        format!("`{capability}` is declared, and `{}` is unknown", reply.asked.method)
    })
}

fn tolerates(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let declared = match reply.asked.method.as_str() {
        "initialize" => reply.asked.params.get("capabilities").unwrap_or(&Value::Null),
        "server/discover" => reply.asked.capabilities(),
        _ => return Idle,
    };
    if declared.get("bowline/unknown").is_none() {
        return Idle;
    }
    // An unknown method, a version or a header is at fault then.
    let has_other_cause = matches!(reply.code(), Some(-32601 | -32022 | -32020));
    Verdict::that(reply.error.is_none() || has_other_cause, || {
        "the client was refused for a capability that the server does not know".to_owned()
    })
}

fn updates(seen: &Seen<'_>) -> Verdict {
    if seen.notification("notifications/resources/updated").is_none() {
        return Idle;
    }
    Verdict::that(seen.past.declares("resources.subscribe"), || {
        "a resource is said to have changed, and `resources.subscribe` is not declared".to_owned()
    })
}

fn asks(seen: &Seen<'_>) -> Verdict {
    let Some((method, _)) = seen.request() else { return Idle };
    let capability = match method {
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        "roots/list" => "roots",
        _ => return Idle,
    };
    Verdict::that(has(&seen.past.client_capabilities, capability), || {
        format!("`{method}` came, and the client did not declare `{capability}`")
    })
}

fn changes(seen: &Seen<'_>) -> Verdict {
    let lists = ["tools", "resources", "prompts"];
    let changed =
        |list: &&&str| seen.notification(&format!("notifications/{list}/list_changed")).is_some();
    let Some(list) = lists.iter().find(changed).filter(|_| seen.past.knows_capabilities()) else {
        return Idle;
    };
    let capability = format!("{list}.listChanged");
    Verdict::that(seen.past.declares(&capability), || {
        format!("a change came, and `{capability}` is not declared")
    })
}

fn logging(seen: &Seen<'_>) -> Verdict {
    let is_log = seen.notification("notifications/message").is_some();
    if !is_log || !seen.past.knows_capabilities() {
        return Idle;
    }
    match seen.past.declares("logging") {
        true => crate::rule::Verdict::Kept,
        false => Broken("a log message came, and `logging` is not declared".to_owned()),
    }
}
