//! Keys of `_meta`, and icons.

use bowline_types::meta::key;
use serde_json::{Map, Value};

use crate::rule::Verdict::{Idle, Kept};
use crate::rule::span::{ONLY_06, ONLY_11, SINCE_06, SINCE_11, STATELESS};
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    must("META-2", SINCE_06, "a prefix of a `_meta` key is labels with dots, before `/`", prefixes),
    must("META-3", SINCE_06, "labels are letters, digits and hyphens", labels),
    must("META-5", ONLY_06, "reserved prefixes are not used for own keys", reserved_06).inferred(),
    must("META-6", SINCE_11, "reserved prefixes are not used for own keys", reserved).inferred(),
    must("META-7", SINCE_06, "names begin and end with a letter or digit", names),
    must("META-10", ONLY_11, "reserved keys of tasks hold what they are for", task_keys).inferred(),
    must("META-11", STATELESS, "trace context is written as W3C says", trace_context),
    shaped("ICON-1", SINCE_11, "an icon has `src`, and its other members fit", &["Icon"])
        .inferred(),
];

/// Members that hold values of the program, in which `_meta` is data.
const DATA: &[&str] = &[
    "structuredContent",
    "inputSchema",
    "outputSchema",
    "requestedSchema",
    "arguments",
    "data",
    "experimental",
    "extensions",
];

/// All `_meta` objects of a message.
fn metas(seen: &Seen<'_>) -> Vec<Map<String, Value>> {
    let mut found = Vec::new();
    if let Some(message) = seen.server() {
        collect(&message.value, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (name, inner) in members {
                match inner.as_object() {
                    Some(meta) if name == "_meta" => found.push(meta.clone()),
                    _ if DATA.contains(&name.as_str()) => {}
                    _ => collect(inner, found),
                }
            }
        }
        _ => {}
    }
}

/// Judges every key; a reason breaks the rule.
fn each_key(seen: &Seen<'_>, judge: impl Fn(&str, &Value) -> Option<String>) -> Verdict {
    let metas = metas(seen);
    let mut keys = metas.iter().flatten().peekable();
    if keys.peek().is_none() {
        return Idle;
    }
    Verdict::first(keys.filter_map(|(key, value)| judge(key, value)))
}

fn split(key: &str) -> (Option<&str>, &str) {
    match key.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    }
}

fn prefixes(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, _| {
        let (prefix, _) = split(key);
        let is_wrong = prefix.is_some_and(|prefix| prefix.is_empty() || prefix.contains('/'));
        is_wrong.then(|| format!("the key `{key}` has no proper prefix"))
    })
}

fn labels(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, _| {
        let prefix = split(key).0.filter(|prefix| !prefix.is_empty() && !prefix.contains('/'))?;
        let wrong = prefix.split('.').find(|label| !is_label(label))?;
        Some(format!("the key `{key}` has the label `{wrong}`"))
    })
}

fn is_label(label: &str) -> bool {
    let is_inner = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let first = label.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    let last = label.chars().last().is_some_and(|c| c.is_ascii_alphanumeric());
    is_inner && first && last
}

/// Keys that the specification and its extensions define.
const DEFINED: &[&str] = &[
    key::PROTOCOL_VERSION,
    key::CLIENT_CAPABILITIES,
    key::CLIENT_INFO,
    key::LOG_LEVEL,
    key::SERVER_INFO,
    key::SUBSCRIPTION_ID,
    key::RELATED_TASK,
    key::MODEL_IMMEDIATE_RESPONSE,
];

/// `io.modelcontextprotocol/<extension>…` belongs to official extensions.
fn is_defined(key: &str) -> bool {
    DEFINED.contains(&key)
}

fn reserved_06(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, _| {
        let labels: Vec<&str> = split(key).0?.split('.').collect();
        let owner = labels.len().checked_sub(2).and_then(|at| labels.get(at))?;
        let is_reserved = matches!(*owner, "modelcontextprotocol" | "mcp");
        (is_reserved && !is_defined(key)).then(|| format!("the key `{key}` is reserved"))
    })
}

fn reserved(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, _| {
        let owner = split(key).0?.split('.').nth(1)?;
        let is_reserved = matches!(owner, "modelcontextprotocol" | "mcp");
        (is_reserved && !is_defined(key)).then(|| format!("the key `{key}` is reserved"))
    })
}

fn names(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, _| {
        let name = split(key).1;
        let is_inner =
            name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        let ends = [name.chars().next(), name.chars().last()];
        let is_bounded = ends.iter().flatten().all(char::is_ascii_alphanumeric);
        (!is_inner || !is_bounded).then(|| format!("the key `{key}` has a wrong name"))
    })
}

fn task_keys(seen: &Seen<'_>) -> Verdict {
    each_key(seen, |key, value| {
        let fits = match key {
            key::RELATED_TASK => value.get("taskId").is_some_and(Value::is_string),
            key::MODEL_IMMEDIATE_RESPONSE => value.is_string(),
            _ => true,
        };
        (!fits).then(|| format!("the key `{key}` holds {value}"))
    })
}

fn trace_context(seen: &Seen<'_>) -> Verdict {
    let verdict = each_key(seen, |key, value| {
        let text = value.as_str().unwrap_or_default();
        let fits = match key {
            key::TRACEPARENT => is_traceparent(text),
            key::TRACESTATE | key::BAGGAGE => text.split(',').all(|member| member.contains('=')),
            _ => true,
        };
        (!fits).then(|| format!("`{key}` is {value}"))
    });
    let has = |meta: &Map<String, Value>| meta.contains_key(key::TRACEPARENT);
    if verdict == Kept && !metas(seen).iter().any(has) { Idle } else { verdict }
}

/// `version-trace-parent-flags`, in lower-case hexadecimal.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_hex = |part: &&str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    lengths.starts_with(&[2, 32, 16, 2]) && parts.iter().all(is_hex)
}
