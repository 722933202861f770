//! The neutral load generator: any server, no SDK, every answer checked, one line of JSON.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bench_load::arguments::Arguments;
use bench_load::http::{Endpoint, Load};
use bench_load::sessions::Sessions;
use bench_load::start::start;
use bench_load::stdio::Pipe;

const HELP: &str = "\
  load http URL --revision R --connections C --bytes B (--seconds S | --calls N)
      [--method echo|list|progress] [--tool NAME]
  load stdio PROGRAM [ARGUMENT…] --revision R --window W --bytes B (--seconds S | --calls N)
  load sessions URL --count N [--streams]   open sessions, say so, wait for a line
  load fanout URL --streams N               tell N streams of a change
  load start PROGRAM [ARGUMENT…] --revision R --count N [--core K]";

/// How much longer than the requested time a run may take.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (command, words) = arguments.words.split_first().context(HELP)?;
    let seconds = arguments.option("seconds")?.map_or(Duration::ZERO, Duration::from_secs_f64);
    let work = async {
        match (command.as_str(), words) {
            ("http", [url]) => http(&arguments, url).await,
            ("stdio", words) => stdio(&arguments, words).await,
            ("sessions", [url]) => sessions(&arguments, url).await,
            ("fanout", [url]) => fan_out(&arguments, url).await,
            ("start", words) => starts(&arguments, words),
            _ => bail!("cannot do that:\n{HELP}"),
        }
    };
    let work = async { tokio::time::timeout(seconds * 2 + PATIENCE, work).await };
    runtime.block_on(work).context("nothing came for too long")?
}

async fn http(arguments: &Arguments, url: &str) -> Result<()> {
    let connections = arguments.option("connections")?.unwrap_or(1);
    let (endpoint, call) = (Endpoint::parse(url)?, arguments.call()?);
    let mut load = Load::open(&endpoint, arguments.revision()?, connections, &call).await?;
    let (warm_up, length) = arguments.length()?;
    if let Some(warm_up) = warm_up {
        load.run(warm_up).await?;
    }
    println!("{}", load.run(length).await?);
    Ok(())
}

async fn stdio(arguments: &Arguments, words: &[String]) -> Result<()> {
    let window = arguments.option("window")?.unwrap_or(1);
    let call = arguments.call()?;
    let mut pipe = Pipe::open(words, arguments.revision()?, window, &call).await?;
    let (warm_up, length) = arguments.length()?;
    if let Some(warm_up) = warm_up {
        pipe.run(warm_up).await?;
    }
    let figures = pipe.run(length).await?;
    pipe.close().await?;
    println!("{figures}");
    Ok(())
}

async fn sessions(arguments: &Arguments, url: &str) -> Result<()> {
    let endpoint = Endpoint::parse(url)?;
    let count = arguments.option("count")?.unwrap_or(10_000);
    let mut sessions = Sessions::open(&endpoint, count).await?;
    if arguments.has("streams") {
        sessions.open_streams(&endpoint).await?;
    }
    println!(r#"{{"ready":true}}"#);
    std::io::stdout().flush()?;
    // There is no other work, so it may block.
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

async fn fan_out(arguments: &Arguments, url: &str) -> Result<()> {
    let endpoint = Endpoint::parse(url)?;
    let streams = arguments.option("streams")?.unwrap_or(1000);
    let mut sessions = Sessions::open(&endpoint, streams).await?;
    sessions.open_streams(&endpoint).await?;
    let took = sessions.tell_all(&endpoint).await?;
    println!(r#"{{"streams":{streams},"seconds":{:.6}}}"#, took.as_secs_f64());
    Ok(())
}

fn starts(arguments: &Arguments, words: &[String]) -> Result<()> {
    let count = arguments.option("count")?.unwrap_or(50);
    let (revision, core) = (arguments.revision()?, arguments.option("core")?);
    let mut times = Vec::new();
    let mut memories = Vec::new();
    for _ in 0..count {
        let started = start(words, revision, core)?;
        times.push(started.took.as_secs_f64() * 1e6);
        memories.push(started.memory);
    }
    times.sort_by(f64::total_cmp);
    memories.sort_unstable();
    let (time, memory) = times.get(count / 2).zip(memories.get(count / 2)).context("no starts")?;
    println!(r#"{{"starts":{count},"p50_us":{time:.1},"rss_bytes":{memory}}}"#);
    Ok(())
}
