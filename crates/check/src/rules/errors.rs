//! Codes of errors.

use bowline_types::method::{MessageKind, Method};
use serde_json::Value;

use crate::past::{Carrier, LastSent};
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, STATELESS};
use crate::rule::{Rule, Verdict, must};
use crate::seen::Seen;
use crate::shape;

pub(super) const RULES: &[Rule] = &[
    must("ERR-1", ALL, "text that is not JSON is answered with -32700", parse_error).inferred(),
    must("ERR-2", ALL, "JSON that is no request is answered with -32600", invalid_request)
        .inferred(),
    must("ERR-3", ALL, "an unknown method is answered with -32601", unknown_method).inferred(),
    must("ERR-4", ALL, "params that do not fit are answered with -32602", bad_params).inferred(),
    must("ERR-6", STATELESS, "codes from -32000 to -32019 are not used", legacy_range),
    must("ERR-9", STATELESS, "reserved codes that mean nothing are not used", undefined_code),
    must("ERR-10", STATELESS, "codes -32020 to -32022 have their meaning", defined_codes),
    must("ERR-11", STATELESS, "the retired codes -32002 and -32042 are not used", retired_codes),
];

/// What became of a text that is no request: the code of the answer without an id. Silence on stdio is
/// no fault: clients must not send such a text there (STDIO-5).
fn refusal(seen: &Seen<'_>, kinds: &[LastSent], wanted: i64, what: &str) -> Verdict {
    if let Some(facts) = seen.http() {
        let sent = seen.past.last_sent(crate::message::Channel::Post(facts.number));
        return match sent.filter(|sent| kinds.contains(sent) && facts.verb == "POST") {
            None => Idle,
            Some(_) if facts.is_success() && facts.error_code() != Some(wanted) => {
                Broken(format!("{what} got the status {}", facts.status))
            }
            // The body of a refusal is optional.
            Some(_) => match facts.error_code() {
                Some(code) if code != wanted => Broken(format!("{what} was answered with {code}")),
                _ => Kept,
            },
        };
    }
    // Before, every error has the id of a request, so that no answer is right.
    let Some(message) = seen.server().filter(|_| seen.revision.has_errors_without_id()) else {
        return Idle;
    };
    let sent = seen.past.last_sent(message.channel);
    if !message.is_answer()
        || message.id().is_some()
        || !sent.is_some_and(|sent| kinds.contains(&sent))
    {
        return Idle;
    }
    let code = message.value.pointer("/error/code").and_then(Value::as_i64);
    let is_stdio = seen.past.carrier == Carrier::Stdio;
    match code {
        Some(code) if code == wanted => Kept,
        _ if !is_stdio => Idle,
        code => Broken(format!("{what} was answered with {}", code.unwrap_or_default())),
    }
}

fn parse_error(seen: &Seen<'_>) -> Verdict {
    refusal(seen, &[LastSent::NoJson], -32700, "text that is not JSON")
}

fn invalid_request(seen: &Seen<'_>) -> Verdict {
    refusal(seen, &[LastSent::NoMessage], -32600, "JSON that is no request")
}

/// Methods that the revision has, and those of extensions, are judged elsewhere.
fn unknown_method(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let method = Method::named(&reply.asked.method);
    let is_known = method.is_some_and(|method| {
        method.is_from_client(seen.revision) && method.row().kind == MessageKind::Request
    });
    let is_asked = reply.asked.method.starts_with("bowline/")
        || method.is_some_and(|method| !method.row().exists_in(seen.revision));
    // A server of both eras begins a session here, or answers by its rules.
    if is_known || !is_asked || reply.asked.method == "initialize" {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32601), || {
        format!("the unknown method `{}` got {}", reply.asked.method, outcome(&reply))
    })
}

/// Arguments of tools have rules of their own, and so has a version that is not supported.
fn bad_params(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let Some(name) = shape::type_named(&reply.asked.method) else { return Idle };
    let params = &reply.asked.params;
    let empty = Value::Object(serde_json::Map::new());
    let params = if params.is_null() { &empty } else { params };
    let faults = shape::faults(reply.asked.revision, name, "params", params);
    // A call without a name has a rule of its own.
    let Some(fault) = faults.first().filter(|_| reply.asked.method != "tools/call") else {
        return Idle;
    };
    // An unknown method, an absent feature and a missing envelope come first.
    match reply.code() {
        Some(-32602 | -32601 | -32600 | -32020) => Kept,
        _ => Broken(format!(
            "`{}` whose `{}` {} got {}",
            reply.asked.method,
            fault.place,
            fault.reason,
            outcome(&reply)
        )),
    }
}

/// The code of an answer. Where no request can be named, the era of the answer is not certain either.
fn code_of(seen: &Seen<'_>) -> Option<i64> {
    seen.reply()?.code()
}

fn legacy_range(seen: &Seen<'_>) -> Verdict {
    let Some(code) = code_of(seen) else { return Idle };
    let is_free = !(-32019..=-32000).contains(&code) || code == -32002;
    Verdict::that(is_free, || format!("an error has the code {code}"))
}

fn undefined_code(seen: &Seen<'_>) -> Verdict {
    let Some(code) = code_of(seen) else { return Idle };
    let is_free = !(-32099..=-32023).contains(&code) || code == -32042;
    Verdict::that(is_free, || format!("an error has the code {code}"))
}

fn retired_codes(seen: &Seen<'_>) -> Verdict {
    let Some(code) = code_of(seen) else { return Idle };
    Verdict::that(code != -32002 && code != -32042, || format!("an error has the code {code}"))
}

fn defined_codes(seen: &Seen<'_>) -> Verdict {
    let Some(code) = code_of(seen) else { return Idle };
    match code {
        -32020 => Verdict::that(seen.past.carrier == Carrier::Http, || {
            "-32020 is about headers, and stdio has none".to_owned()
        }),
        -32021 | -32022 => Kept,
        _ => Idle,
    }
}

/// How a request ended, in a few words.
pub(super) fn outcome(reply: &crate::seen::WireReply<'_>) -> String {
    reply.code().map_or_else(|| "a result".to_owned(), |code| format!("the error {code}"))
}
