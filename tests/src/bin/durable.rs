//! A server whose sessions and tasks are in a file, or in Redis: `durable ADDRESS FILE [REDIS]`. Tools
//! that run as tasks note each run in `FILE.runs`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::Arc;

use bowline::store::{Backend, Redis, SqliteBackend};
use bowline::{Log, Notify, Server, State, tool, tools};

/// Where runs are noted.
#[derive(Clone)]
struct Runs(Arc<File>);

impl Runs {
    /// Notes that a run has begun. Written as a whole, so that nothing of it is lost if the process
    /// is killed right after it.
    fn note(&self, key: &str) -> io::Result<()> {
        (&*self.0).write_all(format!("{key}\n").as_bytes())
    }
}

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

/// End at once
#[tool(task)]
async fn quick(State(runs): State<Runs>, key: String) -> bowline::Result<String> {
    runs.note(&key)?;
    Ok(key)
}

/// Never end
#[tool(task)]
async fn hang(State(runs): State<Runs>, key: String) -> bowline::Result<String> {
    runs.note(&key)?;
    std::future::pending().await
}

/// Never end in the process that began it; end at once when it runs again
#[tool(task, idempotent)]
async fn repeat(State(runs): State<Runs>, key: String, after: u32) -> bowline::Result<String> {
    runs.note(&key)?;
    if std::process::id() == after {
        std::future::pending::<()>().await;
    }
    Ok(key)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: durable ADDRESS FILE [REDIS]");
    let (address, file) = (word()?, word()?);
    let store: Arc<dyn Backend> = match word() {
        Ok(redis) => Arc::new(Redis::connect(&redis).await?),
        Err(_) => Arc::new(SqliteBackend::open(&file)?),
    };
    let runs = OpenOptions::new().create(true).append(true).open(format!("{file}.runs"))?;
    let server = Server::new("durable", "1.0.0")
        .state(Runs(Arc::new(runs)))
        .tools(tools![count, change, quick, hang, repeat]);
    Ok(server.http().store(store).bind(address).await?)
}
