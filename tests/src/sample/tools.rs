//! Servers with tools: plain, with all optional members, many, and all kinds of results.

use std::time::Duration;

use bowline::{Context, Error, Json, Server, Tool, tool, tools};
use bowline_types::content::Content;
use bowline_types::implementation::Icon;
use bowline_types::resource::ResourceContents;
use schemars::JsonSchema;
use serde::Serialize;

/// The default server of transcripts.
pub(super) fn kit(server: Server) -> Server {
    server.tools(tools![echo, fail, refuse, crash, whoami])
}

/// Five tools on three pages.
pub(super) fn pages(server: Server) -> Server {
    server.page_size(2).ttl(Duration::from_secs(60)).tools((1..=5).map(numbered))
}

/// Every kind of tool result.
pub(super) fn results(server: Server) -> Server {
    server.tools(tools![add, weather, gallery, checked])
}

/// A server and a tool with every optional member.
pub(super) fn adorned(server: Server) -> Server {
    let icon = Icon::new("https://example.com/icon.png");
    let tool = Tool::new("paint", || async { "painted" })
        .title("Paint")
        .describe("Paint the fence")
        .icon(icon.clone())
        .destructive()
        .idempotent()
        .closed_world();
    let look = Tool::new("look", || async { "green" }).describe("Look at the fence").read_only();
    server
        .title("The Fence")
        .description("All about the fence")
        .website("https://example.com/fence")
        .icon(icon)
        .instructions("Look before you paint")
        .tool(tool)
        .tool(look)
}

/// The message of the panic of the tool `crash`.
pub const CRASH: &str = "the sample tool breaks down, as it should";

/// Say it again
#[tool]
fn echo(text: String) -> String {
    text
}

/// Fail
#[tool]
fn fail(reason: String) -> bowline::Result<String> {
    Err(reason)?
}

/// Refuse the request
#[tool]
fn refuse() -> bowline::Result<String> {
    Err(Error::rpc(17, "not today"))
}

/// Break down
#[tool]
fn crash() -> String {
    panic!("{CRASH}")
}

/// Name the caller
#[tool]
fn whoami(context: Context) -> String {
    context.client().map_or_else(|| "a nameless client".to_owned(), |client| client.name.clone())
}

fn numbered(number: u8) -> Tool {
    Tool::new(format!("tool-{number}"), move || async move { number })
}

/// Add two numbers
#[tool]
fn add(a: i64, b: i64) -> Json<i64> {
    Json(a + b)
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    /// In degrees
    celsius: i32,
    sky: String,
}

/// Look out of the window
#[tool]
fn weather() -> Json<Weather> {
    Json(Weather { celsius: 21, sky: "clear".to_owned() })
}

/// Show one of everything
#[tool]
fn gallery() -> Vec<Content> {
    vec![
        Content::text("a text"),
        Content::image(b"picture", "image/png"),
        Content::audio(b"sound", "audio/wav"),
        Content::resource_link("file:///notes.txt", "notes"),
        Content::resource(ResourceContents::text("file:///notes.txt", "remember")),
    ]
}

/// Take a percentage
#[tool]
fn checked(#[arg(range = 0..=100)] percent: u8, note: Option<String>) -> String {
    format!("{percent} % {}", note.unwrap_or_default()).trim_end().to_owned()
}
