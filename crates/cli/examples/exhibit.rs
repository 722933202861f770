//! The server that the tests of the command call: `exhibit` over stdio, `exhibit http` over HTTP.
//! Over HTTP it prints its URL first.

use std::time::Duration;

use bowline::{
    Ask, Content, Json, Log, Notify, Progress, Resource, Result, Server, prompt, prompts,
    starting_with, tool, tools,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Give a message back
#[tool(read_only)]
async fn echo(message: String) -> String {
    message
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Add two integers
#[tool(read_only)]
async fn add(a: i64, b: i64) -> Result<Json<Sum>> {
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(Json(Sum { sum }))
}

/// Join texts
#[tool(read_only)]
async fn join(words: Vec<String>, separator: Option<String>) -> String {
    words.join(separator.as_deref().unwrap_or(" "))
}

/// Sleep, and report progress ten times a second
#[tool(read_only)]
async fn sleep(progress: Progress, seconds: f64) -> String {
    eprintln!("exhibit: sleep begins");
    let mut guard = Guard { is_done: false };
    let steps = (seconds * 10.0) as u32;
    for step in 1..=steps {
        tokio::time::sleep(Duration::from_millis(100)).await;
        progress.report(f64::from(step), Some(f64::from(steps)), "sleeping");
    }
    guard.is_done = true;
    format!("slept {seconds} s")
}

/// Reports that a call was dropped before its end.
struct Guard {
    is_done: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_done {
            eprintln!("exhibit: sleep was cancelled");
        }
    }
}

/// Draw a picture and play a sound
#[tool(read_only)]
async fn show() -> Vec<Content> {
    let picture = Content::image(b"\x89PNG\r\n\x1a\nnot really", "image/png");
    vec![Content::text("a picture:"), picture, Content::audio(b"RIFF", "audio/wav")]
}

/// Fail
#[tool]
async fn fail() -> Result<String> {
    Err("no disk\u{1b}[2J".into())
}

#[derive(Deserialize, JsonSchema)]
enum Size {
    Small,
    Large,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// Who drinks it
    #[schemars(length(min = 2))]
    name: String,
    /// How many
    #[schemars(range(min = 1, max = 9))]
    cups: u8,
    size: Size,
    /// With milk
    milk: Option<bool>,
}

/// Order tea
#[tool]
async fn order(ask: Ask) -> Result<String> {
    let Order { name, cups, size, milk } = ask.form("What would you like?").await?;
    let size = match size {
        Size::Small => "small",
        Size::Large => "large",
    };
    Ok(format!("{cups} {size} for {name}, milk: {milk:?}"))
}

/// Send the user to a page
#[tool]
async fn pay(ask: Ask) -> Result<String> {
    ask.url("Please pay", "https://pay.example.com/bill?id=42").await?;
    Ok("paid".to_owned())
}

/// Ask the model
#[tool]
async fn think(ask: Ask, about: String) -> Result<String> {
    Ok(format!("the model: {}", ask.sample(about).max_tokens(20).await?.text()))
}

/// Work as a task
#[tool(task)]
async fn work(progress: Progress) -> &'static str {
    progress.report(1.0, Some(1.0), "working");
    "worked"
}

/// Log a line, and change a resource
#[tool]
async fn change(log: Log, notify: Notify) -> &'static str {
    log.info("changing");
    notify.resource_updated("exhibit://clock");
    "changed"
}

/// Review code
#[prompt]
async fn review(language: String, focus: Option<String>) -> String {
    format!("Review this {language} code for {}.", focus.as_deref().unwrap_or("everything"))
}

fn server() -> Server {
    let user = |name: String| async move { format!("user {name}") };
    let user = Resource::template("exhibit://users/{name}", user)
        .complete("name", |typed| async move { starting_with(typed, ["ada", "alan", "grace"]) });
    Server::new("exhibit", "1.0.0")
        .instructions("Look, and touch.")
        .tools(tools![echo, add, join, sleep, show, fail, order, pay, think, work, change])
        .resource(Resource::new("exhibit://clock", || async { "12:00" }).describe("The time"))
        .resource(Resource::new("exhibit://bytes", || async { vec![0_u8, 255, 10] }))
        .resource(user)
        .prompts(prompts![review])
}

#[tokio::main]
async fn main() -> Result {
    if std::env::args().nth(1).as_deref() != Some("http") {
        return Ok(server().run().await?);
    }
    let bound = server().http().listen("127.0.0.1:0").await?;
    let mut stdout = std::io::stdout();
    std::io::Write::write_fmt(&mut stdout, format_args!("http://{}/mcp\n", bound.address()?))?;
    bound.serve_until(std::future::pending()).await;
    Ok(())
}
