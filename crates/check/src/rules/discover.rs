//! The stateless era: discovery, versions, result types, what every request carries.

use bowline_types::meta::key;
use serde_json::Value;

use crate::past::has;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::STATELESS;
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::{Seen, WireReply};

pub(super) const RULES: &[Rule] = &[
    must("ST-8", STATELESS, "removed methods are unknown", removed).inferred(),
    must("RT-1", STATELESS, "a result has `resultType`", result_type),
    must(
        "RQM-4",
        STATELESS,
        "a request without its `_meta` keys is answered with -32602",
        missing_key,
    ),
    must("RQM-6", STATELESS, "a request without `clientInfo` is served", without_info).inferred(),
    must("RQM-8", STATELESS, "error -32021 names the capabilities", missing_capability),
    should("RQM-11", STATELESS, "results name the server", server_info),
    must(
        "VER-1",
        STATELESS,
        "an unsupported version is answered with -32022 and the versions",
        version,
    ),
    must("DISC-1", STATELESS, "`server/discover` works", discover),
    shaped(
        "DISC-3",
        STATELESS,
        "its result has versions and capabilities",
        &["DiscoverResult", "ServerCapabilities", "ListCapability", "ResourceCapability"],
    )
    .inferred(),
    must("XN-1", STATELESS, "names of extensions have a prefix", extension_names),
];

/// Methods that the stateless era does not have any more.
const REMOVED: &[&str] = &[
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/result",
    "tasks/list",
];

fn removed(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    if !REMOVED.contains(&reply.asked.method.as_str()) || !is_stateless(&reply) {
        return Idle;
    }
    Verdict::that(reply.code().is_some(), || format!("`{}` still works", reply.asked.method))
}

fn is_stateless(reply: &WireReply<'_>) -> bool {
    reply.asked.meta(key::PROTOCOL_VERSION).is_some()
}

fn result_type(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(is_stateless) else { return Idle };
    let Some(result) = reply.result else { return Idle };
    match result.get("resultType").and_then(Value::as_str) {
        Some("complete" | "input_required" | "task") => Kept,
        Some(other) => Broken(format!("`resultType` is `{other}`")),
        None => Broken(format!("the result of `{}` has no `resultType`", reply.asked.method)),
    }
}

fn missing_key(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(|_| seen.past.client_capabilities.is_null()) else {
        return Idle;
    };
    let missing = [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES];
    let Some(missing) = missing.iter().find(|key| reply.asked.meta(key).is_none()) else {
        return Idle;
    };
    // Without a version the request is one of the handshake's era, which such a server may serve;
    // and a mirrored header may differ from it.
    let is_other = *missing == key::PROTOCOL_VERSION && reply.code() != Some(-32602);
    match reply.code() {
        Some(-32602) => Kept,
        Some(-32601 | -32020) => Idle,
        _ if is_other => Idle,
        _ => {
            Broken(format!("a request without `{missing}` got {}", super::errors::outcome(&reply)))
        }
    }
}

fn without_info(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("server/discover").filter(is_stateless) else { return Idle };
    if reply.asked.meta(key::CLIENT_INFO).is_some() || reply.asked.capabilities().is_null() {
        return Idle;
    }
    Verdict::that(reply.code() != Some(-32602), || {
        "a request without `clientInfo` was refused".to_owned()
    })
}

fn missing_capability(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply().filter(|reply| reply.code() == Some(-32021)) else {
        return Idle;
    };
    let needed = reply.error.and_then(|error| error.pointer("/data/requiredCapabilities"));
    Verdict::that(needed.is_some_and(Value::is_object), || {
        "error -32021 has no object `data.requiredCapabilities`".to_owned()
    })
}

fn server_info(seen: &Seen<'_>) -> Verdict {
    let Some(result) = seen.reply().filter(is_stateless).and_then(|reply| reply.result) else {
        return Idle;
    };
    let has_info = result.get("_meta").is_some_and(|meta| meta.get(key::SERVER_INFO).is_some());
    Verdict::that(has_info, || format!("a result has no `{}`", key::SERVER_INFO))
}

/// The drive asks for a version that no server has.
fn version(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply() else { return Idle };
    let asked = reply.asked.meta(key::PROTOCOL_VERSION).and_then(Value::as_str);
    let is_unsupported = asked == Some("2099-01-01");
    match reply.code() {
        Some(-32022) => {
            let has = |name| reply.error.and_then(|error| error.pointer(name)).is_some();
            Verdict::that(has("/data/supported") && has("/data/requested"), || {
                "error -32022 has not both `data.supported` and `data.requested`".to_owned()
            })
        }
        _ if is_unsupported => Broken(format!(
            "a request of a version that does not exist got {}",
            super::errors::outcome(&reply)
        )),
        _ => Idle,
    }
}

fn discover(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("server/discover").filter(is_stateless) else { return Idle };
    Verdict::that(reply.code() != Some(-32601), || "`server/discover` is unknown".to_owned())
}

fn extension_names(seen: &Seen<'_>) -> Verdict {
    let Some((_, result)) = seen.result_of("server/discover") else { return Idle };
    let extensions = result.pointer("/capabilities/extensions").and_then(Value::as_object);
    if !has(result, "capabilities.extensions") {
        return Idle;
    }
    let names = extensions.into_iter().flatten().filter(|(name, _)| {
        name.split_once('/').is_none_or(|(prefix, name)| prefix.is_empty() || name.is_empty())
    });
    Verdict::first(names.map(|(name, _)| format!("the extension `{name}` has no prefix")))
}
