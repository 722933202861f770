//! The official extensions: tasks of 2026-07-28, and MCP Apps.

use bowline_types::meta::key;
use serde_json::Value;

use crate::past::{Asked, has};
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ONLY_11, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must};
use crate::seen::{Seen, WireReply};

pub(super) const RULES: &[Rule] = &[
    must("XTASK-2", STATELESS, "no task without the extension in the request", undeclared),
    must("XTASK-8", STATELESS, "only calls become tasks", only_calls),
    must("XTASK-9", STATELESS, "a task can be got as soon as it is named", durable),
    must("XTASK-16", STATELESS, "a task that needs input has its questions", outstanding),
    must("XTASK-26", STATELESS, "a key stands for one question of a task", one_question),
    must("XTASK-35", STATELESS, "a change of a task is the whole task", whole_task).inferred(),
    must(
        "XTASK-36",
        STATELESS,
        "`taskIds` without the extension are answered with -32021",
        needs_extension_to_listen,
    ),
    must("XTASK-50", ONLY_11, "the extension does not enable tasks in 2025-11-25", not_in_11),
    must("XTASK-17", STATELESS, "a completed task has its result", completed),
    must("XTASK-18", STATELESS, "a failed task has its error", failed),
    must("XTASK-19", STATELESS, "results about tasks are complete", complete),
    must("XTASK-28", STATELESS, "`tasks/update` has an empty result", empty_update),
    must("XTASK-32", STATELESS, "`tasks/cancel` has an empty result", empty_cancel),
    must("XTASK-39", STATELESS, "an unknown task is answered with -32602", unknown),
    must(
        "XTASK-41",
        STATELESS,
        "task methods without the extension are answered with -32021",
        needs_extension,
    ),
    must("XTASK-46", STATELESS, "an ended task stays as it is", stays).inferred(),
    must("XTASK-52", STATELESS, "`tasks/result` is unknown", no_result),
    must("XTASK-53", STATELESS, "`task` in a call is ignored", ignores_member),
    must("XTASK-54", STATELESS, "the old capability `tasks` is not declared", no_capability),
    must("APP-1", SINCE_11, "the page of a tool has a `ui://` URI", page_uri),
    must("APP-2", SINCE_11, "a page has the media type of apps", page_type),
    must("APP-3", SINCE_11, "a page is an HTML document", page_document),
    must("APP-4", SINCE_11, "the page of a tool exists", page_exists),
];

/// The name of the extension of tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

fn declares(reply: &WireReply<'_>) -> bool {
    reply.asked.capabilities().get("extensions").is_some_and(|it| it.get(TASKS).is_some())
}

fn is_task(reply: &WireReply<'_>) -> bool {
    reply.result.is_some_and(|result| result.get("resultType").is_some_and(|kind| kind == "task"))
}

fn undeclared(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(is_task) else { return Idle };
    Verdict::that(declares(&reply), || "a call became a task unasked".to_owned())
}

fn only_calls(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(is_task) else { return Idle };
    // The samples of the extension show it for `tasks/get`, too.
    let method = reply.asked.method.as_str();
    Verdict::that(matches!(method, "tools/call" | "tasks/get"), || {
        format!("`{method}` became a task")
    })
}

fn got<'a>(seen: &Seen<'a>, status: &str) -> Option<&'a Value> {
    let result = seen.reply_to("tasks/get")?.result?;
    result.get("status").is_some_and(|it| it == status).then_some(result)
}

fn completed(seen: &Seen<'_>) -> Verdict {
    let Some(task) = got(seen, "completed") else { return Idle };
    Verdict::that(task.get("result").is_some(), || "a completed task has no `result`".to_owned())
}

fn failed(seen: &Seen<'_>) -> Verdict {
    let Some(task) = got(seen, "failed") else { return Idle };
    Verdict::that(task.get("error").is_some(), || "a failed task has no `error`".to_owned())
}

fn complete(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let is_about_tasks =
        matches!(reply.asked.method.as_str(), "tasks/get" | "tasks/update" | "tasks/cancel");
    let Some(result) = reply.result.filter(|_| is_about_tasks) else { return Idle };
    let kind = result.get("resultType").and_then(Value::as_str);
    // A missing one is another rule's.
    Verdict::that(kind.is_none_or(|kind| kind == "complete"), || {
        format!("`resultType` of `{}` is {kind:?}", reply.asked.method)
    })
}

fn empty(seen: &Seen<'_>, method: &str) -> Verdict {
    let Some(result) = seen.reply_to(method).and_then(|reply| reply.result) else { return Idle };
    let mut members = result.as_object().into_iter().flatten();
    let other = members.find(|(name, _)| !matches!(name.as_str(), "_meta" | "resultType"));
    Verdict::first(other.map(|(name, _)| format!("the result of `{method}` has `{name}`")))
}

fn empty_update(seen: &Seen<'_>) -> Verdict {
    empty(seen, "tasks/update")
}

fn empty_cancel(seen: &Seen<'_>) -> Verdict {
    empty(seen, "tasks/cancel")
}

/// A server that declares the extension, or whose capabilities are not known yet.
fn has_tasks(seen: &Seen<'_>) -> bool {
    let extensions = seen.past.server_capabilities.get("extensions");
    extensions.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

fn unknown(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tasks/get").filter(|it| declares(it) && has_tasks(seen))
    else {
        return Idle;
    };
    if !reply.asked.param("taskId").is_some_and(|id| id.starts_with("bowline-unknown")) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("an unknown task got {}", super::errors::outcome(&reply))
    })
}

fn needs_extension(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(|it| !declares(it) && has_tasks(seen)) else {
        return Idle;
    };
    if !matches!(reply.asked.method.as_str(), "tasks/get" | "tasks/update" | "tasks/cancel") {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32021), || {
        format!(
            "`{}` without the extension got {}",
            reply.asked.method,
            super::errors::outcome(&reply)
        )
    })
}

fn stays(seen: &Seen<'_>) -> Verdict {
    let Some(task) = seen.reply_to("tasks/get").and_then(|reply| reply.result) else { return Idle };
    let text = |name: &str| task.get(name).and_then(Value::as_str);
    let (Some(id), Some(now)) = (text("taskId"), text("status")) else { return Idle };
    match seen.past.tasks.get(id).map(String::as_str) {
        Some(before @ ("completed" | "failed" | "cancelled")) => {
            Verdict::that(before == now, || format!("a task went from `{before}` to `{now}`"))
        }
        Some(_) => Kept,
        None => Idle,
    }
}

fn no_result(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tasks/result").filter(|_| has_tasks(seen)) else {
        return Idle;
    };
    Verdict::that(reply.error.is_some(), || "`tasks/result` works".to_owned())
}

fn ignores_member(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tools/call") else { return Idle };
    if reply.asked.params.get("task").is_none() {
        return Idle;
    }
    let has_member = reply.result.is_some_and(|result| result.get("task").is_some());
    Verdict::that(!has_member, || "a call was answered as a task of 2025-11-25".to_owned())
}

fn no_capability(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("server/discover") else { return Idle };
    Verdict::that(!has(result, "capabilities.tasks"), || "`tasks` is declared".to_owned())
}

fn durable(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tasks/get").filter(|it| declares(it) && has_tasks(seen))
    else {
        return Idle;
    };
    let status = reply.asked.param("taskId").and_then(|id| seen.past.tasks.get(id));
    match status {
        Some(status) if status == "working" => Verdict::that(reply.code().is_none(), || {
            format!("a task that was named got {}", super::errors::outcome(&reply))
        }),
        _ => Idle,
    }
}

fn outstanding(seen: &Seen<'_>) -> Verdict {
    let Some(task) = got(seen, "input_required") else { return Idle };
    let questions = task.get("inputRequests").and_then(Value::as_object);
    Verdict::that(questions.is_some_and(|it| !it.is_empty()), || {
        "a task needs input, and has no `inputRequests`".to_owned()
    })
}

fn one_question(seen: &Seen<'_>) -> Verdict {
    let Some(task) = got(seen, "input_required") else { return Idle };
    let id = task.get("taskId").and_then(Value::as_str).unwrap_or_default();
    let mut questions = task.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
    let reused = questions.find(|(key, question)| {
        let before = seen.past.task_inputs.get(&(id.to_owned(), (*key).clone()));
        before.is_some_and(|before| *before != question.to_string())
    });
    Verdict::first(reused.map(|(key, _)| format!("`{key}` stands for two questions")))
}

fn whole_task(seen: &Seen<'_>) -> Verdict {
    let Some(task) = seen.notification("notifications/tasks") else { return Idle };
    let status = task.get("status").and_then(Value::as_str).unwrap_or_default();
    let of_status = match status {
        "completed" => Some("result"),
        "failed" => Some("error"),
        "input_required" => Some("inputRequests"),
        _ => None,
    };
    let members = ["taskId", "status", "createdAt", "lastUpdatedAt"].into_iter().chain(of_status);
    let mut missing = members.filter(|name| task.get(*name).is_none());
    Verdict::first(missing.next().map(|name| format!("a change of a task lacks `{name}`")))
}

/// A stream of changes of tasks that a client without the extension asked for.
fn needs_extension_to_listen(seen: &Seen<'_>) -> Verdict {
    let asks = |asked: &Asked| {
        let has_ids = asked.params.pointer("/notifications/taskIds").is_some();
        let extensions = asked.capabilities().get("extensions");
        has_ids && has_tasks(seen) && extensions.is_none_or(|it| it.get(TASKS).is_none())
    };
    if let Some(reply) = seen.reply_to("subscriptions/listen").filter(|it| asks(it.asked)) {
        return Verdict::that(reply.code() == Some(-32021), || {
            format!("`taskIds` got {}", super::errors::outcome(&reply))
        });
    }
    let acknowledged = seen.notification("notifications/subscriptions/acknowledged");
    let id = acknowledged.and_then(|params| params.get("_meta")?.get(key::SUBSCRIPTION_ID));
    match id.and_then(|id| seen.past.asked(id)).filter(|asked| asks(asked)) {
        Some(_) => Broken("`taskIds` without the extension were accepted".to_owned()),
        None => Idle,
    }
}

fn not_in_11(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tools/call") else { return Idle };
    if reply.asked.params.get("task").is_some() {
        return Idle;
    }
    let has_task = reply.result.is_some_and(|result| result.get("taskId").is_some());
    Verdict::that(!(is_task(&reply) || has_task), || "a call became a task unasked".to_owned())
}

/// The address of a tool's page, in its present and its deprecated place.
fn page(tool: &Value) -> Option<&str> {
    let meta = tool.get("_meta")?;
    meta.pointer("/ui/resourceUri").or_else(|| meta.get("ui/resourceUri"))?.as_str()
}

fn page_uri(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("tools/list") else { return Idle };
    let tools = result.get("tools").and_then(Value::as_array).into_iter().flatten();
    let mut pages = tools.filter_map(page).peekable();
    if pages.peek().is_none() {
        return Idle;
    }
    Verdict::first(pages.filter(|uri| !uri.starts_with("ui://")).map(|uri| format!("`{uri}`")))
}

fn page_type(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("resources/read") else { return Idle };
    if !asked.param("uri").is_some_and(|uri| uri.starts_with("ui://")) {
        return Idle;
    }
    let contents = result.get("contents").and_then(Value::as_array).into_iter().flatten();
    Verdict::first(contents.filter_map(|item| {
        let kind = item.get("mimeType").and_then(Value::as_str).unwrap_or_default();
        (kind != "text/html;profile=mcp-app").then(|| format!("the media type is `{kind}`"))
    }))
}

fn page_document(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("resources/read") else { return Idle };
    let Some(uri) = asked.param("uri").filter(|uri| uri.starts_with("ui://")) else { return Idle };
    let contents = result.get("contents").and_then(Value::as_array).into_iter().flatten();
    Verdict::first(contents.filter_map(|item| {
        let is_html = match item.get("text").and_then(Value::as_str) {
            Some(text) => {
                let text = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
                text.starts_with("<!doctype html") || text.starts_with("<!--")
            }
            None => item.get("blob").is_some_and(Value::is_string),
        };
        (!is_html).then(|| format!("`{uri}` is no HTML document"))
    }))
}

fn page_exists(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("resources/read") else { return Idle };
    let Some(uri) = reply.asked.param("uri").filter(|uri| uri.starts_with("ui://")) else {
        return Idle;
    };
    if !seen.past.tools.values().any(|tool| page(tool) == Some(uri)) {
        return Idle;
    }
    match reply.error {
        Some(_) => Broken(format!("`{uri}` cannot be read")),
        None => Kept,
    }
}
