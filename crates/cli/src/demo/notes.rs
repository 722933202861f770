//! Resources that change, a template, prompts, and completion.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline::{
    Json, Notify, Registry, Resource, Result, Server, State, Uri, prompt, prompts, starting_with,
    tool,
};
use serde::Serialize;

/// The resource that changes by itself.
pub(super) const CLOCK: &str = "demo://clock";

/// The most notes. Every client of the demo shares them.
const MOST: usize = 100;

const LANGUAGES: [&str; 6] = ["C", "Go", "Python", "Ruby", "Rust", "TypeScript"];

/// The notes by their names.
#[derive(Clone, Default)]
pub(super) struct Notes(Arc<Mutex<BTreeMap<String, String>>>);

impl Notes {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Adds resources and prompts to the server.
pub(super) fn offer(server: Server) -> Server {
    let about = Resource::new("demo://about", || async { ABOUT })
        .name("about")
        .title("About this server")
        .mime("text/markdown")
        .ttl(Duration::from_secs(3600));
    let clock = Resource::new(CLOCK, || async { seconds().to_string() })
        .name("clock")
        .describe("The seconds since 1970; subscribers hear of a change every two seconds")
        .mime("text/plain");
    let numbers = Resource::template("demo://numbers/{number}", number)
        .name("numbers")
        .describe("What there is to say about a number")
        .mime("application/json")
        .complete("number", |typed| async move {
            starting_with(typed, ["1", "2", "7", "12", "42", "100"])
        });
    server.resource(about).resource(clock).resource(numbers).prompts(prompts![review, haiku])
}

const ABOUT: &str = "\
# Bowline's demo server

One of everything that a server of the Model Context Protocol can do. Try `greet`, which asks for
your name, or `write_note`, which adds a resource.
";

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[derive(Serialize)]
struct Number {
    number: i64,
    square: Option<i64>,
    is_even: bool,
}

async fn number(number: i64) -> Json<Number> {
    Json(Number { number, square: number.checked_mul(number), is_even: number % 2 == 0 })
}

/// Write a note, which is a resource from then on
#[tool(idempotent)]
pub(super) async fn write_note(
    State(notes): State<Notes>,
    registry: Registry,
    notify: Notify,
    name: String,
    text: String,
) -> Result<String> {
    check(&name, &text)?;
    let uri = uri_of(&name);
    let is_new = notes.with(|notes| {
        if notes.len() >= MOST && !notes.contains_key(&name) {
            return None;
        }
        Some(notes.insert(name.clone(), text).is_none())
    });
    let is_new = is_new.ok_or("there are 100 notes; remove one first")?;
    if is_new {
        registry.insert(Resource::new(&uri, note).name(&name).mime("text/plain"))?;
    } else {
        notify.resource_updated(&uri);
    }
    Ok(format!("{} {uri}", if is_new { "added" } else { "changed" }))
}

/// Remove a note
#[tool(destructive, idempotent)]
pub(super) async fn remove_note(
    State(notes): State<Notes>,
    registry: Registry,
    name: String,
) -> Result<String> {
    let uri = uri_of(&name);
    notes.with(|notes| notes.remove(&name)).ok_or("there is no such note")?;
    registry.remove_resource(&uri);
    Ok(format!("removed {uri}"))
}

async fn note(State(notes): State<Notes>, Uri(uri): Uri) -> Result<String> {
    let name = uri.rsplit('/').next().unwrap_or_default();
    let text = notes.with(|notes| notes.get(name).cloned());
    Ok(text.ok_or("the note was removed")?)
}

/// Bounds what the notes take in memory, and keeps their URIs readable.
fn check(name: &str, text: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > 40 || !name.bytes().all(is_plain) {
        Err("a name has 1 to 40 letters, digits, `-` or `_`")?;
    }
    if text.len() > 10_000 {
        Err("a note has at most 10000 bytes")?;
    }
    Ok(())
}

fn uri_of(name: &str) -> String {
    format!("demo://notes/{name}")
}

/// Review code
#[prompt]
async fn review(
    #[arg(complete = |typed| async move { starting_with(typed, LANGUAGES) })] language: String,
    focus: Option<String>,
) -> String {
    format!("Review this {language} code for {}.", focus.as_deref().unwrap_or("everything"))
}

/// Write a poem
#[prompt]
async fn haiku() -> &'static str {
    "Write a haiku about a rope that holds."
}
