//! What is required of a database, and errors that say what to do.

use std::time::{Duration, Instant};

use bowline_store::backend::{
    Appended, Backend as _, Expect, Key, Mark, MarkStep, NewItem, Position,
};
use bowline_store_redis::{Redis, RedisDurability, RedisLimits};
use bowline_testing::proxy::{ConnectionFault, Proxy};

use crate::redis_server::{RedisServer, free_port};

const LONG: Duration = Duration::from_secs(60);

async fn refusal(options: bowline_store_redis::RedisOptions) -> String {
    options.connect().await.expect_err("it is refused").to_string()
}

#[tokio::test]
async fn a_database_that_drops_keys_is_refused() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "allkeys-lru", "--save", ""]);
    let refusal = refusal(Redis::options(&server.url())).await;
    let place = server.address().to_string();
    assert!(refusal.contains(&place) && refusal.contains("allkeys-lru"), "{refusal}");
    assert!(refusal.contains("set `maxmemory-policy noeviction`"), "{refusal}");
}

#[tokio::test]
async fn an_error_says_what_failed_where_and_what_to_do() {
    let port = free_port();
    let refused = refusal(Redis::options(&format!("redis://ann:secret@localhost:{port}"))).await;
    assert!(refused.contains(&format!("open a store in Redis at localhost:{port}")), "{refused}");
    assert!(
        refused.contains("is the database running") && !refused.contains("secret"),
        "{refused}"
    );
    for url in ["localhost:6379", "http://ann:secret@localhost", "redis://ann:secret@host:port"] {
        let wrong = refusal(Redis::options(url)).await;
        assert!(wrong.contains("it looks like `redis://"), "{wrong}");
        assert!(!wrong.contains("secret@"), "{wrong}");
    }
}

#[tokio::test]
async fn the_password_comes_from_the_url_or_a_file() {
    let server = RedisServer::start_with(&["--requirepass", "se,cr/et", "--save", ""]);
    let address = server.address();
    let with = |password: &str| Redis::options(&format!("redis://:{password}@{address}"));
    with("se,cr%2Fet").connect().await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "se,cr/et\n").unwrap();
    let store = with("wrong").password_file(file.path()).connect().await.unwrap();
    assert!(!format!("{store:?}").contains("se,cr"), "{store:?}");
    for options in [with("wrong"), Redis::options(&server.url())] {
        let refusal = refusal(options).await;
        assert!(refusal.contains("check the user and the password"), "{refusal}");
        assert!(!refusal.contains("wrong@"), "{refusal}");
    }
    let missing = refusal(with("wrong").password_file("/missing")).await;
    assert!(missing.contains("cannot read the password file `/missing`"), "{missing}");
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_passed_over() {
    let server = RedisServer::start();
    let url = format!("redis://127.0.0.1:{},{}", free_port(), server.address());
    Redis::connect(&url).await.unwrap();
}

#[tokio::test]
async fn a_host_that_accepts_and_never_answers_is_passed_over() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.address()).await.unwrap();
    proxy.set(ConnectionFault::Hang);
    let (silent, key) = (proxy.address(), Key::new(["key"]));
    for url in [
        format!("redis://{silent},{}", server.address()),
        format!("redis://{silent},127.0.0.1:{},{}", free_port(), server.address()),
        format!("redis://127.0.0.1:{},{silent},{}", free_port(), server.address()),
    ] {
        let store = Redis::connect(&url).await.unwrap();
        store.put(&key, "x".into(), LONG, Expect::Anything).await.unwrap();
    }
    let begin = Instant::now();
    let refusal = refusal(Redis::options(&format!("redis://{silent},{silent}"))).await;
    assert!(refusal.contains("no answer within"), "{refusal}");
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_replica_is_passed_over() {
    let primary = RedisServer::start();
    let port = primary.port().to_string();
    let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port, "--save", ""]);
    let url = format!("redis://{},{}", replica.address(), primary.address());
    let store = Redis::connect(&url).await.unwrap();
    let key = Key::new(["key"]);
    store.put(&key, "x".into(), LONG, Expect::Anything).await.unwrap();
    let refusal = refusal(Redis::options(&replica.url())).await;
    assert!(refusal.contains("is a replica") && refusal.contains("name the primary"), "{refusal}");
    // The primary becomes a replica, and the replica a primary.
    let other = replica.port().to_string();
    assert_eq!(replica.ask(&["REPLICAOF", "NO", "ONE"]), "+OK");
    assert_eq!(primary.ask(&["REPLICAOF", "127.0.0.1", &other]), "+OK");
    let begin = Instant::now();
    while store.put(&key, "y".into(), LONG, Expect::Anything).await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the store follows the primary");
    }
    assert_eq!(replica.ask(&["GETRANGE", "bowline:v:{key}", "8", "-1"]), "y");
}

#[tokio::test]
async fn a_full_database_says_so_and_still_reads() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    let (key, log) = (Key::new(["key"]), Key::new(["log"]));
    store.put(&key, "x".into(), LONG, Expect::Anything).await.unwrap();
    store.append(&log, NewItem::new("1", LONG)).await.unwrap();
    assert_eq!(server.ask(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
    let append = NewItem::new("3", LONG).above(Position(1));
    let errors = [
        store.put(&key, "y".into(), LONG, Expect::Anything).await.unwrap_err(),
        store.put(&Key::new(["new"]), "y".into(), LONG, Expect::Absent).await.unwrap_err(),
        store.append(&log, append).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("raise `maxmemory`"), "{error}");
    }
    assert_eq!(store.get(&key).await.unwrap().unwrap().value, "x");
    assert!(store.renew(&key, LONG * 10).await.unwrap().is_some(), "a session lives on");
    let read = store.read(&log, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.next), (Position(1), Position(2)), "the log is as it was");
}

#[tokio::test]
async fn values_and_logs_are_limited() {
    let server = RedisServer::start();
    let mut limits = RedisLimits::default();
    (limits.value_bytes, limits.log_bytes, limits.log_items) = (10, 1000, 3);
    let store = Redis::options(&server.url()).limits(limits).connect().await.unwrap();
    let (key, log) = (Key::new(["key"]), Key::new(["log"]));
    let long = store.put(&key, vec![0; 11].into(), LONG, Expect::Anything).await.unwrap_err();
    assert!(long.to_string().contains("11 bytes, and at most 10"), "{long}");
    store.put(&key, vec![0; 10].into(), LONG, Expect::Anything).await.unwrap();
    for number in 1..=5 {
        store.append(&log, NewItem::new(number.to_string(), LONG)).await.unwrap();
    }
    let read = store.read(&log, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.next, read.items.len()), (Position(3), Position(6), 3));
    store.append(&log, NewItem::new(vec![0; 900], LONG)).await.unwrap();
    store.append(&log, NewItem::new(vec![0; 5000], LONG)).await.unwrap();
    let read = store.read(&log, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.items.len()), (Position(7), 1), "the newest item stays");
    store.append(&log, NewItem::new("x", LONG)).await.unwrap();
    let read = store.read(&log, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.items.len()), (Position(8), 1), "its bytes were counted");
}

#[tokio::test]
async fn what_belongs_together_must_be_on_one_server() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    let log = Key::new(["events", "abc", "1"]);
    let mark = |id| Mark { key: Key::new(["mark", id]), owner: "me".into(), step: MarkStep::Begin };
    let item = NewItem::new("x", LONG);
    let apart = store.append(&log, item.clone().mark(mark("other"))).await.unwrap_err();
    assert!(apart.to_string().contains("the same second part"), "{apart}");
    let apart = store.append(&log, item.clone().tell(Key::new(["news"]), "")).await.unwrap_err();
    assert!(apart.to_string().contains("the same second part"), "{apart}");
    assert_eq!(
        store.append(&log, item.mark(mark("abc"))).await.unwrap(),
        Appended::At(Position(1))
    );
}

#[tokio::test]
async fn a_write_waits_for_replicas() {
    let primary = RedisServer::start();
    let options = Redis::options(&primary.url()).durability(RedisDurability::Replicated(1));
    let store = options.connect().await.unwrap();
    let key = Key::new(["key"]);
    let put = |value: &'static str| store.put(&key, value.into(), LONG, Expect::Anything);
    let alone = put("1").await.unwrap_err().to_string();
    assert!(alone.contains("only 0 of 1 copies confirmed it"), "{alone}");
    assert!(store.get(&key).await.unwrap().is_some(), "reads do not wait");
    let port = primary.port().to_string();
    let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port, "--save", ""]);
    let begin = Instant::now();
    while put("2").await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(15), "the replica follows");
    }
    assert_eq!(replica.ask(&["STRLEN", "bowline:v:{key}"]), ":9");
}

#[tokio::test]
async fn nothing_waits_for_a_write_that_waits_for_replicas() {
    let server = RedisServer::start();
    let key = Key::new(["key"]);
    let memory = Redis::connect(&server.url()).await.unwrap();
    memory.put(&key, "x".into(), LONG, Expect::Anything).await.unwrap();
    let options = Redis::options(&server.url()).durability(RedisDurability::Replicated(1));
    let store = options.connect().await.unwrap();
    let write = async |value: &'static str| {
        let write = store.put(&key, value.into(), LONG, Expect::Anything).await;
        (write.expect_err("there is no replica").to_string(), Instant::now())
    };
    let read = async || {
        for _ in 0..5 {
            assert!(store.renew(&key, LONG).await.unwrap().is_some());
            assert!(store.get(&key).await.unwrap().is_some());
            store.publish(&key, "news".into()).await.unwrap();
        }
        Instant::now()
    };
    for _ in 0..3 {
        let ((error, written), read) = tokio::join!(write("1"), read());
        assert!(error.contains("only 0 of 1 copies confirmed it"), "{error}");
        assert!(read < written, "reads do not wait for writes");
    }
    // Writes wait for each other, and so long that the store pauses. Reads go on.
    for _ in 0..3 {
        let writes = async { tokio::join!(write("1"), write("2"), write("3"), write("4")) };
        tokio::join!(writes, read());
    }
}

#[tokio::test]
async fn a_write_that_waits_for_the_disk_needs_one() {
    let memory = RedisServer::start();
    let fsync =
        |server: &RedisServer| Redis::options(&server.url()).durability(RedisDurability::Fsync);
    let refused = refusal(fsync(&memory)).await;
    assert!(refused.contains("set `appendonly yes`"), "{refused}");
    let disk = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "everysec"]);
    if disk.ask(&["INFO", "server"]).contains("redis_version:7.0.") {
        let refused = refusal(fsync(&disk)).await;
        assert!(refused.contains("set `appendfsync always`"), "{refused}");
    }
    assert_eq!(disk.ask(&["CONFIG", "SET", "appendfsync", "always"]), "+OK");
    let store = fsync(&disk).connect().await.unwrap();
    store.put(&Key::new(["key"]), "x".into(), LONG, Expect::Anything).await.unwrap();
}
