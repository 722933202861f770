//! One of several replicas of a server: `replicas ADDRESS REDIS KEYS`.
//!
//! Replicas share sessions and their streams in Redis, and the keys that seal the state of calls in a
//! file. So each request of a client may go to any of them. `cargo xtask replicas` starts three of
//! them behind nginx.

use bowline::store::Redis;
use bowline::{Ask, Server, State, StateKeys, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone)]
struct Address(String);

/// Say which replica answers
#[tool(read_only)]
async fn replica(State(Address(address)): State<Address>) -> String {
    address
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Greet the user by name. The question and its answer may pass through different replicas.
#[tool]
async fn greet(ask: Ask) -> bowline::Result<String> {
    let Name { name } = ask.form("What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or("usage: replicas ADDRESS REDIS KEYS");
    let (address, redis, keys) = (argument()?, argument()?, argument()?);
    let server = Server::new("replicas", "1.0.0")
        .state(Address(address.clone()))
        .state_keys(StateKeys::file(keys)?)
        .tools(tools![replica, greet]);
    let store = Redis::connect(&redis).await?;
    Ok(server.http().store(store).bind(address).await?)
}
