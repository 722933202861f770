//! The servers that transcripts talk to, by the names in their headers.
//!
//! Each is as small as what it is there to show, so that the lists and capabilities in transcripts
//! stay short. All of them answer the same way every time, and wait in virtual time where they are
//! played in one.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bowline::types::content::Content;
use bowline::types::implementation::Icon;
use bowline::types::resource::ResourceContents;
use bowline::{Args, Ask, Context, Error, Json, Log, Progress, Server, State, Tool, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The server with a name; `kit` for transcripts that name none.
///
/// # Panics
///
/// If there is none with that name.
pub fn server(name: Option<&str>) -> Server {
    let name = name.unwrap_or("kit");
    let server = Server::new(name, "1.0.0");
    match name {
        "kit" => server.tools(tools![echo, fail, refuse, crash, whoami]),
        "bare" => server.instructions("There is nothing to use here"),
        "adorned" => adorned(server),
        "pages" => server.page_size(2).ttl(Duration::from_secs(60)).tools((1..=5).map(numbered)),
        "results" => server.tools(tools![add, weather, gallery, checked]),
        "time" => server.tools(tools![hang, wait, count, stumble]),
        "log" => server.tools(tools![chatter]),
        "live" => live(server),
        "asks" => server.state(Rolls::default()).tools(tools![greet, deploy, introduce, book, bet]),
        "asks-briefly" => server.state_expiry(Duration::ZERO).tools(tools![greet]),
        _ => panic!("no sample server is called `{name}`"),
    }
}

/// What the tool `crash` says when it panics.
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
    context.client().map_or_else(|| "nobody".to_owned(), |client| client.name.clone())
}

/// Everything that a server and a tool can say of themselves.
fn adorned(server: Server) -> Server {
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

/// Never answer
#[tool]
async fn hang() -> String {
    pending().await
}

/// Answer after a while
#[tool]
async fn wait(seconds: u64) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    format!("{seconds} seconds later")
}

/// Count, one step every 100 ms
#[tool]
async fn count(progress: Progress, to: u32) -> String {
    let mut bar = progress.total(to);
    for step in 1..=to {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bar.inc(format!("step {step}"));
    }
    "done".to_owned()
}

/// Report progress that does not always grow
#[tool]
async fn stumble(progress: Progress) -> String {
    for step in [1.0, 1.0, 0.5, 2.5] {
        tokio::time::sleep(Duration::from_millis(100)).await;
        progress.report(step, None, "");
    }
    "done".to_owned()
}

/// Log something of every level
#[tool]
fn chatter(log: Log) -> String {
    log.debug("a detail");
    log.info("all is well");
    log.warning("careful");
    log.error("it broke");
    "said it".to_owned()
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

/// Tools that come and go.
fn live(server: Server) -> Server {
    let registry = server.registry();
    let learn = move |Args(Word { word }): Args<Word>| {
        let said = word.clone();
        let say = move || std::future::ready(said.clone());
        let learned = registry.insert(Tool::new(word.clone(), say));
        async move { learned.map(|()| format!("learned `{word}`")).map_err(Error::from) }
    };
    let registry = server.registry();
    let forget = move |Args(Word { word }): Args<Word>| {
        let forgot = registry.remove_tool(&word);
        async move { if forgot { format!("forgot `{word}`") } else { format!("never knew `{word}`") } }
    };
    server.tool(Tool::new("learn", learn)).tool(Tool::new("forget", forget))
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    /// What to call you
    name: String,
    age: Option<u8>,
}

/// Greet somebody by name
#[tool]
async fn greet(ask: Ask) -> bowline::Result<String> {
    let person: Person = ask.form("Who are you?").await?;
    let age = person.age.map(|age| format!(", {age} years old")).unwrap_or_default();
    Ok(format!("Good morning, {}{age}", person.name))
}

/// Deploy
#[tool]
async fn deploy(ask: Ask, env: String) -> bowline::Result<String> {
    let sure = ask.confirm(format!("Deploy to {env}?")).await?;
    Ok(if sure { format!("Deployed to {env}") } else { "Not deployed".to_owned() })
}

/// Introduce two people to each other
#[tool]
async fn introduce(ask: Ask) -> bowline::Result<String> {
    let one = ask.form::<Person>("Who are you?");
    let other = ask.form::<Person>("And your friend?");
    let (one, other) = tokio::try_join!(one, other)?;
    Ok(format!("{}, this is {}", one.name, other.name))
}

/// Ask twice, one after the other
#[tool]
async fn book(ask: Ask) -> bowline::Result<String> {
    let person: Person = ask.form("Who travels?").await?;
    let price = ask.once("price", || price(&person)).await?;
    let sure = ask.confirm(format!("{price} EUR for {}?", person.name)).await?;
    Ok(if sure { "Booked".to_owned() } else { "Not booked".to_owned() })
}

/// How often the dice were rolled.
#[derive(Clone, Default)]
struct Rolls(Arc<AtomicU32>);

/// Ask about something that is never the same twice
#[tool]
async fn bet(State(rolls): State<Rolls>, ask: Ask) -> bowline::Result<String> {
    let roll = rolls.0.fetch_add(1, Ordering::Relaxed) + 1;
    // The third roll is like the second.
    let sure = ask.confirm(format!("Roll {}?", roll.min(2))).await?;
    Ok(if sure { "Rolled".to_owned() } else { "Not rolled".to_owned() })
}

fn price(person: &Person) -> impl Future<Output = bowline::Result<usize>> + use<> {
    std::future::ready(Ok(40 + person.name.len()))
}
