//! The handshake, and `ping`.

use bowline_types::method::Method;
use serde_json::Value;

use crate::past::Carrier;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ALL, FROM_06_TO_11, STATEFUL};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    shaped(
        "LIFE-3",
        STATEFUL,
        "`initialize` is answered with version, capabilities and server info",
        &[
            "InitializeResult",
            "ServerCapabilities",
            "ListCapability",
            "ResourceCapability",
            "Implementation",
        ],
    ),
    should("LIFE-6", STATEFUL, "before `initialized` the server only pings and logs", early),
    must("LIFE-9", STATEFUL, "a version that the server supports is agreed to", echoes_version),
    must("LIFE-10", STATEFUL, "another version is offered, not an error", offers_version),
    must("LIFE-13", STATEFUL, "one version holds for the session", one_version),
    must("LIFE-14", FROM_06_TO_11, "messages belong to the agreed version", stays_in_version),
    must("LIFE-25", ALL, "versions are dates", dated).inferred(),
    must("PING-1", STATEFUL, "`ping` is answered with an empty result", ping),
];

fn early(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    let Some(method) = message.method().filter(|_| !seen.past.is_initialized) else { return Idle };
    let is_fine = matches!(method, "ping" | "notifications/message");
    Verdict::that(is_fine, || format!("`{method}` came before `notifications/initialized`"))
}

fn echoes_version(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("initialize") else { return Idle };
    let wanted = asked.param("protocolVersion").unwrap_or_default();
    let agreed = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    if !seen.past.known.versions.contains(wanted) && agreed != wanted {
        return Idle;
    }
    Verdict::that(agreed == wanted, || {
        format!("the server supports {wanted}, and answered with {agreed}")
    })
}

fn offers_version(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("initialize") else { return Idle };
    let wanted = reply.asked.param("protocolVersion").unwrap_or_default();
    let agreed = reply.result.and_then(|result| result.get("protocolVersion"));
    let has_supported = reply.error.and_then(|error| error.pointer("/data/supported")).is_some();
    match reply.code() {
        // A server of the stateless era only names its versions.
        Some(-32602 | -32022) if has_supported => Kept,
        Some(-32601) => Idle,
        Some(code) => Broken(format!("version {wanted} was refused with {code}")),
        None => match agreed.and_then(Value::as_str) {
            Some(agreed) if agreed == wanted => Idle,
            _ => Kept,
        },
    }
}

/// Over HTTP a second `initialize` begins a session of its own.
fn one_version(seen: &Seen<'_>) -> Verdict {
    if seen.past.carrier == Carrier::Http {
        return Idle;
    }
    let Some((asked, result)) = seen.result_of("initialize") else { return Idle };
    let agreed = result.get("protocolVersion").and_then(Value::as_str);
    let mut others = seen.past.requests().iter();
    let is_second = others
        .any(|other| other.method == "initialize" && other.answers > 0 && other.id != asked.id);
    let is_other = is_second && agreed != Some(seen.past.revision.as_str());
    Verdict::that(!is_other, || "a second `initialize` changed the version".to_owned())
}

fn stays_in_version(seen: &Seen<'_>) -> Verdict {
    let Some(method) = seen.server().and_then(|message| message.method()) else { return Idle };
    match Method::named(method) {
        Some(known) => Verdict::that(known.is_from_server(seen.revision), || {
            format!("servers do not send `{method}` in {}", seen.revision)
        }),
        None => Idle,
    }
}

fn dated(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let Some(result) = reply.result else { return Idle };
    let versions: Vec<&Value> = match reply.asked.method.as_str() {
        "initialize" => result.get("protocolVersion").into_iter().collect(),
        "server/discover" => result
            .get("supportedVersions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .collect(),
        _ => return Idle,
    };
    let versions = versions.into_iter().filter_map(Value::as_str);
    Verdict::first(
        versions.filter(|text| !is_date(text)).map(|text| format!("`{text}` is no date")),
    )
}

fn is_date(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [4, 2, 2] && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn ping(seen: &Seen<'_>) -> Verdict {
    if seen.unanswered().is_some_and(|asked| asked.method == "ping" && !asked.is_in_batch) {
        return Broken("`ping` was not answered".to_owned());
    }
    let Some(reply) = seen.reply_to("ping").filter(|reply| !reply.asked.is_in_batch) else {
        return Idle;
    };
    let mut members = reply.result.and_then(Value::as_object).into_iter().flatten();
    match (reply.error, members.find(|(name, _)| *name != "_meta")) {
        // Before the handshake is over a server may refuse.
        (Some(_), _) if !seen.past.knows_capabilities() => Idle,
        (Some(_), _) if seen.past.is_refused(reply.asked) => Idle,
        (Some(error), _) => Broken(format!("`ping` was answered with {error}")),
        (None, Some((name, _))) => Broken(format!("the result of `ping` has `{name}`")),
        (None, None) => Kept,
    }
}
