//! Elicitation: what servers ask the user.

use serde_json::Value;

use super::resources::is_uri;
use crate::past::has;
use crate::rule::Verdict::{Broken, Idle, Kept};
use crate::rule::span::{ONLY_06, ONLY_11, SINCE_06, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("ELIC-5", SINCE_11, "the mode is one that the client declared", declared_mode),
    must("ELIC-15", SINCE_11, "the mode is `form` or `url`", known_mode),
    shaped("ELIC-18", SINCE_06, "a form has a message and a schema", &["ElicitForm", "FormSchema"]),
    must("ELIC-19", SINCE_06, "fields of a form are simple", simple_fields).inferred(),
    must("ELIC-20", ONLY_06, "choices of a form are written as 2025-06-18 has them", choices_06)
        .inferred(),
    must("ELIC-21", SINCE_11, "choices of a form are written as the schema has them", choices)
        .inferred(),
    shaped(
        "ELIC-23",
        ONLY_11,
        "a URL request has `mode`, `message`, `url` and `elicitationId`",
        &["ElicitUrl"],
    ),
    must("ELIC-24", STATELESS, "a URL request has no `elicitationId`", no_id),
    must("ELIC-25", SINCE_11, "`url` is a valid URL", valid_url),
    must("ELIC-32", ONLY_11, "a completion names its elicitation", completion_id),
    must("ELIC-38", ONLY_11, "error -32042 lists elicitations", required_list),
    must(
        "ELIC-39",
        ONLY_11,
        "each entry of error -32042 is a URL request with an id",
        required_entries,
    ),
];

fn asked<'a>(seen: &Seen<'a>) -> Vec<(&'a Value, &'a Value)> {
    let questions = seen.questions().into_iter();
    let asked = questions.filter(|it| it.method == "elicitation/create");
    asked.map(|it| (it.params, it.capabilities)).collect()
}

fn mode(params: &Value) -> &str {
    params.get("mode").map_or("form", |mode| mode.as_str().unwrap_or_default())
}

/// Judges the params of each elicitation.
fn each(seen: &Seen<'_>, judge: impl Fn(&Value) -> Option<String>) -> Verdict {
    let asked = asked(seen);
    if asked.is_empty() {
        return Idle;
    }
    Verdict::first(asked.iter().filter_map(|(params, _)| judge(params)))
}

/// An empty `elicitation` is form mode only.
fn declared_mode(seen: &Seen<'_>) -> Verdict {
    let asked = asked(seen);
    let Some((params, capabilities)) = asked.first() else { return Idle };
    let has_any = has(capabilities, "elicitation.form") || has(capabilities, "elicitation.url");
    let is_declared = match mode(params) {
        "url" => has(capabilities, "elicitation.url"),
        _ => has(capabilities, "elicitation.form") || !has_any,
    };
    // An elicitation of a client without the capability is another rule's.
    if !has(capabilities, "elicitation") {
        return Idle;
    }
    Verdict::that(is_declared, || format!("the client did not declare the mode `{}`", mode(params)))
}

fn known_mode(seen: &Seen<'_>) -> Verdict {
    each(seen, |params| {
        let mode = mode(params);
        (!matches!(mode, "form" | "url")).then(|| format!("the mode is `{mode}`"))
    })
}

/// The fields of a form.
fn fields(params: &Value) -> Vec<(&String, &Value)> {
    let fields = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
    fields.into_iter().flatten().collect()
}

fn each_field(seen: &Seen<'_>, judge: fn(&Value) -> Option<&'static str>) -> Verdict {
    each(seen, |params| {
        fields(params).into_iter().find_map(|(name, field)| {
            judge(field).map(|reason| format!("the field `{name}` {reason}"))
        })
    })
}

fn simple_fields(seen: &Seen<'_>) -> Verdict {
    each_field(seen, |field| {
        let kind = field.get("type").and_then(Value::as_str);
        let format = field.get("format").and_then(Value::as_str);
        match kind {
            Some("string" | "number" | "integer" | "boolean") => match format {
                None | Some("email" | "uri" | "date" | "date-time") => None,
                Some(_) => Some("has a format that forms do not have"),
            },
            Some("array") => {
                let items = field.get("items")?;
                items.get("properties").map(|_| "is an array of objects")
            }
            _ => Some("is not simple"),
        }
    })
}

fn choices_06(seen: &Seen<'_>) -> Verdict {
    each_field(seen, |field| {
        let is_boolean = field.get("type").is_some_and(|kind| kind == "boolean");
        if field.get("oneOf").is_some() || field.get("anyOf").is_some() {
            return Some("has choices with titles");
        }
        (field.get("default").is_some() && !is_boolean).then_some("has a default")
    })
}

fn choices(seen: &Seen<'_>) -> Verdict {
    each_field(seen, |field| {
        let is_titled = |choices: &Value| {
            choices.as_array().is_some_and(|choices| {
                choices.iter().all(|it| it.get("const").is_some() && it.get("title").is_some())
            })
        };
        if field.get("oneOf").is_some_and(|it| !is_titled(it)) {
            return Some("has a choice without `const` or `title`");
        }
        if field.get("type").is_some_and(|kind| kind == "array") {
            let items = field.get("items").unwrap_or(&Value::Null);
            let is_choice =
                items.get("enum").is_some() || items.get("anyOf").is_some_and(is_titled);
            return (!is_choice).then_some("is an array without choices");
        }
        None
    })
}

fn no_id(seen: &Seen<'_>) -> Verdict {
    each(seen, |params| {
        params.get("elicitationId").map(|_| "a URL request has an `elicitationId`".to_owned())
    })
}

fn valid_url(seen: &Seen<'_>) -> Verdict {
    each(seen, |params| {
        let url = params.get("url").and_then(Value::as_str).filter(|_| mode(params) == "url")?;
        let is_url = is_uri(url) && url.contains("://");
        (!is_url).then(|| format!("`{url}` is no URL"))
    })
}

fn completion_id(seen: &Seen<'_>) -> Verdict {
    let Some(params) = seen.notification("notifications/elicitation/complete") else { return Idle };
    let id = params.get("elicitationId").and_then(Value::as_str);
    let is_known = id.is_some_and(|id| seen.past.elicitations.contains(id));
    Verdict::that(is_known, || "a completion names no elicitation of this session".to_owned())
}

/// The entries of error -32042.
fn required<'a>(seen: &Seen<'a>) -> Option<Option<&'a Vec<Value>>> {
    let reply = seen.reply().filter(|reply| reply.code() == Some(-32042))?;
    Some(reply.error.and_then(|error| error.pointer("/data/elicitations")?.as_array()))
}

fn required_list(seen: &Seen<'_>) -> Verdict {
    match required(seen) {
        None => Idle,
        Some(None) => Broken("error -32042 has no `data.elicitations`".to_owned()),
        Some(Some(_)) => Kept,
    }
}

fn required_entries(seen: &Seen<'_>) -> Verdict {
    let Some(Some(entries)) = required(seen) else { return Idle };
    Verdict::first(entries.iter().filter_map(|entry| {
        let is_url = entry.get("mode").is_some_and(|mode| mode == "url");
        let has_id = entry.get("elicitationId").is_some_and(Value::is_string);
        (!is_url || !has_id)
            .then(|| "an entry is no URL request with an `elicitationId`".to_owned())
    }))
}
