//! Servers with prompts: plain, with all optional members, many, hidden, and asking.

use bowline::{Ask, Content, Error, Prompt, Server, prompt, prompts};
use bowline_types::content::{Annotations, Role};
use bowline_types::implementation::Icon;
use bowline_types::prompt::{GetPromptResult, PromptArgument, PromptMessage};
use bowline_types::resource::ResourceContents;

use super::tools::CRASH;

/// Every kind of message, and every kind of failure.
pub(super) fn plain(server: Server) -> Server {
    server.prompts(prompts![review, gallery, talk, broken, barred, crooked, collapsing])
}

/// A prompt with every optional member.
pub(super) fn adorned(server: Server) -> Server {
    let colour = PromptArgument::required("colour")
        .with_title("The Colour")
        .with_description("What it is painted with");
    let paint = Prompt::new("paint", || async { "Paint the fence" })
        .title("Paint the Fence")
        .describe("Have the fence painted")
        .icon(Icon::new("https://example.com/fence.png"))
        .meta("example.com/coats", &2)
        .argument(colour);
    server.prompt(paint)
}

/// Five prompts on three pages.
pub(super) fn pages(server: Server) -> Server {
    let numbered =
        |number: u8| Prompt::new(format!("prompt-{number}"), || async { "Say something" });
    server.page_size(2).prompts((1..=5).map(numbered))
}

/// A prompt that only callers with roots may see, and one for all.
pub(super) fn hidden(server: Server) -> Server {
    let open = Prompt::new("open", || async { "for all" });
    let secret = Prompt::new("secret", || async { "for some" })
        .visible(|caller| caller.client.capabilities.roots.is_some());
    server.prompts([open, secret])
}

/// A prompt that asks the user.
pub(super) fn asks(server: Server) -> Server {
    server.prompts(prompts![letter])
}

/// Review code
#[prompt]
fn review(
    /// What it is written in
    language: String,
    /// How many lines a function may have
    lines: Option<u32>,
) -> String {
    let lines = lines.map(|lines| format!(", at most {lines} lines each")).unwrap_or_default();
    format!("Review this {language}{lines}")
}

/// Show one of everything
#[prompt]
fn gallery() -> Vec<Content> {
    let annotations = Annotations::new()
        .with_audience(Role::User)
        .with_priority(1.0)
        .with_last_modified("2026-07-28T12:00:00Z");
    let file = ResourceContents::text("file:///notes.txt", "remember").with_mime_type("text/plain");
    vec![
        Content::text("a text").with_annotations(annotations.clone()),
        Content::image(b"picture", "image/png"),
        Content::audio(b"sound", "audio/wav"),
        Content::resource_link("file:///notes.txt", "notes"),
        Content::resource(file).with_annotations(annotations),
        Content::resource(ResourceContents::blob("file:///notes.bin", b"bytes")),
    ]
}

/// Talk with both sides
#[prompt]
fn talk() -> GetPromptResult {
    let messages = vec![PromptMessage::user("Knock"), PromptMessage::assistant("Who is there?")];
    GetPromptResult::new(messages).with_description("A joke")
}

/// Cannot be made
#[prompt]
fn broken() -> bowline::Result<String> {
    Err("the printer is gone")?
}

/// Refused for a reason of its own
#[prompt]
fn barred() -> bowline::Result<String> {
    Err(Error::rpc(17, "not today"))
}

/// Says what the protocol does not allow
#[prompt]
fn crooked() -> Content {
    Content::image(b"picture", "png")
}

/// Breaks down
#[prompt]
fn collapsing() -> String {
    panic!("{CRASH}")
}

/// Write a letter
#[prompt]
async fn letter(ask: Ask, to: String) -> bowline::Result<String> {
    let kind = ask.confirm("Shall it be kind?").await?;
    Ok(format!("Write a {} letter to {to}", if kind { "kind" } else { "stern" }))
}
