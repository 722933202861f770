//! What a task costs beside a plain call: `cargo bench -p bowline-tests --bench tasks`.
//!
//! Three calls over HTTP on loopback, one after the other: a plain one, one that creates a task, and
//! the one that fetches its result; the tasks in memory, and in an SQLite file with every commit on
//! the disk. Cases take turns in many short rounds, so that a ratio compares what ran within the
//! same second. `one write and fsync` is what the disk takes for 4 KiB, without any database.

#![allow(clippy::print_stdout, reason = "its figures are its output")]

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use bowline::store::SqliteBackend;
use bowline::{Server, TaskLimits, tool, tools};
use bowline_proto::limits::Limits;
use bowline_tests::wire::{Result, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Calls of one case in a round.
const CALLS: usize = 40;
const ROUNDS: usize = 41;
/// Connections of the cases with many callers, and calls of each.
const CALLERS: usize = 32;
const CALLS_OF_EACH: usize = 40;

/// Say it again
#[tool]
async fn plain(text: String) -> String {
    text
}

/// Say it again, later
#[tool(task = "required")]
async fn task(text: String) -> String {
    text
}

fn server() -> Server {
    let (mut limits, mut tasks) = (Limits::default(), TaskLimits::default());
    limits.requests_per_minute = usize::MAX;
    // More than are created, and for so short a time that the store stays small.
    (tasks.per_owner, tasks.running) = (1_000_000, 100_000);
    tasks.ttl = Duration::from_secs(20);
    Server::new("bench", "1.0.0").limits(limits).task_limits(tasks).tools(tools![plain, task])
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let memory = serve(server().http()).await?;
    let store = SqliteBackend::open(folder.path().join("store"))?;
    let sqlite = serve(server().http().store(store)).await?;
    one_caller(memory, sqlite, folder.path()).await?;
    many_callers(memory, sqlite).await
}

/// The cases of one caller, in the order of the rows.
const CASES: [&str; 6] = [
    "plain call",
    "create a task, in memory",
    "fetch its result, in memory",
    "create a task, in SQLite",
    "fetch its result, in SQLite",
    "one write and fsync",
];

async fn one_caller(memory: SocketAddr, sqlite: SocketAddr, folder: &Path) -> Result<()> {
    let (mut in_memory, mut in_sqlite) = (Wire::open(memory).await?, Wire::open(sqlite).await?);
    let mut file = File::create(folder.join("yardstick"))?;
    let mut rounds: Vec<[f64; CASES.len()]> = Vec::new();
    // The first round is not counted.
    for _ in 0..=ROUNDS {
        let begin = Instant::now();
        for _ in 0..CALLS {
            in_memory.call("plain").await?;
        }
        let plain = begin.elapsed();
        let [created, fetched] = in_memory.tasks().await?;
        let [created_in_file, fetched_from_file] = in_sqlite.tasks().await?;
        let begin = Instant::now();
        for _ in 0..CALLS {
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
        }
        let times = [plain, created, fetched, created_in_file, fetched_from_file, begin.elapsed()];
        rounds.push(times.map(|time| time.as_secs_f64() * 1e6 / CALLS as f64));
    }
    println!("one caller, median of {ROUNDS} rounds of {CALLS} calls");
    let rounds = rounds.get(1..).unwrap_or_default();
    for (case, name) in CASES.into_iter().enumerate() {
        let (time, ratio) = compared(rounds, case);
        println!("{name:<30} {time:>9.1} µs {ratio:>8.2} × plain");
    }
    Ok(())
}

/// The median of a case, and of its ratios to the first case.
fn compared<const N: usize>(rounds: &[[f64; N]], case: usize) -> (f64, f64) {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let time = median(rounds.iter().map(|round| round[case]).collect());
    (time, median(rounds.iter().map(|round| round[case] / round[0]).collect()))
}

/// The same with many callers at once, who share commits of the store.
async fn many_callers(memory: SocketAddr, sqlite: SocketAddr) -> Result<()> {
    let cases = [
        ("plain call", memory, "plain"),
        ("create a task, in memory", memory, "task"),
        ("create a task, in SQLite", sqlite, "task"),
    ];
    let mut rounds: Vec<[f64; 3]> = Vec::new();
    for _ in 0..=ROUNDS / 4 {
        let mut times = [0.0; 3];
        for (time, (_, address, tool)) in times.iter_mut().zip(cases) {
            let mut wires = Vec::new();
            for _ in 0..CALLERS {
                wires.push(Wire::open(address).await?);
            }
            let (begin, mut callers) = (Instant::now(), JoinSet::new());
            for mut wire in wires {
                callers.spawn(async move {
                    for _ in 0..CALLS_OF_EACH {
                        wire.call(tool).await?;
                    }
                    Ok(()) as Result<()>
                });
            }
            while let Some(outcome) = callers.join_next().await {
                outcome??;
            }
            *time = begin.elapsed().as_secs_f64() * 1e6 / (CALLERS * CALLS_OF_EACH) as f64;
        }
        rounds.push(times);
    }
    println!("{CALLERS} callers, median of {} rounds of {CALLS_OF_EACH} calls each", ROUNDS / 4);
    let rounds = rounds.get(1..).unwrap_or_default();
    for (case, (name, ..)) in cases.into_iter().enumerate() {
        let (time, ratio) = compared(rounds, case);
        println!("{name:<30} {:>9.0} calls/s {ratio:>6.2} × the time of plain", 1e6 / time);
    }
    Ok(())
}

/// A connection for requests of 2026-07-28, one after the other.
struct Wire(BufReader<TcpStream>);

impl Wire {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    async fn call(&mut self, tool: &str) -> Result<Value> {
        let params = json!({ "name": tool, "arguments": { "text": "ahoy" } });
        self.ask("tools/call", tool, params).await
    }

    /// Creates tasks, and fetches their results after all have ended. Returns both times.
    async fn tasks(&mut self) -> Result<[Duration; 2]> {
        let mut ids = Vec::with_capacity(CALLS);
        let begin = Instant::now();
        for _ in 0..CALLS {
            let created = self.call("task").await?;
            ids.push(created["taskId"].as_str().ok_or("no task")?.to_owned());
        }
        let created = begin.elapsed();
        for id in &ids {
            while self.state(id).await?["status"] != "completed" {}
        }
        let begin = Instant::now();
        for id in &ids {
            self.state(id).await?;
        }
        Ok([created, begin.elapsed()])
    }

    async fn state(&mut self, id: &str) -> Result<Value> {
        self.ask("tasks/get", id, json!({ "taskId": id })).await
    }

    /// Sends a request, and reads its result.
    async fn ask(&mut self, method: &str, name: &str, mut params: Value) -> Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.write_all(request.as_bytes()).await?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await?;
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse()?,
                _ if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        let answer: Value = serde_json::from_slice(&body)?;
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(answer.to_string().into()),
        }
    }
}
