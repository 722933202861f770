//! Statuses and mirrored headers of 2026-07-28.

use bowline_proto::mirror;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::Value;

use crate::message::HttpFacts;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{self, STATELESS};
use crate::rule::{Rule, Verdict, must};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("H26-1", STATELESS, "an unknown method is answered with 404 and -32601", unknown_method),
    must("H26-3", STATELESS, "a request without a version header is refused", no_version),
    must(
        "RQM-5",
        STATELESS,
        "a request without its `_meta` keys is answered with 400",
        missing_key,
    ),
    must("RQM-9", STATELESS, "a missing capability is answered with 400", missing_capability),
    must("VER-2", STATELESS, "an unsupported version is answered with 400", version),
    must("HDR-6", STATELESS, "headers that differ from the body are refused", differing),
    must("HDR-7", STATELESS, "a request without a needed header is refused", missing),
    must("HDR-8", STATELESS, "header values with invalid characters are refused", invalid),
    must("HDR-9", STATELESS, "wrong headers are answered with 400", wrong_status),
    must("HDR-10", STATELESS, "wrong headers are answered with -32020", wrong_code),
    must("HDR-11", STATELESS, "encoded headers are decoded before they are compared", decoded),
    must("HDR-14", STATELESS, "whitespace around header values is ignored", whitespace).inferred(),
    must("XMH-20", STATELESS, "no header is expected for an absent argument", absent_argument),
    must(
        "XMH-23",
        STATELESS,
        "a header of an argument with wrong characters is refused",
        characters,
    ),
    must("XMH-22", STATELESS, "a header that differs from its argument is refused", argument),
];

/// A POST of a request of the stateless era.
fn request<'a>(seen: &Seen<'a>) -> Option<(&'a HttpFacts, &'a Value)> {
    let facts = seen.http().filter(|facts| facts.verb == "POST" && facts.is_request())?;
    let body = facts.body.as_ref()?;
    let is_plain = facts.sent_header("origin").is_none() && !may_be_older(seen, facts);
    (is_plain && meta(body, key::PROTOCOL_VERSION).is_some()).then_some((facts, body))
}

/// Whether the version header, or that there is none, lets a server take the request for one of an
/// older revision. A server that speaks none, and is known to refuse this one, cannot.
fn may_be_older(seen: &Seen<'_>, facts: &HttpFacts) -> bool {
    let is_older = |version: &str| version.parse().is_ok_and(Revision::has_handshake);
    let speaks_older = seen.past.known.versions.iter().any(|version| is_older(version));
    let refuses = |revision: &Revision| seen.past.known.refused.contains(revision);
    match facts.sent_header(mirror::PROTOCOL_VERSION) {
        None => speaks_older || !span::UP_TO_03.iter().all(refuses),
        Some(named) => {
            let is_refused = named.parse().is_ok_and(|revision| refuses(&revision));
            is_older(named) && (speaks_older || !is_refused)
        }
    }
}

pub(super) fn meta<'a>(body: &'a Value, name: &str) -> Option<&'a Value> {
    body.get("params")?.get("_meta")?.get(name)
}

/// The header that mirrors a part of the body, and the value that it should have.
fn mirrored(body: &Value) -> Vec<(&'static str, String)> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let method = text(body.get("method")).unwrap_or_default();
    let named_by = Method::named(&method).and_then(Method::named_by);
    let name = named_by.and_then(|member| text(body.get("params")?.get(member)));
    let mut headers = vec![(mirror::METHOD, method)];
    headers
        .extend(text(meta(body, key::PROTOCOL_VERSION)).map(|it| (mirror::PROTOCOL_VERSION, it)));
    headers.extend(name.map(|name| (mirror::NAME, name)));
    headers
}

/// How the headers of a request relate to its body.
#[derive(PartialEq, Eq)]
enum Relation {
    Same,
    Missing,
    Differing,
    Invalid,
}

fn relation(facts: &HttpFacts, body: &Value) -> Relation {
    let mut relation = Relation::Same;
    for (name, wanted) in mirrored(body) {
        let Some(sent) = facts.sent_header(name) else { return Relation::Missing };
        if !sent.bytes().all(|byte| (0x20..=0x7e).contains(&byte)) {
            return Relation::Invalid;
        }
        let sent = sent.trim();
        // Only names may have other characters, so only they are encoded.
        let sent = match name == mirror::NAME {
            true => mirror::value::decode(sent),
            false => Some(sent.into()),
        };
        if sent.as_deref() != Some(wanted.as_str()) {
            relation = Relation::Differing;
        }
    }
    relation
}

fn refused(seen: &Seen<'_>, wanted: &Relation, what: &str) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    if relation(facts, body) != *wanted {
        return Idle;
    }
    Verdict::that(!facts.is_success(), || format!("{what} was served"))
}

fn differing(seen: &Seen<'_>) -> Verdict {
    refused(seen, &Relation::Differing, "a request with a header that differs from its body")
}

fn missing(seen: &Seen<'_>) -> Verdict {
    refused(seen, &Relation::Missing, "a request without a mirrored header")
}

fn invalid(seen: &Seen<'_>) -> Verdict {
    refused(seen, &Relation::Invalid, "a request with invalid characters in a header")
}

/// A refusal of wrong headers.
fn wrong<'a>(seen: &Seen<'a>) -> Option<&'a HttpFacts> {
    let (facts, body) = request(seen)?;
    (relation(facts, body) != Relation::Same && !facts.is_success()).then_some(facts)
}

fn wrong_status(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = wrong(seen) else { return Idle };
    Verdict::that(facts.status == 400, || format!("wrong headers got {}", facts.status))
}

fn wrong_code(seen: &Seen<'_>) -> Verdict {
    let Some(facts) = wrong(seen) else { return Idle };
    let is_other_version =
        facts.sent_header(mirror::PROTOCOL_VERSION) != Some(seen.revision.as_str());
    match facts.error_code() {
        Some(-32020) => Kept,
        // The version in the header may also be refused as such.
        Some(-32022) if is_other_version => Kept,
        Some(code) => Broken(format!("wrong headers got the error {code}")),
        None => Broken("wrong headers got no JSON-RPC error".to_owned()),
    }
}

/// A request whose headers say the same as its body, in this form.
fn same_as(seen: &Seen<'_>, is_form: fn(&str) -> bool, what: &str) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    let mut headers = mirrored(body).into_iter();
    let has_form = headers.any(|(name, _)| facts.sent_header(name).is_some_and(is_form));
    if !has_form || relation(facts, body) != Relation::Same {
        return Idle;
    }
    Verdict::that(facts.error_code() != Some(-32020), || format!("{what} was refused"))
}

fn decoded(seen: &Seen<'_>) -> Verdict {
    same_as(seen, |value| value.starts_with("=?base64?"), "an encoded header")
}

fn whitespace(seen: &Seen<'_>) -> Verdict {
    same_as(seen, |value| value.trim() != value, "a header with whitespace around it")
}

fn unknown_method(seen: &Seen<'_>) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    let is_unknown = facts.method().is_some_and(|method| method.starts_with("bowline/"));
    if !is_unknown || relation(facts, body) != Relation::Same {
        return Idle;
    }
    let code = facts.error_code();
    Verdict::that(facts.status == 404 && code.is_none_or(|code| code == -32601), || {
        format!("an unknown method got {} and {code:?}", facts.status)
    })
}

fn no_version(seen: &Seen<'_>) -> Verdict {
    let Some((facts, _)) = request(seen) else { return Idle };
    if facts.sent_header(mirror::PROTOCOL_VERSION).is_some() {
        return Idle;
    }
    // A request that was served is the rule of missing headers.
    match facts.is_success() {
        true => Idle,
        false => Verdict::that(facts.status == 400, || {
            format!("a request without a version header got {}", facts.status)
        }),
    }
}

/// The status that goes with a code, where a mirrored header is not at fault.
fn status_of(seen: &Seen<'_>, code: i64) -> Verdict {
    let Some(facts) = seen.http().filter(|facts| facts.error_code() == Some(code)) else {
        return Idle;
    };
    Verdict::that(facts.status == 400, || format!("the error {code} came with {}", facts.status))
}

fn missing_key(seen: &Seen<'_>) -> Verdict {
    let Some((_, body)) = request(seen) else { return Idle };
    match meta(body, key::CLIENT_CAPABILITIES) {
        Some(_) => Idle,
        None => status_of(seen, -32602),
    }
}

fn missing_capability(seen: &Seen<'_>) -> Verdict {
    status_of(seen, -32021)
}

fn version(seen: &Seen<'_>) -> Verdict {
    status_of(seen, -32022)
}

/// The arguments of a call that are mirrored: the header, and the value in the body.
fn arguments(seen: &Seen<'_>, body: &Value) -> Vec<(String, Option<String>)> {
    let params =
        body.get("params").filter(|_| body.get("method").is_some_and(|it| it == "tools/call"));
    let tool =
        params.and_then(|it| it.get("name")?.as_str()).and_then(|it| seen.past.tools.get(it));
    let properties = tool.and_then(|it| it.pointer("/inputSchema/properties")?.as_object());
    let properties = properties.into_iter().flatten();
    let marked =
        properties.filter_map(|(name, it)| Some((name, it.get("x-mcp-header")?.as_str()?)));
    marked
        .map(|(name, header)| {
            let value = params.and_then(|params| params.get("arguments")?.get(name));
            let value = value.filter(|value| !value.is_null());
            let value = value.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
            (format!("{}{}", mirror::PARAM_PREFIX, header.to_ascii_lowercase()), value)
        })
        .collect()
}

fn argument(seen: &Seen<'_>) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    let mut arguments = arguments(seen, body).into_iter();
    let is_wrong = |(name, wanted): &(String, Option<String>)| {
        let sent = facts.sent_header(name).and_then(mirror::value::decode);
        wanted.is_some() && sent.as_deref() != wanted.as_deref()
    };
    match arguments.find(is_wrong) {
        None => Idle,
        Some((name, _)) => {
            let is_refused = facts.status == 400 && facts.error_code() == Some(-32020);
            Verdict::that(is_refused, || format!("a wrong `{name}` got {}", facts.status))
        }
    }
}

fn characters(seen: &Seen<'_>) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    let is_plain = |c: char| (' '..='~').contains(&c);
    let mut arguments = arguments(seen, body).into_iter();
    let wrong = arguments.find(|(name, _)| {
        facts.sent_header(name).is_some_and(|value| !value.chars().all(is_plain))
    });
    match wrong {
        None => Idle,
        Some((name, _)) => Verdict::that(facts.status == 400, || {
            format!("`{name}` with characters that headers cannot have got {}", facts.status)
        }),
    }
}

fn absent_argument(seen: &Seen<'_>) -> Verdict {
    let Some((facts, body)) = request(seen) else { return Idle };
    let arguments = arguments(seen, body);
    let is_absent = !arguments.is_empty() && arguments.iter().all(|(_, value)| value.is_none());
    if !is_absent || relation(facts, body) != Relation::Same {
        return Idle;
    }
    Verdict::that(facts.error_code() != Some(-32020), || {
        "a header was expected for an argument that is absent".to_owned()
    })
}
