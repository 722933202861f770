//! Tools that ask the user. Where a transcript is played in virtual time, they wait in virtual time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bowline::{Ask, Server, State, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

/// Forms and confirmations: one, several at once, and one after another.
pub(super) fn server(server: Server) -> Server {
    server.state(Rolls::default()).tools(tools![greet, deploy, introduce, book, bet])
}

/// Questions whose state expires at once.
pub(super) fn briefly(server: Server) -> Server {
    server.state_expiry(Duration::ZERO).tools(tools![greet])
}

/// A question some time after the call began.
pub(super) fn late(server: Server) -> Server {
    server.tools(tools![remind])
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    /// What to call you
    name: String,
    age: Option<u8>,
}

/// Greet a person by name
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

/// Ask after half a second
#[tool]
async fn remind(ask: Ask) -> bowline::Result<&'static str> {
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(if ask.confirm("Still there?").await? { "Still there" } else { "Gone" })
}

/// How often the dice were rolled.
#[derive(Clone, Default)]
struct Rolls(Arc<AtomicU32>);

/// Ask about something that is never the same twice
#[tool]
async fn bet(State(rolls): State<Rolls>, ask: Ask) -> bowline::Result<String> {
    let roll = rolls.0.fetch_add(1, Ordering::Relaxed) + 1;
    // The third roll is the same as the second.
    let sure = ask.confirm(format!("Roll {}?", roll.min(2))).await?;
    Ok(if sure { "Rolled".to_owned() } else { "Not rolled".to_owned() })
}

fn price(person: &Person) -> impl Future<Output = bowline::Result<usize>> + use<> {
    std::future::ready(Ok(40 + person.name.len()))
}
