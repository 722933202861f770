//! Counts what a call costs a process, in instructions: valgrind runs the process twice, the second
//! time with more calls, and the difference is what those calls took.

use std::fs;
use std::path::Path;
use std::process::Command as Started;

use anyhow::{Context as _, Result};
use bowline::{Client, Command};

use crate::bridge::{self, Server, Way};
use crate::install::Installed;

/// The calls of the first run, and of the second.
const CALLS: [usize; 2] = [100, 600];

/// A process whose instructions are counted.
#[derive(Clone, Copy)]
pub(crate) enum Counted<'a> {
    /// The server itself, with the client on the given side.
    Server(Way),
    /// A bridge, with the server behind it.
    Bridge(Way, &'a [&'a str]),
}

/// The instructions of one call.
pub(crate) async fn per_call(installed: &Installed, process: Counted<'_>) -> Result<u64> {
    let [few, many] = CALLS;
    let less = total(installed, process, few).await?;
    let more = total(installed, process, many).await?;
    let calls = u64::try_from(bridge::all_rounds(many) - bridge::all_rounds(few))?;
    Ok(more.saturating_sub(less) / calls)
}

/// The instructions of a process from its start to its end.
async fn total(installed: &Installed, process: Counted<'_>, calls: usize) -> Result<u64> {
    let log = std::env::temp_dir().join(format!("beside-{}.log", std::process::id()));
    match process {
        Counted::Server(Way::Serve) => {
            over_stdio(&below_valgrind(&log, installed.fill(&["{echo}", "stdio"])), calls).await?;
        }
        Counted::Server(Way::Connect) => {
            let (port, url) = bridge::free_port()?;
            let words = installed.fill(&["{echo}", "http", &format!("127.0.0.1:{port}")]);
            over_http(&below_valgrind(&log, words), &url, calls).await?;
        }
        Counted::Bridge(Way::Serve, command) => {
            let (port, url) = bridge::free_port()?;
            let words = bridge::with(installed.fill(command), "{port}", &port);
            over_http(&below_valgrind(&log, words), &url, calls).await?;
        }
        Counted::Bridge(Way::Connect, command) => {
            let server = Server::start(installed).await?;
            let words = bridge::with(installed.fill(command), "{url}", &server.url);
            over_stdio(&below_valgrind(&log, words), calls).await?;
        }
    }
    counted(&log)
}

/// The command line, run by valgrind. It counts the process itself and not its children.
fn below_valgrind(log: &Path, words: Vec<String>) -> Vec<String> {
    let options = ["valgrind", "--tool=cachegrind", "--cache-sim=no"].map(str::to_owned);
    let files =
        ["--cachegrind-out-file=/dev/null".to_owned(), format!("--log-file={}", log.display())];
    options.into_iter().chain(files).chain(words).collect()
}

/// The process ends when its input does.
async fn over_stdio(words: &[String], calls: usize) -> Result<()> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let process = Command::new(program).args(arguments).env("HOME", std::env::temp_dir());
    let client: Client = bridge::caller().connect(process).await?;
    bridge::median(&client, calls).await?;
    client.close().await;
    Ok(())
}

/// The process ends at SIGTERM.
async fn over_http(words: &[String], url: &str, calls: usize) -> Result<()> {
    let mut process = bridge::start(words)?;
    bridge::median(&bridge::open(url).await?, calls).await?;
    let id = process.id().context("the process has ended")?;
    Started::new("kill").arg(id.to_string()).status().context("cannot start `kill`")?;
    process.wait().await?;
    Ok(())
}

/// What valgrind wrote at the end of the process.
fn counted(log: &Path) -> Result<u64> {
    let text = fs::read_to_string(log).context("valgrind wrote nothing; is it installed?")?;
    let line = text.lines().find_map(|line| line.split_once("refs:"));
    let (_, count) = line.with_context(|| format!("valgrind did not count:\n{text}"))?;
    Ok(count.trim().replace(',', "").parse()?)
}
