//! The process that writes is killed, and the database after it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_store::backend::{Backend, BoxFuture, Expect, Key, Written};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest};
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::redis_server::{Program, RedisServer};

const LONG: Duration = Duration::from_secs(60);

/// The variables of the process that is to be killed.
const URL: &str = "BOWLINE_REDIS_WRITER";
const PREFIX: &str = "BOWLINE_REDIS_WRITER_PREFIX";

async fn open(url: &str, prefix: &str) -> Arc<dyn Backend> {
    let durability = bowline_store_redis::RedisDurability::Fsync;
    let store = Redis::options(url).prefix(prefix).durability(durability).connect().await;
    Arc::new(store.unwrap())
}

/// A server whose writes wait for the disk.
struct Durable(Mutex<RedisServer>);

impl BackendUnderTest for Durable {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        let url = self.0.lock().unwrap().url();
        Box::pin(async move { open(&url, store).await })
    }

    fn durability(&self) -> backend::Durability {
        backend::Durability::Crash
    }

    fn writer(&self, store: &str) -> Option<Command> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::writes_until_killed", "--nocapture"]);
        command.env(URL, self.0.lock().unwrap().url()).env(PREFIX, store);
        Some(command)
    }

    fn restart(&self) -> BoxFuture<'_, ()> {
        let mut server = self.0.lock().unwrap();
        server.kill();
        server.start_again();
        Box::pin(async {})
    }
}

const ON_DISK: [&str; 6] = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];

#[tokio::test]
async fn what_redis_acknowledged_survives_kills() {
    backend::crash(&Durable(Mutex::new(RedisServer::start_with(&ON_DISK)))).await;
}

#[tokio::test]
async fn what_valkey_acknowledged_survives_kills() {
    let server = RedisServer::start_program(Program::Valkey, &ON_DISK);
    backend::crash(&Durable(Mutex::new(server))).await;
}

// Redis has it from 7.2 on.
#[tokio::test]
async fn writes_that_are_ready_together_wait_for_the_disk_of_valkey_together() {
    let server = RedisServer::start_program(Program::Valkey, &ON_DISK);
    let store = open(&server.url(), "together").await;
    let mut writes = JoinSet::new();
    for number in 0..50 {
        let (store, key) = (store.clone(), Key::new(["key", &number.to_string()]));
        writes.spawn(async move { store.put(&key, "x".into(), LONG, Expect::Anything).await });
    }
    for written in writes.join_all().await {
        assert!(matches!(written, Ok(Written::Yes(_))), "{written:?}");
    }
    let info = server.ask(&["INFO", "commandstats"]);
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_waitaof:calls="));
    let waited = line.and_then(|line| line.split(',').next()?.parse::<u32>().ok());
    assert!(waited.is_some_and(|waited| waited < 25), "{waited:?} waits for 50 writes");
}

/// The process that [`what_redis_acknowledged_survives_kills`] kills.
#[tokio::test]
async fn writes_until_killed() {
    if let (Ok(url), Ok(prefix)) = (std::env::var(URL), std::env::var(PREFIX)) {
        backend::write_until_killed(open(&url, &prefix).await).await;
    }
}
