//! A client that logs in: `login FOLDER URL TOOL ARGUMENTS`, for example
//! `login ~/.config/my-client https://crm.example.com/mcp search '{"query": "tea"}'`.
//!
//! If the server demands a login, the user's browser opens. The tokens are kept in the folder and are
//! renewed, so the next run needs no login.

use std::time::Duration;

use bowline::Client;
use bowline::auth::{Browser, FileStore};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: login FOLDER URL TOOL ARGUMENTS");
    let (folder, url, tool) = (word()?, word()?, word()?);
    let arguments: Value = serde_json::from_str(&word()?)?;
    let client = Client::http(url)
        .auth(Browser::new("my client").store(FileStore::open(folder)?))
        .on_ask(|question| async move { question.decline() })
        .connect()
        .await?;
    let call = client.call(tool, arguments).timeout(Duration::from_secs(30));
    eprintln!("{}", call.await?.text());
    client.close().await;
    Ok(())
}
