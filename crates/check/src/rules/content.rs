//! Blocks of content, and their annotations.

use serde_json::Value;

use super::resources::is_base64;
use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, SINCE_06};
use crate::rule::{Rule, Verdict, must, shaped};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    shaped(
        "CONT-1",
        ALL,
        "blocks of content have a known type and its members",
        &[
            "ContentBlock",
            "TextContent",
            "ImageContent",
            "AudioContent",
            "EmbeddedResource",
            "ResourceLink",
        ],
    )
    .inferred(),
    shaped("CONT-2", ALL, "annotations have their values", &["Annotations"]).inferred(),
    must("CONT-3", SINCE_06, "annotations stand beside an embedded resource", beside).inferred(),
    must("CONT-4", ALL, "images and audio in results of tools are base64", base64).inferred(),
];

/// The blocks in the result of a call.
fn blocks<'a>(seen: &Seen<'a>) -> Vec<&'a Value> {
    let content = seen.result_of("tools/call").and_then(|(_, result)| result.get("content"));
    content.and_then(Value::as_array).into_iter().flatten().collect()
}

fn beside(seen: &Seen<'_>) -> Verdict {
    let resources: Vec<&Value> =
        blocks(seen).into_iter().filter_map(|it| it.get("resource")).collect();
    if resources.is_empty() {
        return Idle;
    }
    Verdict::first(
        resources
            .into_iter()
            .filter(|it| it.get("annotations").is_some())
            .map(|_| "annotations stand inside the embedded resource".to_owned()),
    )
}

fn base64(seen: &Seen<'_>) -> Verdict {
    let data = blocks(seen).into_iter().filter_map(|it| it.get("data").and_then(Value::as_str));
    let data: Vec<&str> = data.collect();
    if data.is_empty() {
        return Idle;
    }
    Verdict::first(
        data.into_iter().filter(|it| !is_base64(it)).map(|_| "`data` is not base64".to_owned()),
    )
}
