//! Streams of changes, on 2026-07-28.

use bowline_types::meta::key;
use serde_json::Value;

use crate::message::Channel;
use crate::past::Listened;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::STATELESS;
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("SUB-2", STATELESS, "only changes that the client wants are sent", wanted),
    must("SUB-3", STATELESS, "the acknowledgment comes first", acknowledged_first),
    shaped(
        "SUB-6",
        STATELESS,
        "the acknowledgment says what is sent",
        &["Acknowledged", "SubscriptionFilter"],
    )
    .inferred(),
    must("SUB-8", STATELESS, "messages of a stream name it", names_stream),
    must("SUB-12", STATELESS, "progress does not come on a stream of changes", no_progress)
        .inferred(),
    must("SUB-14", STATELESS, "the result of a stream names it", result_names_stream).inferred(),
    must(
        "RSRC-9",
        STATELESS,
        "only resources that the client named are said to change",
        named_resources,
    )
    .inferred(),
];

/// The kinds of changes, and the members of the filter that ask for them.
const CHANGES: &[(&str, &str)] = &[
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
    ("notifications/resources/updated", "resourceSubscriptions"),
];

/// The member of the filter for the change that the message announces.
fn change(seen: &Seen<'_>) -> Option<&'static str> {
    let found = CHANGES.iter().find(|(method, _)| seen.notification(method).is_some())?;
    Some(found.1)
}

fn id<'a>(seen: &Seen<'a>) -> Option<&'a Value> {
    seen.server()?.params().get("_meta")?.get(key::SUBSCRIPTION_ID)
}

fn stream<'a>(seen: &Seen<'a>) -> Option<&'a Listened> {
    let id = id(seen)?;
    seen.past.listened.iter().find(|listened| listened.id == *id)
}

fn wanted(seen: &Seen<'_>) -> Verdict {
    let (Some(member), Some(stream)) = (change(seen), stream(seen)) else { return Idle };
    let wants = stream.filter.get(member).is_some_and(|it| *it != Value::Bool(false));
    Verdict::that(wants, || format!("the client did not ask for `{member}`"))
}

fn acknowledged_first(seen: &Seen<'_>) -> Verdict {
    if seen.notification("notifications/subscriptions/acknowledged").is_some() {
        return Kept;
    }
    match (change(seen), stream(seen)) {
        (Some(_), Some(stream)) => Verdict::that(stream.acknowledged.is_some(), || {
            "a change came before the acknowledgment".to_owned()
        }),
        _ => Idle,
    }
}

fn names_stream(seen: &Seen<'_>) -> Verdict {
    let is_acknowledgment = seen.notification("notifications/subscriptions/acknowledged").is_some();
    if change(seen).is_none() && !is_acknowledgment {
        return Idle;
    }
    match (id(seen), stream(seen)) {
        (None, _) => Broken("a message of a stream has no subscription id".to_owned()),
        (Some(id), None) => Broken(format!("no open stream has the id {id}")),
        (Some(_), Some(_)) => Kept,
    }
}

fn no_progress(seen: &Seen<'_>) -> Verdict {
    let Some(message) = seen.server() else { return Idle };
    if seen.notification("notifications/progress").is_none() {
        return Idle;
    }
    let asked = match message.channel {
        Channel::Post(_) => seen.past.asked_on(message.channel),
        _ => None,
    };
    let is_listen = asked.is_some_and(|asked| asked.method == "subscriptions/listen");
    Verdict::that(!is_listen && id(seen).is_none(), || {
        "progress came on a stream of changes".to_owned()
    })
}

fn result_names_stream(seen: &Seen<'_>) -> Verdict {
    let Some((asked, result)) = seen.result_of("subscriptions/listen") else { return Idle };
    let id = result.get("_meta").and_then(|meta| meta.get(key::SUBSCRIPTION_ID));
    Verdict::that(id == Some(&asked.id), || "the result of a stream does not name it".to_owned())
}

fn named_resources(seen: &Seen<'_>) -> Verdict {
    let params = seen.notification("notifications/resources/updated");
    let uri = params.and_then(|it| it.get("uri")).and_then(Value::as_str);
    let (Some(uri), Some(stream)) = (uri, stream(seen)) else { return Idle };
    let Some(named) = stream.filter.get("resourceSubscriptions").and_then(Value::as_array) else {
        return Idle;
    };
    let mut named = named.iter().filter_map(Value::as_str);
    Verdict::that(named.any(|known| uri.starts_with(known)), || {
        format!("`{uri}` was not asked for")
    })
}
