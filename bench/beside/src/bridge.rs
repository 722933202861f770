//! Measures programs that stand between a client and a server.

use std::fmt;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bowline::client::ClientBuilder;
use bowline::types::Revision;
use bowline::{Client, Command};
use serde_json::json;
use tokio::time::sleep;

use crate::install::Installed;
use crate::memory;
use crate::programs::Program;
use crate::table::megabytes;

/// How long a bridge may take to answer for the first time.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a bridge rests before its memory is read.
const REST: Duration = Duration::from_secs(2);

/// Which side of a bridge speaks HTTP.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// A stdio server, behind HTTP.
    Serve,
    /// A server at a URL, behind stdio.
    Connect,
}

pub(crate) const WAYS: &[Way] = &[Way::Serve, Way::Connect];

impl Way {
    pub(crate) fn command_of(self, program: &Program) -> Option<&'static [&'static str]> {
        match self {
            Self::Serve => program.serve,
            Self::Connect => program.connect,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Serve => "HTTP to stdio",
            Self::Connect => "stdio to HTTP",
        })
    }
}

/// What one bridge took.
pub(crate) struct Measured {
    /// Its memory before the first call.
    idle: f64,
    /// Its memory after the calls.
    used: f64,
    /// The median time of a call, in microseconds.
    pub(crate) call: f64,
}

impl Measured {
    pub(crate) fn idle(&self) -> String {
        megabytes(self.idle)
    }

    pub(crate) fn used(&self) -> String {
        megabytes(self.used)
    }
}

pub(crate) fn micros(time: f64) -> String {
    format!("{time:.0} µs")
}

/// The median time of a call without a bridge: over stdio where the bridge has a stdio server behind
/// it, else over HTTP.
pub(crate) async fn direct(installed: &Installed, way: Way, calls: usize) -> Result<f64> {
    match way {
        Way::Serve => {
            let client = caller().connect(Command::new(installed.echo()).arg("stdio")).await?;
            median(&client, calls).await
        }
        Way::Connect => {
            let server = Server::start(installed).await?;
            median(&open(&server.url).await?, calls).await
        }
    }
}

/// Calls through one bridge.
pub(crate) async fn measure(
    installed: &Installed,
    way: Way,
    command: &[&str],
    calls: usize,
) -> Result<Measured> {
    match way {
        Way::Serve => {
            let (port, url) = free_port()?;
            let bridge = start(&with(installed.fill(command), "{port}", &port))?;
            let client = open(&url).await?;
            finish(installed, bridge.id(), &client, calls).await
        }
        Way::Connect => {
            let server = Server::start(installed).await?;
            let words = with(installed.fill(command), "{url}", &server.url);
            let (program, arguments) = words.split_first().context("an empty command")?;
            let client = caller()
                .connect(Command::new(program).args(arguments).env("HOME", std::env::temp_dir()));
            let client = tokio::time::timeout(PATIENCE, client).await.context("no answer")??;
            finish(installed, bridge_below(&words), &client, calls).await
        }
    }
}

async fn finish(
    installed: &Installed,
    bridge: Option<u32>,
    client: &Client,
    calls: usize,
) -> Result<Measured> {
    let bridge = bridge.context("the bridge has ended")?;
    let memory = async || {
        sleep(REST).await;
        memory::of_tree(bridge, installed.echo())
    };
    let idle = memory().await;
    let call = median(client, calls).await?;
    Ok(Measured { idle, used: memory().await, call })
}

/// The median time of calls one after another, in microseconds.
pub(crate) async fn median(client: &Client, calls: usize) -> Result<f64> {
    let message = json!({ "message": "hello" });
    let mut times = Vec::new();
    for round in 0..all_rounds(calls) {
        let begin = Instant::now();
        let answer = client.call("echo", &message).await?.text();
        ensure!(answer == "hello", "it answered {answer:?}");
        if round >= warm_up(calls) {
            times.push(begin.elapsed());
        }
    }
    times.sort_unstable();
    let middle = times.get(times.len() / 2).context("no calls")?;
    Ok(middle.as_secs_f64() * 1e6)
}

/// How many calls [`median`] makes for so many that it measures.
pub(crate) fn all_rounds(calls: usize) -> usize {
    calls + warm_up(calls)
}

fn warm_up(calls: usize) -> usize {
    calls / 10
}

/// A client of the newest revision that all bridges speak.
pub(crate) fn caller() -> ClientBuilder {
    Client::builder("beside", "1").revisions([Revision::V2025_11_25])
}

/// Connects as soon as a server listens.
pub(crate) async fn open(url: &str) -> Result<Client> {
    let end = Instant::now() + PATIENCE;
    loop {
        match caller().http(url).connect().await {
            Ok(client) => return Ok(client),
            Err(error) if Instant::now() > end => return Err(error.into()),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// The echo server over HTTP.
pub(crate) struct Server {
    _process: tokio::process::Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) async fn start(installed: &Installed) -> Result<Self> {
        let (port, url) = free_port()?;
        let process = start(&installed.fill(&["{echo}", "http", &format!("127.0.0.1:{port}")]))?;
        open(&url).await?;
        Ok(Self { _process: process, url })
    }
}

pub(crate) fn start(words: &[String]) -> Result<tokio::process::Child> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("HOME", std::env::temp_dir()).kill_on_drop(true);
    command.spawn().with_context(|| format!("cannot start `{}`", words.join(" ")))
}

/// The process of a bridge that the client started: the one with this command line.
fn bridge_below(words: &[String]) -> Option<u32> {
    let wanted = words.join("\0");
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let mut processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.find(|process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&wanted)
    })
}

/// A port that no program uses, and the URL of a server there.
pub(crate) fn free_port() -> Result<(String, String)> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    Ok((port.to_string(), format!("http://127.0.0.1:{port}/mcp")))
}

pub(crate) fn with(words: Vec<String>, name: &str, value: &str) -> Vec<String> {
    words.into_iter().map(|word| word.replace(name, value)).collect()
}
