//! The tools of a replica. Each notes what it does in a file that all replicas share.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bowline::{Ask, Context, Log, Notify, Progress, State, resource, tool};
use bowline_chaos::ledger::digest;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where tools note what they do.
#[derive(Clone)]
pub(crate) struct Notes(pub(crate) Arc<File>);

impl Notes {
    /// Notes what a call does. One write to the end of the file, so that lines of several processes
    /// do not mix, and that nothing of it is lost if the process is killed right after it.
    fn add(&self, nonce: u64, what: &str) -> io::Result<()> {
        let line = format!("{nonce} {} {what}\n", std::process::id());
        (&*self.0).write_all(line.as_bytes())
    }
}

/// Count slowly, and return how far, with a digest of nonce and session
#[tool]
pub(crate) async fn count(
    State(notes): State<Notes>,
    context: Context,
    progress: Progress,
    log: Log,
    nonce: u64,
    events: u32,
    pause: u64,
) -> bowline::Result<String> {
    notes.add(nonce, "run")?;
    log.info("begun");
    for number in 1..=events {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        progress.report(number, Some(f64::from(events)), "");
    }
    Ok(format!("{events} {:016x}", digest(nonce, session(&context))))
}

/// The answer to a question.
#[derive(Deserialize, JsonSchema)]
struct Chosen {
    number: u64,
}

/// Ask for numbers one after another, and return them, with a digest of nonce and session
#[tool]
pub(crate) async fn ask(
    State(notes): State<Notes>,
    context: Context,
    ask: Ask,
    log: Log,
    nonce: u64,
    questions: u32,
) -> bowline::Result<String> {
    let mut is_again = true;
    let run = || {
        is_again = false;
        std::future::ready(notes.add(nonce, "run"))
    };
    ask.once("run", run).await?;
    if is_again {
        notes.add(nonce, "again")?;
    }
    log.info("begun");
    let mut answers = Vec::new();
    for number in 1..=questions {
        let chosen: Chosen = ask.form(format!("question {number} of {nonce}")).await?;
        answers.push(chosen.number.to_string());
    }
    let answers = answers.join(",");
    notes.add(nonce, &format!("effect {answers}"))?;
    Ok(format!("{answers} {:016x}", digest(nonce, session(&context))))
}

/// Change a thing of a client, and return a digest of nonce and session
#[tool]
pub(crate) async fn touch(
    State(notes): State<Notes>,
    context: Context,
    notify: Notify,
    nonce: u64,
    client: u64,
) -> bowline::Result<String> {
    notes.add(nonce, "run")?;
    notify.resource_updated(format!("chaos://things/{client}/{nonce}"));
    Ok(format!("0 {:016x}", digest(nonce, session(&context))))
}

/// A thing of a client, or all of them
#[resource("chaos://things/{+path}")]
pub(crate) async fn thing(path: String) -> String {
    path
}

/// Work for a time as a task, and return a digest of the nonce
#[tool(task)]
pub(crate) async fn work(
    State(notes): State<Notes>,
    nonce: u64,
    time: u64,
) -> bowline::Result<String> {
    notes.add(nonce, "run")?;
    tokio::time::sleep(Duration::from_millis(time)).await;
    Ok(format!("{:016x}", digest(nonce, "")))
}

/// Work in the same way; may run again
#[tool(task, idempotent)]
pub(crate) async fn work_again(
    State(notes): State<Notes>,
    nonce: u64,
    time: u64,
) -> bowline::Result<String> {
    notes.add(nonce, "run")?;
    tokio::time::sleep(Duration::from_millis(time)).await;
    Ok(format!("{:016x}", digest(nonce, "")))
}

fn session(context: &Context) -> &str {
    context.header("mcp-session-id").unwrap_or_default()
}
