//! Pages of lists.

use serde_json::Value;

use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    should("PAGE-9", ALL, "an invalid cursor is answered with -32602", invalid_cursor),
    must("TOOL-8", STATELESS, "a server that declares `tools` lists them", lists_tools),
    must("RSRC-2", STATELESS, "a server that declares `resources` lists them", lists_resources),
    must("PRMT-2", STATELESS, "a server that declares `prompts` lists them", lists_prompts),
    must("TOOL-10", STATELESS, "tools do not depend on the connection", same_tools),
    must("RSRC-4", STATELESS, "resources do not depend on the connection", same_resources),
    must("PRMT-4", STATELESS, "prompts do not depend on the connection", same_prompts),
    shaped(
        "TOOL-13",
        ALL,
        "a tool has a name and a schema of an object",
        &["Tool", "InputSchema", "ToolAnnotations", "ToolExecution", "ListToolsResult"],
    )
    .inferred(),
    shaped(
        "RSRC-10",
        ALL,
        "a resource has a URI and a name, a template likewise",
        &["Resource", "ResourceTemplate", "ListResourcesResult", "ListResourceTemplatesResult"],
    )
    .inferred(),
];

fn invalid_cursor(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let is_invalid =
        reply.asked.param("cursor").is_some_and(|it| it.starts_with("bowline-no-cursor"));
    // Tasks have a rule of their own.
    if !is_invalid || reply.code() == Some(-32601) || reply.asked.method == "tasks/list" {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!(
            "an invalid cursor of `{}` got {}",
            reply.asked.method,
            super::errors::outcome(&reply)
        )
    })
}

/// A list that the capabilities promise is answered with a result, unless the request is at fault.
fn lists(seen: &Seen<'_>, method: &str, capability: &str) -> Verdict {
    let Some(reply) = seen.reply_to(method).filter(|_| seen.past.declares(capability)) else {
        return Idle;
    };
    let is_unknown = reply.code() == Some(-32601);
    Verdict::that(!is_unknown, || format!("`{capability}` is declared, and `{method}` is unknown"))
}

fn lists_tools(seen: &Seen<'_>) -> Verdict {
    lists(seen, "tools/list", "tools")
}

fn lists_resources(seen: &Seen<'_>) -> Verdict {
    lists(seen, "resources/list", "resources")
}

fn lists_prompts(seen: &Seen<'_>) -> Verdict {
    lists(seen, "prompts/list", "prompts")
}

/// The first page has the same names on another connection.
fn same(seen: &Seen<'_>, method: &str, items: &str, name: &str) -> Verdict {
    let Some((asked, result)) = seen.result_of(method) else { return Idle };
    let key = (asked.revision, method.to_owned());
    let Some(before) = seen.past.known.lists.get(&key) else { return Idle };
    if asked.params.get("cursor").is_some() {
        return Idle;
    }
    let items = result.get(items).and_then(Value::as_array).into_iter().flatten();
    let names = items.filter_map(|item| item.get(name).and_then(Value::as_str));
    let (mut now, mut before): (Vec<&str>, Vec<&str>) =
        (names.collect(), before.iter().map(String::as_str).collect());
    now.sort_unstable();
    before.sort_unstable();
    Verdict::that(now == before, || format!("`{method}` gave other items than before"))
}

fn same_tools(seen: &Seen<'_>) -> Verdict {
    same(seen, "tools/list", "tools", "name")
}

fn same_resources(seen: &Seen<'_>) -> Verdict {
    same(seen, "resources/list", "resources", "uri")
}

fn same_prompts(seen: &Seen<'_>) -> Verdict {
    same(seen, "prompts/list", "prompts", "name")
}
