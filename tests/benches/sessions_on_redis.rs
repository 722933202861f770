//! What sessions in Redis cost beside sessions in memory, and how much one Redis carries:
//! `cargo bench -p bowline-tests --bench sessions_on_redis`.
//!
//! Plain calls in sessions of 2025-11-25 over HTTP on loopback, to one server with its sessions in
//! memory and to the same with its sessions in a real `redis-server` on the same machine. Both take
//! turns in many short rounds, so that a ratio compares what ran within the same second. Then the
//! store alone: operations, and the processor time that `redis-server` takes for each of them, which
//! hardly depends on what else the machine does; and how much the memory of the database, and of this
//! process, grows with what a session needs. `docs/scale.md` counts with these figures.

#![allow(clippy::print_stdout, reason = "its figures are its output")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline::store::Redis;
use bowline::store::backend::{Backend as _, Expect, Key, NewItem};
use bowline::{Server, tool, tools};
use bowline_proto::limits::Limits;
use bowline_tests::process::{RedisServer, processor_time};
use bowline_tests::wire::{Result, Wire, serve};
use tokio::task::JoinSet;

/// Rounds that count, and how many calls all connections make together in each of them.
const ROUNDS: usize = 31;
const CALLS: usize = 1600;
const CONNECTIONS: [usize; 2] = [1, 32];

/// Operations of the store at the same time, and in all.
const AT_ONCE: usize = 64;
const OPERATIONS: usize = 128_000;

/// How many sessions or entries are weighed.
const ENTRIES: usize = 10_000;

/// How long the store keeps what this writes.
const KEPT: Duration = Duration::from_secs(800);

/// Say it again
#[tool]
async fn plain(text: String) -> String {
    text
}

fn server() -> Server {
    let mut limits = Limits::default();
    limits.requests_per_minute = usize::MAX;
    Server::new("bench", "1.0.0").limits(limits).tools(tools![plain])
}

#[tokio::main]
async fn main() -> Result<()> {
    let database = RedisServer::start().await?;
    let store = Redis::connect(&database.url()).await?;
    let memory = serve(server().http()).await?;
    let redis = serve(server().http().store(store.clone())).await?;
    println!("plain calls in sessions, median of {ROUNDS} rounds of {CALLS} calls");
    for connections in CONNECTIONS {
        compare(memory, redis, connections, &database).await?;
    }
    println!("\nbytes of this process, each of {ENTRIES}");
    in_replica("session, sessions in memory", memory).await?;
    in_replica("session, sessions in Redis", redis).await?;
    println!("\nthe store alone, {OPERATIONS} operations, {AT_ONCE} at the same time");
    let records = Arc::new(store);
    operations("renew a record", &records, &database, renew).await?;
    operations("append an event", &records, &database, append).await?;
    println!("\nbytes of redis-server, each of {ENTRIES}");
    in_database("record", &records, &database, &[560]).await?;
    in_database("log of five events", &records, &database, &[300; 5]).await?;
    // Two hours of it: six notifications an hour.
    in_database("log of a GET stream", &records, &database, &[150; 12]).await
}

/// Prints by how much the memory of the database grows with an entry: a record if there is one item,
/// or else a log.
async fn in_database(
    name: &str,
    store: &Arc<Redis>,
    database: &RedisServer,
    items: &[usize],
) -> Result<()> {
    let before = database.used_memory().await?;
    let mut workers = JoinSet::new();
    for worker in 0..AT_ONCE {
        let (store, items, name) = (store.clone(), items.to_vec(), name.to_owned());
        workers.spawn(async move {
            for number in (worker..ENTRIES).step_by(AT_ONCE) {
                // As long as the id of a session.
                let id = format!("{name:.6}{number:016}");
                match &items[..] {
                    [bytes] => {
                        let value = vec![b'x'; *bytes].into();
                        store.put(&Key::new(["session", &id]), value, KEPT, Expect::Absent).await?;
                    }
                    items => {
                        let log = Key::new(["events", &id, "4294967296"]);
                        for bytes in items {
                            store.append(&log, NewItem::new(vec![b'x'; *bytes], KEPT)).await?;
                        }
                    }
                }
            }
            Ok(()) as Result<()>
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    let grown = database.used_memory().await?.saturating_sub(before);
    println!("{name:<42} {:>7}", grown / ENTRIES as u64);
    Ok(())
}

/// Prints by how much the memory of this process grows with a session.
async fn in_replica(name: &str, address: SocketAddr) -> Result<()> {
    let mut wire = Wire::open(address).await?;
    let before = resident()?;
    for _ in 0..ENTRIES {
        wire.session().await?;
    }
    println!("{name:<42} {:>7}", resident()?.saturating_sub(before) / ENTRIES as u64);
    Ok(())
}

/// The bytes of memory that this process has.
fn resident() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}

/// Prints the times of both, and the median of their ratios.
async fn compare(
    memory: SocketAddr,
    redis: SocketAddr,
    connections: usize,
    database: &RedisServer,
) -> Result<()> {
    let mut callers = [open(memory, connections).await?, open(redis, connections).await?];
    let mut rounds: Vec<[f64; 2]> = Vec::new();
    let mut worked = [Worked::default(); 2];
    // The first round is not counted.
    for _ in 0..=ROUNDS {
        let mut times = [0.0; 2];
        for ((time, callers), worked) in times.iter_mut().zip(&mut callers).zip(&mut worked) {
            let (begin, before) = (Instant::now(), Worked::so_far(database)?);
            *callers = call_all(std::mem::take(callers)).await?;
            *time = begin.elapsed().as_secs_f64() * 1e6 / CALLS as f64;
            worked.add(before, Worked::so_far(database)?);
        }
        rounds.push(times);
    }
    let rounds = rounds.get(1..).unwrap_or_default();
    let in_memory = median(rounds.iter().map(|[memory, _]| *memory).collect());
    let in_redis = median(rounds.iter().map(|[_, redis]| *redis).collect());
    // Of the rates, so the other way round.
    let ratio = median(rounds.iter().map(|[memory, redis]| memory / redis).collect());
    for (name, time, worked) in [("memory", in_memory, worked[0]), ("Redis", in_redis, worked[1])] {
        println!(
            "{connections:>2} connections  {name:<6} {:>9.0} calls/s {:>8.1} µs for each connection; \
             processors: {:.1} µs a call here, {:.1} µs in redis-server",
            1e6 / time,
            time * connections as f64,
            worked.a_call(worked.here),
            worked.a_call(worked.database),
        );
    }
    println!("{connections:>2} connections  Redis has {ratio:.2} of the rate of memory");
    Ok(())
}

/// How long processors have worked: for this process, which is the clients and the server, and for the
/// database.
#[derive(Clone, Copy, Default)]
struct Worked {
    here: Duration,
    database: Duration,
}

impl Worked {
    fn so_far(database: &RedisServer) -> Result<Self> {
        let here = processor_time(std::process::id())?;
        Ok(Self { here, database: database.processor_time()? })
    }

    fn add(&mut self, before: Self, after: Self) {
        self.here += after.here.saturating_sub(before.here);
        self.database += after.database.saturating_sub(before.database);
    }

    /// The microseconds of a call, of those that all rounds took.
    fn a_call(self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e6 / ((ROUNDS + 1) * CALLS) as f64
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

async fn open(address: SocketAddr, connections: usize) -> Result<Vec<Caller>> {
    let mut callers = Vec::new();
    for _ in 0..connections {
        callers.push(Caller::open(address).await?);
    }
    Ok(callers)
}

/// Each connection makes its share of the calls, one after the other.
async fn call_all(callers: Vec<Caller>) -> Result<Vec<Caller>> {
    let (share, mut calling) = (CALLS / callers.len(), JoinSet::new());
    for mut caller in callers {
        calling.spawn(async move {
            for _ in 0..share {
                caller.call().await?;
            }
            Ok(caller) as Result<Caller>
        });
    }
    let mut callers = Vec::new();
    while let Some(caller) = calling.join_next().await {
        callers.push(caller??);
    }
    Ok(callers)
}

/// Prints how many operations there are in a second, and what they cost the database.
async fn operations<Work>(
    name: &str,
    store: &Arc<Redis>,
    database: &RedisServer,
    work: impl Fn(Arc<Redis>, usize) -> Work,
) -> Result<()>
where
    Work: Future<Output = Result<()>> + Send + 'static,
{
    let (begin, before) = (Instant::now(), database.processor_time()?);
    let mut workers = JoinSet::new();
    for worker in 0..AT_ONCE {
        workers.spawn(work(store.clone(), worker));
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    let count = OPERATIONS as f64;
    let rate = count / begin.elapsed().as_secs_f64();
    let cost = (database.processor_time()? - before).as_secs_f64() / count;
    println!(
        "{name:<16} {rate:>8.0} operations/s, {:.1} µs of redis-server each: a core of it carries {:.0} operations/s",
        cost * 1e6,
        1.0 / cost
    );
    Ok(())
}

async fn renew(store: Arc<Redis>, worker: usize) -> Result<()> {
    let key = Key::new(["session", &format!("sessionsessionsession{worker}")]);
    store.put(&key, vec![b'x'; 560].into(), KEPT, Expect::Anything).await?;
    for _ in 0..OPERATIONS / AT_ONCE {
        store.renew(&key, KEPT).await?.ok_or("the record is gone")?;
    }
    Ok(())
}

/// Streams of five events.
async fn append(store: Arc<Redis>, worker: usize) -> Result<()> {
    for number in 0..OPERATIONS / AT_ONCE {
        let stream = format!("{}", number / 5);
        let log = Key::new(["events", &format!("sessionsessionsession{worker}"), &stream]);
        store.append(&log, NewItem::new(vec![b'x'; 300], KEPT)).await?;
    }
    Ok(())
}

/// A connection with a session of its own.
struct Caller {
    wire: Wire,
    session: String,
}

impl Caller {
    async fn open(address: SocketAddr) -> Result<Self> {
        let mut wire = Wire::open(address).await?;
        let session = wire.session().await?;
        Ok(Self { wire, session })
    }

    async fn call(&mut self) -> Result<()> {
        let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"plain","arguments":{"text":"ahoy"}}}"#;
        let (_, answer) = self.wire.post(&self.session, body).await?;
        match answer.windows(7).any(|text| text == br#""ahoy"}"#) {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&answer).into()),
        }
    }
}
