//! Prompts.

use serde_json::Value;

use super::resources::{is_base64, is_uri};
use crate::rule::Verdict::Idle;
use crate::rule::span::{ALL, SINCE_03};
use crate::rule::{Rule, Verdict, must, shaped, should};
use crate::seen::Seen;

pub(super) const RULES: &[Rule] = &[
    shaped(
        "PRMT-8",
        ALL,
        "a message of a prompt has a role and one block",
        &["PromptMessage", "GetPromptResult", "Prompt", "PromptArgument", "ListPromptsResult"],
    )
    .inferred(),
    must("PRMT-9", ALL, "images are base64 with a media type", images),
    must("PRMT-10", SINCE_03, "audio is base64 with a media type", audio),
    must("PRMT-11", ALL, "an embedded resource has a URI and valid data", embedded),
    should("PRMT-13", ALL, "an unknown prompt is answered with -32602", unknown),
    should("PRMT-14", ALL, "a missing argument is answered with -32602", missing_argument),
];

/// The blocks of this type in the messages of a prompt.
fn blocks<'a>(seen: &Seen<'a>, kind: &str) -> Vec<&'a Value> {
    let messages = seen.result_of("prompts/get").and_then(|(_, result)| result.get("messages"));
    let messages = messages.and_then(Value::as_array).into_iter().flatten();
    let blocks = messages.filter_map(|message| message.get("content"));
    blocks.filter(|block| block.get("type").is_some_and(|it| it == kind)).collect()
}

fn media(seen: &Seen<'_>, kind: &str) -> Verdict {
    let blocks = blocks(seen, kind);
    if blocks.is_empty() {
        return Idle;
    }
    Verdict::first(blocks.into_iter().filter_map(|block| {
        let data = block.get("data").and_then(Value::as_str)?;
        let media_type = block.get("mimeType").and_then(Value::as_str)?;
        if !is_base64(data) {
            return Some(format!("the data of an {kind} block is not base64"));
        }
        (!is_media_type(media_type)).then(|| format!("`{media_type}` is no media type"))
    }))
}

/// `type/subtype`, with or without parameters.
pub(super) fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').is_some_and(|(kind, name)| token(kind) && token(name))
}

fn images(seen: &Seen<'_>) -> Verdict {
    media(seen, "image")
}

fn audio(seen: &Seen<'_>) -> Verdict {
    media(seen, "audio")
}

fn embedded(seen: &Seen<'_>) -> Verdict {
    let blocks = blocks(seen, "resource");
    if blocks.is_empty() {
        return Idle;
    }
    Verdict::first(blocks.into_iter().filter_map(|block| {
        let text = |name: &str| block.get("resource")?.get(name)?.as_str();
        if let Some(uri) = text("uri").filter(|uri| !is_uri(uri)) {
            return Some(format!("`{uri}` is no URI"));
        }
        text("blob").filter(|blob| !is_base64(blob)).map(|_| "`blob` is not base64".to_owned())
    }))
}

fn unknown(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("prompts/get") else { return Idle };
    let is_unknown = reply.asked.param("name").is_some_and(|it| it.starts_with("bowline-unknown"));
    if !is_unknown || reply.code() == Some(-32601) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("an unknown prompt got {}", super::errors::outcome(&reply))
    })
}

/// The drive leaves out all arguments of a prompt that needs some, under this id.
fn missing_argument(seen: &Seen<'_>) -> Verdict {
    let Some(reply) = seen.reply_to("prompts/get") else { return Idle };
    if !reply.asked.id.as_str().is_some_and(|id| id.starts_with("missing-argument")) {
        return Idle;
    }
    Verdict::that(reply.code() == Some(-32602), || {
        format!("a prompt without its arguments got {}", super::errors::outcome(&reply))
    })
}
