//! One replica: `chaos-replica ADDRESS STORE-URL RUNS LAME-DUCK-MS`. Its tools note each run in the
//! file `RUNS`, which all replicas share.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bowline::http::HttpLimits;
use bowline::store::Redis;
use bowline::{Context, Limits, Log, Progress, Server, State, tool, tools};
use bowline_chaos::ledger::digest;

/// Where runs are noted.
#[derive(Clone)]
struct Runs(Arc<File>);

impl Runs {
    /// Notes that a run has begun. One write to the end of the file, so that lines of several
    /// processes do not mix, and that nothing of it is lost if the process is killed right after it.
    fn note(&self, nonce: u64) -> io::Result<()> {
        let line = format!("{nonce} {}\n", std::process::id());
        (&*self.0).write_all(line.as_bytes())
    }
}

/// Count slowly, and return how far, with a digest of nonce and session
#[tool]
async fn count(
    State(runs): State<Runs>,
    context: Context,
    progress: Progress,
    log: Log,
    nonce: u64,
    events: u32,
    pause: u64,
) -> bowline::Result<String> {
    runs.note(nonce)?;
    log.info("begun");
    for number in 1..=events {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        progress.report(number, Some(f64::from(events)), "");
    }
    let session = context.header("mcp-session-id").unwrap_or_default();
    Ok(format!("{events} {:016x}", digest(nonce, session)))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, store, runs, lame_duck] = &words[..] else {
        anyhow::bail!("usage: chaos-replica ADDRESS STORE-URL RUNS LAME-DUCK-MS");
    };
    let runs = OpenOptions::new().create(true).append(true).open(runs)?;
    let mut limits = Limits::default();
    limits.logs_per_minute = 1_000_000;
    let mut http_limits = HttpLimits::default();
    http_limits.lame_duck = Duration::from_millis(lame_duck.parse()?);
    let server = Server::new("chaos", "1.0.0")
        .limits(limits)
        .state_keys([[7; 32]])
        .state(Runs(Arc::new(runs)))
        .tools(tools![count]);
    let store = Redis::connect(store).await?;
    Ok(server.http().limits(http_limits).store(store).bind(address.as_str()).await?)
}
