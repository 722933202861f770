//! A server whose sessions are in a file: `durable ADDRESS FILE`.

use bowline::store::SqliteBackend;
use bowline::{Log, Notify, Server, tool, tools};

/// Say numbers, and how many there were in the end
#[tool]
async fn count(log: Log, to: usize) -> String {
    for number in 1..=to {
        log.info(number);
        // Lets the message go out before the next one.
        tokio::task::yield_now().await;
    }
    format!("counted {to}")
}

/// Tell clients that the list of tools has changed
#[tool]
async fn change(notify: Notify) -> &'static str {
    notify.tools_changed();
    "changed"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: durable ADDRESS FILE");
    let (address, store) = (word()?, SqliteBackend::open(word()?)?);
    let server = Server::new("durable", "1.0.0").tools(tools![count, change]);
    Ok(server.http().store(store).bind(address).await?)
}
