//! Calls one tool of a server at a URL: `caller URL TOOL REVISION`.
//!
//! It is a separate program because trusted certificates and proxies come from the environment,
//! which a test cannot change for its own process.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use bowline::Client;

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = call().await else { return ExitCode::SUCCESS };
    for cause in std::iter::successors(Some(&*error), |&error| error.source()) {
        eprintln!("{cause}");
    }
    ExitCode::FAILURE
}

async fn call() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: caller URL TOOL REVISION");
    let (url, tool, revision) = (word()?, word()?, word()?.parse()?);
    let client = Client::http(url).revisions([revision]).connect().await?;
    let outcome = client.call(tool, ()).await?.into_result()?;
    client.close().await;
    Ok(writeln!(std::io::stdout(), "{}", outcome.text())?)
}
