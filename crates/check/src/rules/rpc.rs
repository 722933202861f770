//! JSON-RPC: versions, ids, results and errors.

use bowline_types::method::Method;
use serde_json::Value;

use crate::message::{Channel, HttpFacts};
use crate::past::{Carrier, LastSent};
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, ONLY_03, SINCE_03, SINCE_06, SINCE_11, STATEFUL, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::{Seen, Subject};

pub(super) const RULES: &[Rule] = &[
    must("BASE-1", STATEFUL, "every request is answered exactly once", answered_once),
    must("BASE-2", STATELESS, "every request is answered exactly once", answered_once),
    must("RPC-1", ALL, "`jsonrpc` is \"2.0\"", version),
    must("RPC-2", ALL, "the id of a request is a string or an integer", request_id),
    must("RPC-3", ALL, "the id of a request is not null", null_id),
    must("RPC-4", STATEFUL, "the ids of requests are not used again", reused_id),
    must("RPC-6", ALL, "an answer repeats the id of its request, value and type", same_id),
    must("RPC-7", ALL, "an answer has a result, which is an object, or an error", one_outcome),
    must("RPC-8", ALL, "an answer has not both a result and an error", both_outcomes),
    must("RPC-9", ALL, "an error has a code and a message", error_members),
    must("RPC-10", ALL, "the code of an error is an integer", error_code),
    must("RPC-11", SINCE_11, "an error repeats the id of its request", error_id),
    must("RPC-15", ALL, "a notification has no id", notification_id),
    must("RPC-16", SINCE_03, "a notification is not answered", silent_notification),
    must("RPC-17", ALL, "params are an object", params).inferred(),
    must("RPC-18", SINCE_03, "messages are UTF-8", encoding),
    must("RPC-19", ONLY_03, "batches are accepted", batches),
    must("RPC-22", SINCE_06, "there are no batches", no_batches).inferred(),
    shaped("PROG-1", ALL, "a progress token is a string or an integer", &["Progress"]),
];

fn answered_once(seen: &Seen<'_>) -> Verdict {
    if let Some(facts) = seen.http() {
        return answered_over_http(facts);
    }
    if let Some(asked) = seen.unanswered() {
        // No rule limits how long a request takes. Only to refuse a method takes no time at all.
        let is_unknown = Method::named(&asked.method).map_or_else(
            || asked.method.starts_with("bowline/"),
            |it| !it.row().exists_in(asked.revision),
        );
        if !is_unknown || asked.is_in_batch || asked.is_cancelled {
            return Idle;
        }
        return Broken(format!("the unknown method `{}` was not answered", asked.method));
    }
    match seen.reply() {
        Some(reply) if reply.asked.answers > 0 => {
            Broken(format!("`{}` was answered twice", reply.asked.method))
        }
        Some(_) => Kept,
        None => Idle,
    }
}

/// A whole body that is no message leaves its request without an answer, whatever the time.
fn answered_over_http(facts: &HttpFacts) -> Verdict {
    let is_json = facts.status == 200 && facts.media_type() == "application/json";
    let Some(method) = facts.method().filter(|_| is_json && facts.is_request()) else {
        return Idle;
    };
    let Ok(body) = serde_json::from_str::<Value>(&facts.answer) else { return Idle };
    let is_message = body.is_array() || body.get("id").is_some() || body.get("error").is_some();
    match is_message {
        true => Idle,
        false => Broken(format!("`{method}` got a body that is no message")),
    }
}

fn version(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    let version = message.value.get("jsonrpc");
    Verdict::that(version.is_some_and(|version| version == "2.0"), || {
        format!("`jsonrpc` is {}", version.map_or("missing".to_owned(), Value::to_string))
    })
}

fn request_id(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_request()) else { return Idle };
    let id = message.value.get("id").unwrap_or(&Value::Null);
    let is_id = id.is_string() || id.is_i64() || id.is_u64() || id.is_null();
    Verdict::that(is_id, || format!("a request has the id {id}"))
}

fn null_id(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_request()) else { return Idle };
    Verdict::that(message.id().is_some(), || "a request has the id null".to_owned())
}

fn reused_id(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_request()) else { return Idle };
    let Some(id) = message.id() else { return Idle };
    // The same request on a second stream is another rule's.
    let is_repeated = seen.past.standalone.contains_key(&message.value.to_string());
    let is_new = is_repeated || !seen.past.server_requests.contains_key(&id.to_string());
    Verdict::that(is_new, || format!("two requests of the server have the id {id}"))
}

fn same_id(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_answer()) else { return Idle };
    let Some(id) = message.id() else { return Idle };
    match seen.past.asked(id) {
        None => Broken(format!("no request has the id {id}")),
        Some(_) => Kept,
    }
}

fn one_outcome(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.method().is_none()) else {
        return Idle;
    };
    match (message.value.get("result"), message.value.get("error")) {
        (None, None) => Broken("an answer has neither a result nor an error".to_owned()),
        (Some(result), None) if !result.is_object() => Broken("a result is no object".to_owned()),
        _ => Kept,
    }
}

fn both_outcomes(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_answer()) else { return Idle };
    let has = |name| message.value.get(name).is_some();
    Verdict::that(!(has("result") && has("error")), || "an answer has both".to_owned())
}

fn error_members(seen: &Seen<'_>) -> Verdict {
    let Some(error) = error(seen) else { return Idle };
    if error.get("code").is_none() {
        return Broken("an error has no `code`".to_owned());
    }
    let has_message = error.get("message").is_some_and(Value::is_string);
    Verdict::that(has_message, || "an error has no `message` that is a string".to_owned())
}

fn error_code(seen: &Seen<'_>) -> Verdict {
    let Some(code) = error(seen).and_then(|error| error.get("code")) else { return Idle };
    Verdict::that(code.is_i64(), || format!("the code of an error is {code}"))
}

fn error<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    seen.server().filter(|message| message.is_answer())?.value.get("error")
}

/// What the client sent last before an answer without an id.
fn before_anonymous(seen: &Seen<'_>) -> Option<LastSent> {
    let message = seen.server().filter(|message| message.is_answer() && message.id().is_none())?;
    seen.past.last_sent(message.channel)
}

/// Over HTTP a refusal by a status may have an error without an id, such as one for `Origin`.
fn error_id(seen: &Seen<'_>) -> Verdict {
    if seen.reply().is_some() {
        return Kept;
    }
    let is_stdio = seen.past.carrier == Carrier::Stdio;
    match before_anonymous(seen) {
        Some(LastSent::Request) if is_stdio => {
            Broken("an error has no id, and the request before it has one".to_owned())
        }
        _ => Idle,
    }
}

fn notification_id(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    let Some(method) = message.method().filter(|method| method.starts_with("notifications/"))
    else {
        return Idle;
    };
    Verdict::that(message.value.get("id").is_none(), || format!("`{method}` has an id"))
}

fn silent_notification(seen: &Seen<'_>) -> Verdict {
    let is_stdio = seen.past.carrier == Carrier::Stdio;
    match before_anonymous(seen) {
        Some(LastSent::Notification) if is_stdio => {
            Broken("the server answered a notification".to_owned())
        }
        _ if seen.past.last_sent(Channel::Stdio) == Some(LastSent::Notification) => Kept,
        _ => Idle,
    }
}

fn params(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.method().is_some()) else {
        return Idle;
    };
    let params = message.value.get("params");
    Verdict::that(params.is_none_or(Value::is_object), || "`params` is no object".to_owned())
}

fn encoding(seen: &Seen<'_>) -> Verdict {
    match seen.subject {
        Subject::Encoding(_) => Broken("the server sent bytes that are not UTF-8".to_owned()),
        Subject::Message(_) => Kept,
        _ => Idle,
    }
}

fn batches(seen: &Seen<'_>) -> Verdict {
    if let Some(asked) = seen.unanswered().filter(|asked| asked.is_in_batch) {
        return Broken(format!("`{}` in a batch was not answered", asked.method));
    }
    match seen.reply().filter(|reply| reply.asked.is_in_batch) {
        Some(reply) => Verdict::that(reply.error.is_none(), || {
            format!("`{}` in a batch was refused", reply.asked.method)
        }),
        None => Idle,
    }
}

fn no_batches(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    Verdict::that(!message.is_in_batch, || "the server sent an array of messages".to_owned())
}
