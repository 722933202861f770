//! The client that others are measured against: the generator's own connections behind the
//! arguments of a client.
//!
//! `bare-client http URL REVISION IN_FLIGHT CALLS`, or `bare-client stdio PROGRAM REVISION
//! IN_FLIGHT CALLS`.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bench_load::figures::Length;
use bench_load::http::{Endpoint, Load};
use bench_load::message::Call;
use bench_load::stdio::Pipe;

const PATIENCE: Duration = Duration::from_secs(300);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    tokio::time::timeout(PATIENCE, run()).await.context("nothing came for too long")?
}

async fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [transport, place, revision, in_flight, calls] = &arguments[..] else {
        bail!("usage: (http URL | stdio PROGRAM) REVISION IN_FLIGHT CALLS");
    };
    let (revision, in_flight, calls) = (revision.parse()?, in_flight.parse()?, calls.parse()?);
    let call = Call::Echo { tool: "echo".to_owned(), bytes: 64 };
    let figures = match transport.as_str() {
        "http" => {
            let mut load = Load::open(&Endpoint::parse(place)?, revision, in_flight, &call).await?;
            load.run(Length::Calls(calls / 10)).await?;
            load.run(Length::Calls(calls)).await?
        }
        "stdio" => {
            let words = [place.clone(), "stdio".to_owned()];
            let mut pipe = Pipe::open(&words, revision, in_flight, &call).await?;
            pipe.run(Length::Calls(calls / 10)).await?;
            let figures = pipe.run(Length::Calls(calls)).await?;
            pipe.close().await?;
            figures
        }
        other => bail!("`{other}` is neither `http` nor `stdio`"),
    };
    println!("{figures}");
    Ok(())
}
