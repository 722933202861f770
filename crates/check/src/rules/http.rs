//! Streamable HTTP: statuses, media types, streams.

use serde_json::Value;

use crate::message::{Channel, HttpFacts};
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, FROM_03_TO_11, ONLY_06, SINCE_03, SINCE_06, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must};
use crate::seen::{Seen, Subject};

pub(super) const RULES: &[Rule] = &[
    must("HSEC-1", ALL, "the `Origin` of requests is checked", origin),
    must("HSEC-2", SINCE_11, "a foreign `Origin` is answered with 403", origin_status),
    must("HTTP-1", FROM_03_TO_11, "the endpoint answers POST and GET", both_verbs),
    must("HTTP-2", STATELESS, "the endpoint answers POST", post),
    must("HTTP-9", SINCE_06, "an array is refused", array).inferred(),
    must(
        "HTTP-10",
        SINCE_03,
        "an accepted notification is answered with 202 and no body",
        accepted,
    ),
    must("HTTP-11", SINCE_03, "what is not accepted gets an error status", not_accepted),
    must("HTTP-13", SINCE_03, "an answer is JSON or a stream of events", media_type),
    must("HTTP-31", STATELESS, "messages on a stream belong to its request", related),
    must("HTTP-32", STATELESS, "servers send no requests on streams", no_requests),
    must("HTTP-40", FROM_03_TO_11, "GET is answered with a stream of events or 405", get),
    must("HTTP-43", FROM_03_TO_11, "the GET stream carries no answers", get_answers),
    must("HTTP-48", FROM_03_TO_11, "no message is sent on two streams", broadcast),
    must("RESUME-2", FROM_03_TO_11, "ids of events are unique in a session", event_ids),
    must("RESUME-6", FROM_03_TO_11, "a resumed stream has its own messages only", replayed),
    must(
        "PRM-2",
        SINCE_06,
        "the metadata of the resource name an authorization server",
        authorization_servers,
    ),
    must("PRM-4", ONLY_06, "a 401 names the metadata of the resource", challenged),
    must("PRM-5", SINCE_11, "a 401 leads to the metadata of the resource", unauthorized),
];

fn origin(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = foreign(seen) else { return Idle };
    Verdict::that(!facts.is_success(), || "a request of a foreign `Origin` was served".to_owned())
}

/// A request that comes from a page of another site.
fn foreign<'a>(seen: &Seen<'a>) -> Option<&'a HttpFacts> {
    seen.http().filter(|facts| facts.sent_header("origin").is_some_and(|it| it.contains("evil")))
}

fn origin_status(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = foreign(seen).filter(|facts| !facts.is_success()) else { return Idle };
    Verdict::that(facts.status == 403, || format!("a foreign `Origin` got {}", facts.status))
}

/// A GET of a session that works otherwise.
fn plain_get<'a>(seen: &Seen<'a>) -> Option<&'a HttpFacts> {
    let facts = seen.http().filter(|facts| facts.verb == "GET")?;
    let is_plain =
        facts.sent_header("origin").is_none() && facts.sent_header("last-event-id").is_none();
    let is_ours = facts.sent_header("mcp-session-id") == seen.past.session.as_deref();
    let is_open = seen.past.knows_capabilities() && !seen.past.is_session_over;
    (is_plain && is_ours && is_open).then_some(facts)
}

fn both_verbs(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = plain_get(seen) else { return Idle };
    Verdict::that(facts.status != 404, || "GET is answered with 404, and POST works".to_owned())
}

fn post(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|facts| facts.verb == "POST") else { return Idle };
    Verdict::that(facts.status != 405, || "POST is answered with 405".to_owned())
}

fn array(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|it| it.body.as_ref().is_some_and(Value::is_array)) else {
        return Idle;
    };
    Verdict::that(!facts.is_success(), || format!("an array got {}", facts.status))
}

fn accepted(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|it| it.is_notification() && it.is_success()) else {
        return Idle;
    };
    if facts.error_code().is_some() {
        return Idle;
    }
    let is_empty = facts.answer.trim().is_empty();
    Verdict::that(facts.status == 202 && is_empty, || {
        format!("a notification got {}{}", facts.status, if is_empty { "" } else { " with a body" })
    })
}

fn not_accepted(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|facts| facts.is_notification()) else { return Idle };
    let is_error = facts.error_code().is_some();
    Verdict::that(!(is_error && facts.is_success()), || {
        format!("a notification got an error with the status {}", facts.status)
    })
}

fn media_type(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|it| it.is_request() && it.status == 200) else {
        return Idle;
    };
    let kind = facts.media_type();
    Verdict::that(matches!(kind.as_str(), "application/json" | "text/event-stream"), || {
        format!("the answer to `{}` is `{kind}`", facts.method().unwrap_or_default())
    })
}

fn related(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_notification()) else {
        return Idle;
    };
    let Channel::Post(_) = message.channel else { return Idle };
    let Some(asked) = seen.past.asked_on(message.channel) else { return Idle };
    let is_listen = asked.method == "subscriptions/listen";
    let method = message.method().unwrap_or_default();
    let token = message.params().get("progressToken");
    let is_change = method.ends_with("list_changed") || method == "notifications/resources/updated";
    // A token that no request gave is another rule's.
    let is_foreign = token.is_some_and(|token| {
        asked.token() != Some(token) && seen.past.asked_with_token(token).is_some()
    });
    match (is_change && !is_listen, is_foreign) {
        (true, _) => Broken(format!("`{method}` came on the stream of `{}`", asked.method)),
        (_, true) => Broken("progress of another request came on this stream".to_owned()),
        _ => Kept,
    }
}

fn no_requests(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    if message.channel == Channel::Stdio {
        return Idle;
    }
    match seen.request() {
        Some((method, _)) => Broken(format!("the server sent the request `{method}`")),
        None => Kept,
    }
}

fn get(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = plain_get(seen).filter(|facts| facts.status != 404) else { return Idle };
    let is_stream = facts.status == 200 && facts.media_type() == "text/event-stream";
    Verdict::that(is_stream || facts.status == 405, || {
        format!("GET got {} with `{}`", facts.status, facts.media_type())
    })
}

fn get_answers(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    let Channel::Get(number) = message.channel else { return Idle };
    let is_resumed = seen.past.resumed.contains(&number);
    Verdict::that(!message.is_answer() || is_resumed, || {
        "an answer came on the GET stream".to_owned()
    })
}

/// Two equal notifications may both be meant; two equal requests may not.
fn broadcast(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_request()) else { return Idle };
    let (Channel::Post(_) | Channel::Get(_)) = message.channel else { return Idle };
    let before = seen.past.standalone.get(&message.value.to_string());
    let is_resumed = matches!(message.channel, Channel::Get(it) if seen.past.resumed.contains(&it));
    let is_second = before.is_some_and(|before| *before != message.channel) && !is_resumed;
    Verdict::that(!is_second, || "a request came on two streams".to_owned())
}

fn event_ids(seen: &Seen<'_>) -> Verdict {
    let Subject::EventId(channel, id) = seen.subject else { return Idle };
    if matches!(channel, Channel::Get(number) if seen.past.resumed.contains(&number)) {
        return Idle;
    }
    Verdict::that(!seen.past.event_ids.contains(id), || format!("two events have the id `{id}`"))
}

/// An answer on a resumed stream answers a request of the stream that it resumes.
fn replayed(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server().filter(|message| message.is_answer()) else { return Idle };
    let Channel::Get(number) = message.channel else { return Idle };
    let Some(resumed) = seen.past.resumed_from.get(&number) else { return Idle };
    let Some(asked) = message.id().and_then(|id| seen.past.asked(id)) else { return Idle };
    Verdict::that(asked.channel == *resumed, || {
        format!("the answer to `{}` came on another stream that was resumed", asked.method)
    })
}

fn authorization_servers(seen: &Seen<'_>) -> Verdict {
    let Some(document) = seen.http().and_then(|facts| facts.metadata.as_ref()) else { return Idle };
    let servers = document.get("authorization_servers").and_then(Value::as_array);
    Verdict::that(servers.is_some_and(|servers| !servers.is_empty()), || {
        "the metadata of the resource name no authorization server".to_owned()
    })
}

/// Where the header names no document, a well-known address may have it; the drive looks there.
fn unauthorized(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|facts| facts.status == 401) else { return Idle };
    let challenge = facts.header("www-authenticate").unwrap_or_default();
    Verdict::that(challenge.contains("resource_metadata") || facts.metadata.is_some(), || {
        "a 401 names no metadata of the resource, and no well-known address has any".to_owned()
    })
}

fn challenged(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = seen.http().filter(|facts| facts.status == 401) else { return Idle };
    let challenge = facts.header("www-authenticate").unwrap_or_default();
    Verdict::that(challenge.contains("resource_metadata"), || {
        "a 401 names no metadata of the resource".to_owned()
    })
}
