//! The process that writes is killed, and the database after it.

use std::sync::{Arc, Mutex};

use bowline_store::backend::{Backend, BoxFuture};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest};
use tokio::process::Command;

use crate::redis_server::RedisServer;

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

#[tokio::test]
async fn what_redis_acknowledged_survives_kills() {
    let arguments = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    let server = RedisServer::start_with(&arguments);
    backend::crash(&Durable(Mutex::new(server))).await;
}

/// The process that [`what_redis_acknowledged_survives_kills`] kills.
#[tokio::test]
async fn writes_until_killed() {
    if let (Ok(url), Ok(prefix)) = (std::env::var(URL), std::env::var(PREFIX)) {
        backend::write_until_killed(open(&url, &prefix).await).await;
    }
}
