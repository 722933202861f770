//! Resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, SINCE_06, STATEFUL, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("RSRC-7", STATEFUL, "subscribing is answered with an empty result", empty_result)
        .inferred(),
    should("RSRC-8", STATEFUL, "only subscribed resources are said to change", subscribed)
        .inferred(),
    shaped(
        "RSRC-11",
        ALL,
        "contents have a URI, and text or data",
        &["ReadResourceResult", "ResourceContents", "TextResourceContents", "BlobResourceContents"],
    )
    .inferred(),
    must("RSRC-17", SINCE_06, "URIs are written as RFC 3986 says", uris),
    should("RSRC-18", STATEFUL, "an unknown resource is answered with -32002", unknown_legacy),
    must("RSRC-19", STATELESS, "an unknown resource is answered with -32602", unknown),
    must("RSRC-21", STATELESS, "an unknown resource does not give empty contents", not_empty),
    must("RSRC-25", ALL, "binary data is base64", blobs),
];

fn empty_result(seen: &Seen<'_>) -> Verdict {
    let methods = ["resources/subscribe", "resources/unsubscribe"];
    let Some((asked, result)) = methods.iter().find_map(|method| seen.result_of(method)) else {
        return Idle;
    };
    let mut members = result.as_object().into_iter().flatten();
    let other = members.find(|(name, _)| *name != "_meta");
    Verdict::that(other.is_none(), || format!("the result of `{}` is not empty", asked.method))
}

/// A part of a subscribed resource counts as well.
fn subscribed(seen: &Seen<'_>) -> Verdict {
    let params = seen.notification("notifications/resources/updated");
    let Some(uri) = params.and_then(|it| it.get("uri")).and_then(Value::as_str) else {
        return Idle;
    };
    let is_subscribed = seen.past.subscribed.iter().any(|known| uri.starts_with(known.as_str()));
    Verdict::that(is_subscribed, || format!("no client subscribed to `{uri}`"))
}

fn uris(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("resources/list") else { return Idle };
    let items = result.get("resources").and_then(Value::as_array).into_iter().flatten();
    let uris = items.filter_map(|item| item.get("uri").and_then(Value::as_str));
    Verdict::first(uris.filter(|uri| !is_uri(uri)).map(|uri| format!("`{uri}` is no URI")))
}

/// A scheme, and no character that has to be escaped.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let is_allowed = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
    is_scheme && rest.chars().all(is_allowed)
}

/// An answer to a read of a resource that does not exist.
fn unknown_read<'a>(seen: &Seen<'a>) -> Option<crate::seen::WireReply<'a>> {
    let reply = seen.reply_to("resources/read")?;
    let is_unknown =
        reply.asked.param("uri").is_some_and(|uri| uri.starts_with("bowline-unknown:"));
    // A server without resources does not know the method.
    (is_unknown && reply.code() != Some(-32601)).then_some(reply)
}

fn unknown_legacy(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = unknown_read(seen) else { return Idle };
    Verdict::that(reply.code() == Some(-32002), || {
        format!("an unknown resource got {}", super::errors::outcome(&reply))
    })
}

fn unknown(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = unknown_read(seen).filter(|reply| reply.error.is_some()) else { return Idle };
    // The retired code has a rule of its own.
    Verdict::that(matches!(reply.code(), Some(-32602 | -32002)), || {
        format!("an unknown resource got {}", super::errors::outcome(&reply))
    })
}

fn not_empty(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = unknown_read(seen) else { return Idle };
    Verdict::that(reply.result.is_none(), || "an unknown resource got a result".to_owned())
}

fn blobs(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("resources/read") else { return Idle };
    let items = result.get("contents").and_then(Value::as_array).into_iter().flatten();
    let blobs = items.filter_map(|item| item.get("blob").and_then(Value::as_str));
    Verdict::first(blobs.filter(|text| !is_base64(text)).map(|_| "`blob` is not base64".to_owned()))
}

/// Whether a text is base64 with padding.
pub(super) fn is_base64(text: &str) -> bool {
    STANDARD.decode(text).is_ok()
}
