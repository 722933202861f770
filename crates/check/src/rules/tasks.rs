//! Tasks of 2025-11-25.

use bowline_types::meta::key;
use serde_json::Value;

use crate::past::Asked;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::ONLY_11;
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::{Seen, WireReply};

pub(super) const RULES: &[Rule] = &[
    must("TASK-1", ONLY_11, "a server with tasks declares them", declared),
    must(
        "TASK-11",
        ONLY_11,
        "a tool that is only a task refuses a plain call with -32601",
        required,
    ),
    must("TASK-13", ONLY_11, "a call as a task is answered with the task alone", created_alone),
    must("TASK-15", ONLY_11, "without the capability `task` is ignored", ignored),
    shaped(
        "TASK-17",
        ONLY_11,
        "a task has an id, a status, times and a lifetime",
        &["Task", "CreateTaskResult", "ListTasksResult"],
    ),
    must("TASK-19", ONLY_11, "ids of tasks are unique", unique),
    must("TASK-20", ONLY_11, "a task begins as `working`", begins),
    must("TASK-22", ONLY_11, "an ended task stays as it is", stays),
    must("TASK-24", ONLY_11, "questions of a task name the task", related_questions),
    must("TASK-27", ONLY_11, "`createdAt` is a time", created_at),
    must("TASK-28", ONLY_11, "`lastUpdatedAt` is a time", updated_at),
    must("TASK-37", ONLY_11, "`tasks/result` waits for the end of the task", waits),
    must("TASK-46", ONLY_11, "the result of a task names the task", related_result),
    must("TASK-54", ONLY_11, "a task that can be got is listed", listed),
    must("TASK-55", ONLY_11, "cancelling an ended task is answered with -32602", cancel_ended),
    must("TASK-57", ONLY_11, "a task that was cancelled is `cancelled` in the answer", cancelled),
    must("TASK-61", ONLY_11, "an unknown task is answered with -32602", unknown),
    must("TASK-62", ONLY_11, "an invalid cursor of tasks is answered with -32602", cursor),
];

const ENDED: &[&str] = &["completed", "failed", "cancelled"];

/// A call that asked to be a task, with its answer.
fn call<'a>(seen: &Seen<'a>) -> Option<WireReply<'a>> {
    seen.reply_to("tools/call").filter(|reply| reply.asked.params.get("task").is_some())
}

/// The task that a call became.
fn created<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    call(seen)?.result?.get("task").filter(|task| task.is_object())
}

fn has_tasks(seen: &Seen<'_>) -> bool {
    seen.past.declares("tasks.requests.tools.call")
}

fn declared(seen: &Seen<'_>) -> Verdict {
    let Some((asked, _)) = seen.result_of("tasks/list") else { return Idle };
    Verdict::that(seen.past.declares("tasks.list"), || {
        format!("`{}` works, and `tasks.list` is not declared", asked.method)
    })
}

fn required(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tools/call").filter(|_| has_tasks(seen)) else { return Idle };
    let tool = reply.asked.param("name").and_then(|name| seen.past.tools.get(name));
    let support = tool.and_then(|tool| tool.pointer("/execution/taskSupport"));
    let is_plain = reply.asked.params.get("task").is_none();
    if !is_plain || support.is_none_or(|support| support != "required") {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32601), || "a plain call was not refused".to_owned())
}

fn created_alone(seen: &Seen<'_>) -> Verdict {
    let Some(result) = call(seen).and_then(|reply| reply.result).filter(|_| has_tasks(seen)) else {
        return Idle;
    };
    match (result.get("task").is_some(), result.get("content").is_some()) {
        (true, false) => Kept,
        (true, true) => Broken("the answer has the task and the result".to_owned()),
        (false, _) => Broken("the answer has no task".to_owned()),
    }
}

fn ignored(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = call(seen).filter(|_| !has_tasks(seen) && seen.past.knows_capabilities())
    else {
        return Idle;
    };
    let is_task = reply.result.is_some_and(|result| result.get("task").is_some());
    let Some(code) = reply.code() else {
        return Verdict::that(!is_task, || {
            "`task` was not ignored, and the capability is not declared".to_owned()
        });
    };
    match seen.past.requests().iter().any(|plain| is_same_but_plain(plain, reply.asked)) {
        true => Broken(format!("a call with `task` got the error {code}, and without it a result")),
        // The call itself may be at fault.
        false => Idle,
    }
}

/// Whether a request is the same call without `task`, and got a result.
fn is_same_but_plain(plain: &Asked, call: &Asked) -> bool {
    let is_same =
        ["name", "arguments"].iter().all(|it| plain.params.get(it) == call.params.get(it));
    let is_plain = plain.method == call.method && plain.params.get("task").is_none();
    is_same && is_plain && plain.has_result
}

fn unique(seen: &Seen<'_>) -> Verdict {
    let Some(id) = created(seen).and_then(|task| task.get("taskId")?.as_str()) else { return Idle };
    Verdict::that(!seen.past.tasks.contains_key(id), || format!("two tasks have the id `{id}`"))
}

fn begins(seen: &Seen<'_>) -> Verdict {
    let Some(status) = created(seen).and_then(|task| task.get("status")?.as_str()) else {
        return Idle;
    };
    Verdict::that(status == "working", || format!("a new task is `{status}`"))
}

/// A task as a message shows it.
fn shown<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    let methods = ["tasks/get", "tasks/cancel"];
    let got = methods.iter().find_map(|method| seen.result_of(method)).map(|(_, task)| task);
    got.or_else(|| seen.notification("notifications/tasks/status")).or_else(|| created(seen))
}

fn stays(seen: &Seen<'_>) -> Verdict {
    let Some(task) = shown(seen) else { return Idle };
    let text = |name: &str| task.get(name).and_then(Value::as_str);
    let (Some(id), Some(now)) = (text("taskId"), text("status")) else { return Idle };
    match seen.past.tasks.get(id) {
        Some(before) if ENDED.contains(&before.as_str()) => {
            Verdict::that(before == now, || format!("a task went from `{before}` to `{now}`"))
        }
        Some(_) => Kept,
        None => Idle,
    }
}

/// While the only open request is `tasks/result`, a question belongs to its task.
fn related_questions(seen: &Seen<'_>) -> Verdict {
    let Some((method, params)) = seen.request().filter(|(method, _)| *method != "ping") else {
        return Idle;
    };
    let mut open = seen.past.requests().iter().filter(|asked| asked.is_open());
    let only = open.next().filter(|asked| asked.method == "tasks/result");
    if only.is_none() || open.next().is_some() {
        return Idle;
    }
    let is_related = params.get("_meta").is_some_and(|meta| meta.get(key::RELATED_TASK).is_some());
    Verdict::that(is_related, || format!("`{method}` does not name its task"))
}

fn time(seen: &Seen<'_>, member: &str) -> Verdict {
    let Some(text) = shown(seen).and_then(|task| task.get(member)?.as_str()) else { return Idle };
    let bytes = text.as_bytes();
    let is_time = bytes.len() >= 20
        && bytes.get(4) == Some(&b'-')
        && bytes.get(10).is_some_and(|it| matches!(it, b'T' | b't' | b' '))
        && text.starts_with(|c: char| c.is_ascii_digit());
    Verdict::that(is_time, || format!("`{member}` is `{text}`"))
}

fn created_at(seen: &Seen<'_>) -> Verdict {
    time(seen, "createdAt")
}

fn updated_at(seen: &Seen<'_>) -> Verdict {
    time(seen, "lastUpdatedAt")
}

/// The result came, and afterwards the task is said to be still working.
fn waits(seen: &Seen<'_>) -> Verdict {
    let Some((asked, task)) = seen.result_of("tasks/get") else { return Idle };
    let id = asked.param("taskId");
    let mut before = seen.past.requests().iter();
    let has_result = before.any(|other| {
        other.method == "tasks/result" && other.answers > 0 && other.param("taskId") == id
    });
    if !has_result {
        return Idle;
    }
    let status = task.get("status").and_then(Value::as_str).unwrap_or_default();
    Verdict::that(ENDED.contains(&status), || {
        format!("the result came, and the task is `{status}`")
    })
}

fn related_result(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("tasks/result") else { return Idle };
    let id = result.get("_meta").and_then(|meta| meta.get(key::RELATED_TASK)?.get("taskId"));
    Verdict::that(id.and_then(Value::as_str) == asked.param("taskId"), || {
        "the result of a task does not name it".to_owned()
    })
}

/// Only the last page tells, if the list has one page.
fn listed(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("tasks/list") else { return Idle };
    if asked.params.get("cursor").is_some() || result.get("nextCursor").is_some() {
        return Idle;
    }
    let tasks = result.get("tasks").and_then(Value::as_array).into_iter().flatten();
    let ids: Vec<&str> = tasks.filter_map(|task| task.get("taskId")?.as_str()).collect();
    let missing = seen.past.tasks.keys().find(|id| !ids.contains(&id.as_str()));
    Verdict::first(missing.map(|id| format!("the task `{id}` is not listed")))
}

fn cancel_ended(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tasks/cancel") else { return Idle };
    let status = reply.asked.param("taskId").and_then(|id| seen.past.tasks.get(id));
    if !status.is_some_and(|status| ENDED.contains(&status.as_str())) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("cancelling an ended task got {}", super::errors::outcome(&reply))
    })
}

fn cancelled(seen: &Seen<'_>) -> Verdict {
    let Some((_, task)) = seen.result_of("tasks/cancel") else { return Idle };
    let status = task.get("status").and_then(Value::as_str).unwrap_or_default();
    Verdict::that(ENDED.contains(&status), || format!("the task is `{status}` in the answer"))
}

fn unknown(seen: &Seen<'_>) -> Verdict {
    let methods = ["tasks/get", "tasks/result", "tasks/cancel"];
    let Some(reply) = seen.reply().filter(|it| methods.contains(&it.asked.method.as_str())) else {
        return Idle;
    };
    let is_unknown =
        reply.asked.param("taskId").is_some_and(|it| it.starts_with("bowline-unknown"));
    if !is_unknown || !seen.past.declares("tasks") {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("an unknown task got {}", super::errors::outcome(&reply))
    })
}

fn cursor(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("tasks/list").filter(|_| seen.past.declares("tasks.list"))
    else {
        return Idle;
    };
    if !reply.asked.param("cursor").is_some_and(|it| it.starts_with("bowline-no-cursor")) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("an invalid cursor got {}", super::errors::outcome(&reply))
    })
}
