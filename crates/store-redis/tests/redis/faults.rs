//! The database is out of reach, and replies are lost.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_store::backend::{
    Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, NewItem, Position, Written,
};
use bowline_store_redis::{Redis, RedisDurability};
use bowline_testing::backend::{self, BackendUnderTest, Outage};
use bowline_testing::proxy::{ConnectionFault, Proxy};
use bytes::Bytes;
use tokio::task::{JoinHandle, JoinSet};

use crate::redis_server::{Program, RedisServer};

const LONG: Duration = Duration::from_secs(60);

/// A server behind a proxy.
struct Proxied {
    server: RedisServer,
    proxy: Proxy,
    fault: ConnectionFault,
}

impl Proxied {
    async fn start(fault: ConnectionFault) -> Self {
        Self { fault, ..Self::before(RedisServer::start()).await }
    }

    async fn before(server: RedisServer) -> Self {
        let proxy = Proxy::start(server.address()).await.unwrap();
        Self { server, proxy, fault: ConnectionFault::None }
    }

    async fn connect(&self) -> Redis {
        self.connect_for(RedisDurability::Memory).await
    }

    async fn connect_for(&self, durability: RedisDurability) -> Redis {
        let options = Redis::options(&format!("redis://{}", self.proxy.address()));
        options.durability(durability).connect().await.unwrap()
    }

    /// Runs an operation whose first reply is lost. `has_effect` asks the server itself.
    async fn lose_reply<T>(
        &self,
        operation: impl Future<Output = T>,
        has_effect: impl Fn(&RedisServer) -> bool,
    ) -> T {
        let dropped = self.proxy.dropped();
        self.proxy.set(ConnectionFault::DropReplies);
        let end = async {
            let begin = Instant::now();
            while !has_effect(&self.server) || self.proxy.dropped() == dropped {
                assert!(begin.elapsed() < Duration::from_secs(10), "the server gets the request");
                tokio::task::yield_now().await;
            }
            self.proxy.set(ConnectionFault::None);
        };
        tokio::join!(operation, end).0
    }
}

impl BackendUnderTest for Proxied {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        Box::pin(async { Arc::new(self.connect().await) as Arc<dyn Backend> })
    }

    fn outage(&self, _: &str) -> Option<Outage> {
        self.proxy.set(self.fault);
        let set = self.proxy.setter();
        Some(Outage::new(move || set(ConnectionFault::None)))
    }
}

#[tokio::test]
async fn redis_passes_when_connections_are_refused() {
    backend::faults(&Proxied::start(ConnectionFault::Refuse).await).await;
}

#[tokio::test]
async fn redis_passes_when_connections_hang() {
    backend::faults(&Proxied::start(ConnectionFault::Hang).await).await;
}

#[tokio::test]
async fn redis_passes_when_connections_are_reset() {
    backend::faults(&Proxied::start(ConnectionFault::Reset).await).await;
}

#[tokio::test]
async fn redis_passes_when_connections_die_silently() {
    backend::faults(&Proxied::start(ConnectionFault::HalfOpen).await).await;
}

#[tokio::test]
async fn redis_passes_when_replies_are_lost() {
    backend::faults(&Proxied::start(ConnectionFault::DropReplies).await).await;
}

#[tokio::test]
async fn redis_passes_when_everything_is_late() {
    backend::faults(&Proxied::start(ConnectionFault::Delay(Duration::from_millis(400))).await)
        .await;
}

#[tokio::test]
async fn a_write_whose_reply_is_lost_has_one_effect() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let (key, log) = (Key::new(["session", "a"]), Key::new(["events", "a", "1"]));
    let topic = Key::new(["news", "a", "1"]);
    let value = |text: &'static str| {
        move |server: &RedisServer| {
            server.ask(&["GETRANGE", "bowline:v:session/{a}", "8", "-1"]) == text
        }
    };
    // A server that does not know the scripts answers with that, and has no effect yet.
    let other = Key::new(["other"]);
    store.put(&other, "x".into(), LONG, Expect::Absent).await.unwrap();
    store.append(&other, NewItem::new("x", LONG)).await.unwrap();
    let put = store.put(&key, "1".into(), LONG, Expect::Absent);
    let Ok(Written::Yes(first)) = proxied.lose_reply(put, value("1")).await else {
        panic!("the value is there, with the version that it was sent with")
    };
    let put = store.put(&key, "2".into(), LONG, Expect::Version(first));
    let second = proxied.lose_reply(put, value("2")).await.unwrap();
    assert_eq!(Written::Yes(store.get(&key).await.unwrap().unwrap().version), second);
    let put = store.put(&key, "3".into(), LONG, Expect::Anything);
    let third = proxied.lose_reply(put, value("3")).await.unwrap();
    assert_eq!(Written::Yes(store.get(&key).await.unwrap().unwrap().version), third);

    let direct = Redis::connect(&proxied.server.url()).await.unwrap();
    let mut listener = direct.listen(&topic).await.unwrap();
    for number in 1..=2u64 {
        let item = NewItem::new(number.to_string(), LONG).tell(topic.clone(), number.to_string());
        let has_item = move |server: &RedisServer| {
            let found = server.ask(&["HEXISTS", "bowline:l:events/{a}/1", &number.to_string()]);
            found == ":1"
        };
        let appended = proxied.lose_reply(store.append(&log, item), has_item).await.unwrap();
        assert_eq!(appended.position(), Some(Position(number)));
        assert_eq!(next(&mut listener).await, number.to_string(), "it is published once");
    }
    assert_eq!(store.read(&log, Position(0), 10).await.unwrap().items.len(), 2);

    let is_gone = |server: &RedisServer| server.ask(&["EXISTS", "bowline:v:session/{a}"]) == ":0";
    let deleted = proxied.lose_reply(store.delete(&key), is_gone).await;
    assert!(deleted.is_err(), "whether there was a value is not known");
}

// Valkey, because Redis 7.0 waits for the writes of other connections too.
#[tokio::test]
async fn a_write_whose_reply_was_lost_still_waits_for_replicas() {
    let in_memory = ["--save", "", "--appendonly", "no"];
    let server = RedisServer::start_program(Program::Valkey, &in_memory);
    let port = server.port().to_string();
    let replica = ["--replicaof", "127.0.0.1", &port, "--save", ""];
    let replica = RedisServer::start_program(Program::Valkey, &replica);
    let proxied = Proxied::before(server).await;
    let (key, log) = (Key::new(["session", "a"]), Key::new(["events", "a"]));
    let store = proxied.connect_for(RedisDurability::Replicated(1)).await;
    let begin = Instant::now();
    while store.put(&key, "x".into(), LONG, Expect::Anything).await.is_err() {
        assert!(begin.elapsed() < Duration::from_secs(15), "the replica follows");
    }
    // The server learns the scripts.
    store.put(&Key::new(["other"]), "x".into(), LONG, Expect::Absent).await.unwrap();
    store.append(&log, NewItem::new("1", LONG)).await.unwrap();
    let version = store.get(&key).await.unwrap().unwrap().version;
    replica.pause();
    // Each time with a connection that is open already.
    let connect = async || {
        let store = proxied.connect_for(RedisDurability::Replicated(1)).await;
        store.put(&Key::new(["other"]), "x".into(), LONG, Expect::Anything).await.unwrap_err();
        store
    };
    let unconfirmed = "only 0 of 1 copies confirmed it";
    for (value, expect) in [("2", Expect::Version(version)), ("3", Expect::Anything)] {
        let has_value = |server: &RedisServer| {
            server.ask(&["GETRANGE", "bowline:v:session/{a}", "8", "-1"]) == value
        };
        let store = connect().await;
        let put = store.put(&key, value.into(), LONG, expect);
        let error = proxied.lose_reply(put, has_value).await.unwrap_err().to_string();
        assert!(error.contains(unconfirmed), "{error}");
    }
    let has_item =
        |server: &RedisServer| server.ask(&["HEXISTS", "bowline:l:events/{a}", "2"]) == ":1";
    let store = connect().await;
    let append = store.append(&log, NewItem::new("2", LONG));
    let error = proxied.lose_reply(append, has_item).await.unwrap_err().to_string();
    assert!(error.contains(unconfirmed), "{error}");
}

#[tokio::test]
async fn a_listener_gets_an_empty_message_after_a_reconnect() {
    let mut proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let topic = Key::new(["topic", "a"]);
    let mut listeners = [store.listen(&topic).await.unwrap(), store.listen(&topic).await.unwrap()];
    let server = RedisServer::url(&proxied.server);
    let publisher = Redis::connect(&server).await.unwrap();
    for fault in [ConnectionFault::Reset, ConnectionFault::Refuse] {
        proxied.proxy.set(fault);
        publisher.publish(&topic, "missed".into()).await.unwrap();
        proxied.proxy.set(ConnectionFault::None);
        for listener in &mut listeners {
            assert_eq!(next(listener).await, "", "read again");
        }
        publisher.publish(&topic, "after".into()).await.unwrap();
        for listener in &mut listeners {
            assert_eq!(next(listener).await, "after", "and listen on");
        }
    }
    proxied.server.kill();
    proxied.server.start_again();
    for listener in &mut listeners {
        assert_eq!(next(listener).await, "", "the server knows no subscription any more");
    }
    store.publish(&topic, "after".into()).await.unwrap();
    assert_eq!(next(&mut listeners[1]).await, "after");
}

#[tokio::test]
async fn a_connection_that_is_silently_dead_is_noticed_by_listeners() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let mut listener = store.listen(&Key::new(["topic"])).await.unwrap();
    proxied.proxy.set(ConnectionFault::DropReplies);
    // Nothing arrives, and no connection is closed. The store asks for a sign of life, and gives up
    // the connection; a new one cannot be made until replies arrive again.
    let begin = Instant::now();
    while count_of_listeners(&proxied.server) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "the connection is given up");
        tokio::task::yield_now().await;
    }
    proxied.proxy.set(ConnectionFault::None);
    assert_eq!(next(&mut listener).await, "");
}

#[tokio::test]
async fn a_listener_goes_on_after_another_one_met_a_dead_connection() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let publisher = Redis::connect(&proxied.server.url()).await.unwrap();
    let (topic, other) = (Key::new(["topic", "a"]), Key::new(["topic", "b"]));
    let mut listener = store.listen(&topic).await.unwrap();
    for round in 0..3 {
        proxied.proxy.set(ConnectionFault::HalfOpen);
        assert!(store.listen(&other).await.is_err(), "its subscription gets no answer");
        proxied.proxy.set(ConnectionFault::None);
        assert_eq!(next(&mut listener).await, "", "messages may be missing");
        let message = Bytes::from(round.to_string());
        publisher.publish(&topic, message.clone()).await.unwrap();
        assert_eq!(next(&mut listener).await, message, "the new connection has the topic");
    }
}

#[tokio::test]
async fn callers_that_give_up_leave_one_attempt_to_connect() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let before = connections_received(&proxied.server);
    proxied.proxy.set(ConnectionFault::Hang);
    let topic = Key::new(["topic"]);
    for _ in 0..8 {
        let listening = store.listen(&topic);
        tokio::select! {
            biased;
            _ = listening => panic!("nothing can be reached"),
            () = yield_often() => {}
        }
    }
    proxied.proxy.set(ConnectionFault::None);
    drop(store.listen(&topic).await.unwrap());
    // One that asks the server, one that listens, and one if the first attempt took too long.
    assert!(connections_received(&proxied.server) - before <= 3);
}

async fn yield_often() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn connections_received(server: &RedisServer) -> u64 {
    let stats = server.ask(&["INFO", "stats"]);
    let count = stats.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    count.unwrap().parse().unwrap()
}

#[tokio::test]
async fn operations_without_a_reply_close_their_connection() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    assert_eq!(count_of_clients(&proxied.server), 1);
    proxied.proxy.set(ConnectionFault::DropReplies);
    // So many that they are sent together.
    let gets: Vec<_> = (0..8).map(|number| get(&store, number)).collect();
    for get in gets {
        assert!(get.await.unwrap().is_err(), "there is no reply");
    }
    let begin = Instant::now();
    while count_of_clients(&proxied.server) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "the connection is closed");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn operations_that_fail_with_one_connection_are_one_failure() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    proxied.proxy.set(ConnectionFault::HalfOpen);
    let mut deletions = JoinSet::new();
    for number in 0..50 {
        let (store, key) = (store.clone(), Key::new(["key", &number.to_string()]));
        deletions.spawn(async move { store.delete(&key).await });
    }
    assert!(deletions.join_all().await.iter().all(Result::is_err), "the connection is dead");
    let found = store.get(&Key::new(["key"])).await;
    assert!(matches!(found, Ok(None)), "the next connection works: {found:?}");
}

#[tokio::test]
async fn topics_without_listeners_are_given_up_together() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    let topic = |number: usize| Key::new(["topic", &number.to_string()]);
    let mut listeners = Vec::new();
    for number in 0..200 {
        listeners.push(store.listen(&topic(number)).await.unwrap());
    }
    let reads = || {
        let stats = server.ask(&["INFO", "stats"]);
        let count = stats.lines().find_map(|line| line.strip_prefix("total_reads_processed:"));
        count.unwrap().parse::<u64>().unwrap()
    };
    let before = reads();
    drop(listeners);
    let (begin, mut asked) = (Instant::now(), 0);
    while count_of_listeners(&server) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(10), "no topic is left");
        asked += 1;
        tokio::task::yield_now().await;
    }
    let reads = reads() - before - asked;
    assert!(reads < 50, "{reads} reads for 200 topics");
}

fn get(store: &Redis, number: u32) -> JoinHandle<Result<Option<Entry>, Error>> {
    let (store, key) = (store.clone(), Key::new(["key", &number.to_string()]));
    tokio::spawn(async move { store.get(&key).await })
}

/// The clients of the server, without the one that asks.
fn count_of_clients(server: &RedisServer) -> usize {
    server.ask(&["CLIENT", "LIST", "TYPE", "normal"]).matches("id=").count() - 1
}

/// The clients of the server that have subscribed.
fn count_of_listeners(server: &RedisServer) -> usize {
    server.ask(&["CLIENT", "LIST", "TYPE", "pubsub"]).matches("id=").count()
}

#[tokio::test]
async fn streams_end_with_the_last_handle() {
    let server = RedisServer::start();
    let store = Redis::connect(&server.url()).await.unwrap();
    let mut listener = store.listen(&Key::new(["topic"])).await.unwrap();
    let clone = store.clone();
    drop(store);
    clone.publish(&Key::new(["topic"]), "1".into()).await.unwrap();
    assert_eq!(next(&mut listener).await, "1");
    drop(clone);
    let end = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
    assert_eq!(end, None);
}

async fn next(listener: &mut BoxStream<'static, Bytes>) -> Bytes {
    let next = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx));
    let next = tokio::time::timeout(Duration::from_secs(10), next).await;
    next.expect("a message arrives").expect("the topic goes on")
}
