//! Operations that cost the database little, also when there are many of them.

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use bowline_store::backend::{Backend as _, BoxFuture, Expect, Key};
use bowline_store_redis::{Redis, RedisDurability};
use bowline_testing::proxy::{ConnectionFault, Proxy};
use tokio::task::JoinSet;

use crate::redis_server::RedisServer;

type Deletion<'a> = BoxFuture<'a, bowline_store::backend::Result<bool>>;

const LONG: Duration = Duration::from_secs(800);

async fn connect(server: &RedisServer) -> Redis {
    Redis::connect(&server.url()).await.expect("a store")
}

/// A number that the server reports, such as `total_reads_processed:7`; 0 if it reports none.
fn reported(server: &RedisServer, section: &str, name: &str) -> u64 {
    let info = server.ask(&["INFO", section]);
    let line = info.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let digits = line.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(0)
}

fn scripts(server: &RedisServer) -> u64 {
    reported(server, "commandstats", "cmdstat_evalsha:calls=")
}

/// One worker, as it runs a task that was woken before all others.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn commands_of_operations_that_are_ready_together_are_sent_together() {
    let server = RedisServer::start();
    let store = connect(&server).await;
    let reads = || reported(&server, "stats", "total_reads_processed");
    let before = reads();
    let begin = async move {
        let mut operations = JoinSet::new();
        for number in 0..100 {
            let store = store.clone();
            operations.spawn(async move {
                let key = Key::new(["value", &number.to_string()]);
                store.put(&key, key.as_str().to_owned().into(), LONG, Expect::Anything).await?;
                let found = store.get(&key).await?.expect("the value");
                assert_eq!(found.value, key.as_str(), "each gets its own reply");
                Ok::<_, bowline_store::Error>(())
            });
        }
        operations.join_all().await
    };
    // In a task, so that the one worker spawns them all before it runs any.
    let ended = tokio::spawn(begin).await.expect("no panic");
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    let reads = reads() - before;
    assert!(reads < 50, "{reads} reads for 200 commands");
}

/// Deletes as many keys at the same time. Deleting is not repeated. Returns how many got a reply.
async fn delete_at_once(store: &Redis, count: usize) -> usize {
    let mut deletions = JoinSet::new();
    for number in 0..count {
        let (store, key) = (store.clone(), Key::new(["value", &number.to_string()]));
        deletions.spawn(async move { store.delete(&key).await });
    }
    deletions.join_all().await.iter().filter(|deleted| deleted.is_ok()).count()
}

#[tokio::test]
async fn a_batch_does_not_wait_for_the_replies_of_the_one_before() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.address()).await.expect("a proxy");
    let store = Redis::connect(&format!("redis://{}", proxy.address())).await.expect("a store");
    proxy.set(ConnectionFault::DropReplies);
    assert_eq!(delete_at_once(&store, 100).await, 0);
    let deletions = reported(&server, "commandstats", "cmdstat_unlink:calls=");
    assert_eq!(deletions, 100, "more than a batch holds");
}

#[tokio::test]
async fn what_was_never_sent_on_a_dead_connection_is_sent_on_the_next() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.address()).await.expect("a proxy");
    let store = Redis::connect(&format!("redis://{}", proxy.address())).await.expect("a store");
    proxy.set(ConnectionFault::HalfOpen);
    let answered = delete_at_once(&store, 300).await;
    assert!((100..300).contains(&answered), "{answered} of 300");
    let deletions = reported(&server, "commandstats", "cmdstat_unlink:calls=");
    assert_eq!(deletions, answered as u64);
}

#[tokio::test]
async fn writes_that_are_ready_together_wait_for_replicas_together() {
    let server = RedisServer::start();
    let options = Redis::options(&server.url()).durability(RedisDurability::Replicated(1));
    let store = options.connect().await.expect("a store");
    let connections = || reported(&server, "stats", "total_connections_received:");
    let write = async |number: usize| {
        let key = Key::new(["value", &number.to_string()]);
        let written = store.put(&key, "x".into(), LONG, Expect::Anything).await;
        written.expect_err("there is no replica").to_string()
    };
    write(0).await;
    let (before, waited) =
        (connections(), reported(&server, "commandstats", "cmdstat_wait:calls="));
    // Those that are later than the first wait a second time.
    let writes = (1..=50).map(write);
    let mut writes: Vec<_> = writes.map(Box::pin).collect();
    let mut context = Context::from_waker(Waker::noop());
    assert!(writes[0].as_mut().poll(&mut context).is_pending());
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    for write in &mut writes[1..] {
        assert!(write.as_mut().poll(&mut context).is_pending());
    }
    for write in writes {
        let error = write.await;
        assert!(error.contains("only 0 of 1 copies confirmed it"), "{error}");
    }
    let waited = reported(&server, "commandstats", "cmdstat_wait:calls=") - waited;
    assert_eq!(waited, 2, "one for each batch");
    assert_eq!(connections() - before, 3, "the connection is kept; the test makes these");
}

#[tokio::test]
async fn an_operation_that_is_dropped_takes_no_other_along() {
    begun_at_once(|operations| drop(operations.remove(2))).await;
}

// A task that selects among futures may leave one of them alone for as long as it likes.
#[tokio::test]
async fn an_operation_that_is_not_polled_any_more_holds_up_no_other() {
    begun_at_once(|operations| operations.swap(2, 5)).await;
}

/// Begins six operations at the same time and does something to them. Those that are left then end, one
/// after the other.
async fn begun_at_once(change: impl FnOnce(&mut Vec<Deletion<'_>>)) {
    let server = RedisServer::start();
    let store = connect(&server).await;
    let keys: Vec<_> = (0..6).map(|number| Key::new(["value", &number.to_string()])).collect();
    for key in &keys {
        store.put(key, "x".into(), LONG, Expect::Anything).await.expect("a value");
    }
    // Deleting is not repeated, so each must be sent and answered the first time.
    let mut operations: Vec<_> = keys.iter().map(|key| store.delete(key)).collect();
    let mut context = Context::from_waker(Waker::noop());
    for operation in &mut operations {
        assert!(Pin::new(operation).poll(&mut context).is_pending());
    }
    // The first two were sent at once. The third is the first that waits for others.
    change(&mut operations);
    for operation in operations {
        assert!(operation.await.expect("a reply"), "there was a value");
    }
}

#[tokio::test]
async fn what_was_renewed_a_moment_ago_is_only_read() {
    let server = RedisServer::start();
    let (store, key) = (connect(&server).await, Key::new(["session", "abc"]));
    store.put(&key, "x".into(), LONG, Expect::Anything).await.expect("a value");
    let before = scripts(&server);
    for _ in 0..10 {
        store.renew(&key, LONG).await.expect("a reply").expect("the value");
    }
    assert_eq!(scripts(&server), before, "the time since the write is short");
    store.renew(&key, LONG * 2).await.expect("a reply").expect("the value");
    assert_eq!(scripts(&server), before + 1, "a longer life has to be set");
}

#[tokio::test]
async fn renewing_notices_at_once_what_others_did() {
    let server = RedisServer::start();
    let (store, other) = (connect(&server).await, connect(&server).await);
    let key = Key::new(["session", "abc"]);
    let left = || {
        let line = server.ask(&["PTTL", "bowline:v:session/{abc}"]);
        line.trim_start_matches(':').parse::<u64>()
    };
    store.put(&key, "x".into(), LONG, Expect::Anything).await.expect("a value");
    other.put(&key, "y".into(), LONG / 80, Expect::Anything).await.expect("a value");
    assert!(left().expect("a number") <= 10_000);
    let entry = store.renew(&key, LONG).await.expect("a reply").expect("the value");
    assert_eq!(entry.value, "y");
    assert!(left().expect("a number") > 700_000, "a value with a short life is prolonged");
    assert!(other.delete(&key).await.expect("a reply"));
    assert_eq!(store.renew(&key, LONG).await.expect("a reply"), None);
}

// A database that takes over may lack the last renewals, and the value would expire in use.
#[tokio::test]
async fn after_the_connection_was_lost_nothing_counts_as_renewed() {
    let server = RedisServer::start();
    let (store, key) = (connect(&server).await, Key::new(["session", "abc"]));
    store.put(&key, "x".into(), LONG, Expect::Anything).await.expect("a value");
    server.ask(&["PEXPIRE", "bowline:v:session/{abc}", "5000"]);
    store.renew(&key, LONG).await.expect("a reply").expect("the value");
    let before = scripts(&server);
    server.ask(&["CLIENT", "KILL", "TYPE", "normal"]);
    let mut renewed = store.renew(&key, LONG).await;
    for _ in 0..100 {
        if scripts(&server) > before {
            break;
        }
        renewed = store.renew(&key, LONG).await;
    }
    assert!(scripts(&server) > before, "the script prolongs the value: {renewed:?}");
}
