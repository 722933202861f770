//! What sessions cost in the memory of the database. The design counts with these figures.

use std::sync::Arc;
use std::time::Duration;

use bowline_store::backend::{Backend as _, Expect, Key, NewItem};
use bowline_store::events::EventLog;
use bowline_store_redis::Redis;

use crate::redis_server::RedisServer;

const LONG: Duration = Duration::from_secs(3600);

/// As long as a session id.
const SESSION: &str = "sessionsessionsession1";

fn usage(server: &RedisServer, name: &str) -> f64 {
    let usage = server.ask(&["MEMORY", "USAGE", name, "SAMPLES", "0"]);
    usage.trim_start_matches(':').parse().expect("the key is there")
}

fn is_about(measured: f64, planned: f64) {
    let share = measured / planned;
    assert!((0.8..=1.2).contains(&share), "planned {planned} bytes, measured {measured}");
}

#[tokio::test]
async fn sessions_and_logs_take_as_much_memory_as_planned() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    // The record of a client that can answer every kind of question.
    let record = vec![b'x'; 560];
    let key = Key::new(["session", SESSION]);
    store.put(&key, record.into(), LONG, Expect::Absent).await.unwrap();
    is_about(usage(&server, &format!("bowline:v:session/{{{SESSION}}}")), 728.0);
    for (stream, events, planned) in [("7", 5, 2216.0), ("8", 1, 576.0)] {
        let log = Key::new(["events", SESSION, stream]);
        for _ in 0..events {
            store.append(&log, NewItem::new(vec![b'x'; 300], LONG)).await.unwrap();
        }
        is_about(usage(&server, &format!("bowline:l:events/{{{SESSION}}}/{stream}")), planned);
    }
}

/// Two hours of a GET stream: twelve notifications, and upkeep every 150 seconds.
#[tokio::test]
async fn the_upkeep_of_a_silent_stream_takes_no_memory() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    let log = EventLog::new(Arc::new(store), SESSION, 0, LONG).kept_while_open(LONG);
    for number in 0..48 {
        if number % 4 == 0 {
            log.append(&[b'x'; 150], false).await.unwrap();
        }
        log.keep().await.unwrap();
    }
    is_about(usage(&server, &format!("bowline:l:events/{{{SESSION}}}/0")), 2736.0);
}
