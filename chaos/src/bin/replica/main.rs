//! One replica: `chaos-replica ADDRESS STORE-URL NOTES LAME-DUCK-MS`. Its tools write to the file
//! `NOTES`, which all replicas share.

mod tools;

use std::fs::OpenOptions;
use std::sync::Arc;
use std::time::Duration;

use bowline::http::HttpLimits;
use bowline::store::Redis;
use bowline::{Limits, Server, TaskLimits, resources, tools};

use self::tools::{Notes, ask, count, thing, touch, work, work_again};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, store, notes, lame_duck] = &words[..] else {
        anyhow::bail!("usage: chaos-replica ADDRESS STORE-URL NOTES LAME-DUCK-MS");
    };
    let notes = OpenOptions::new().create(true).append(true).open(notes)?;
    let mut limits = Limits::default();
    limits.logs_per_minute = 1_000_000;
    // All clients are one owner.
    let mut task_limits = TaskLimits::default();
    (task_limits.per_owner, task_limits.running) = (1_000_000, 10_000);
    // A little longer than a client waits for the end of its task.
    task_limits.ttl = Duration::from_secs(65);
    let mut http_limits = HttpLimits::default();
    http_limits.lame_duck = Duration::from_millis(lame_duck.parse()?);
    // Clients take a stream for dead after four seconds of silence.
    http_limits.keep_alive = Duration::from_secs(1);
    let server = Server::new("chaos", "1.0.0")
        .limits(limits)
        .task_limits(task_limits)
        .state_keys([[7; 32]])
        .state(Notes(Arc::new(notes)))
        .tools(tools![count, ask, touch, work, work_again])
        .resources(resources![thing]);
    let store = Redis::connect(store).await?;
    Ok(server.http().limits(http_limits).store(store).bind(address.as_str()).await?)
}
