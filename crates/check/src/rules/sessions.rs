//! Sessions of HTTP, and the header with the version.

use bowline_proto::mirror;
use bowline_types::meta::key;

use super::headers::meta;
use crate::message::HttpFacts;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{FROM_03_TO_11, FROM_06_TO_11, STATELESS};
use crate::rule::{Rule, Verdict, must, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("SESS-3", FROM_03_TO_11, "a session id is visible ASCII", visible),
    should(
        "SESS-6",
        FROM_03_TO_11,
        "a request without its session is answered with 400",
        without_session,
    ),
    must("SESS-8", FROM_03_TO_11, "an ended session is answered with 404", ended),
    must("SESS-14", FROM_06_TO_11, "session ids cannot be guessed", unguessable),
    must("SESS-17", STATELESS, "there are no session ids", none).inferred(),
    must("PV-4", FROM_06_TO_11, "an unsupported version header is answered with 400", version),
];

/// The session id that the answer to `initialize` gives out.
fn given<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    let facts = seen.http().filter(|facts| facts.method() == Some("initialize"))?;
    facts.header("mcp-session-id")
}

fn visible(seen: &Seen<'_>) -> Verdict {
    let Some(id) = given(seen) else { return Idle };
    let is_visible = !id.is_empty() && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    Verdict::that(is_visible, || format!("the session id is `{}`", id.escape_debug()))
}

/// A plain POST of a request in a session.
fn in_session<'a>(seen: &Seen<'a>) -> Option<&'a HttpFacts> {
    let facts = seen.http().filter(|facts| facts.verb == "POST" && facts.is_request())?;
    let is_plain = facts.sent_header("origin").is_none() && facts.method() != Some("initialize");
    is_plain.then_some(facts)
}

fn without_session(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = in_session(seen).filter(|_| seen.past.session.is_some()) else { return Idle };
    if facts.sent_header("mcp-session-id").is_some() || facts.status == 404 {
        return Idle;
    }
    // A server that does not need its session may serve the request.
    match facts.is_success() {
        true => Idle,
        false => Verdict::that(facts.status == 400, || {
            format!("a request without its session got {}", facts.status)
        }),
    }
}

fn ended(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = in_session(seen).filter(|_| seen.past.is_session_over) else { return Idle };
    if facts.sent_header("mcp-session-id") != seen.past.session.as_deref() {
        return Idle;
    }
    Verdict::that(facts.status == 404, || format!("an ended session got {}", facts.status))
}

/// Two ids are equal, or differ by a small number.
fn unguessable(seen: &Seen<'_>) -> Verdict {
    let Some(id) = given(seen) else { return Idle };
    let Some(before) = seen.past.known.sessions.last() else { return Idle };
    let (Ok(now), Ok(then)) = (id.parse::<i128>(), before.parse::<i128>()) else {
        return Verdict::that(id != before, || "two sessions have one id".to_owned());
    };
    match now.abs_diff(then) {
        0..1000 => Broken(format!("two session ids are `{before}` and `{id}`")),
        _ => Kept,
    }
}

/// A server of both eras may take a request without the marks of this one for one of the other era.
fn none(seen: &Seen<'_>) -> Verdict {
    let is_stateless = |facts: &&HttpFacts| {
        facts.sent_header(mirror::PROTOCOL_VERSION) == Some(seen.revision.as_str())
            && facts.body.as_ref().is_some_and(|body| meta(body, key::PROTOCOL_VERSION).is_some())
    };
    let Some(facts) = seen.http().filter(is_stateless) else { return Idle };
    let has_id = facts.header("mcp-session-id").is_some();
    Verdict::that(!has_id, || "an answer has a session id".to_owned())
}

fn version(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = in_session(seen) else { return Idle };
    let version = facts.sent_header("mcp-protocol-version");
    if version != Some("1999-01-01") {
        return Idle;
    }
    Verdict::that(facts.status == 400, || {
        format!("the version 1999-01-01 in the header got {}", facts.status)
    })
}
