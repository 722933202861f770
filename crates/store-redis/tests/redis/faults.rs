//! The database is out of reach, and replies are lost.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_store::backend::{
    Backend, BoxFuture, BoxStream, Expect, Key, NewItem, Position, Written,
};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest, Outage};
use bowline_testing::proxy::{ConnectionFault, Proxy};
use bytes::Bytes;

use crate::redis_server::RedisServer;

const LONG: Duration = Duration::from_secs(60);

/// A server behind a proxy.
struct Proxied {
    server: RedisServer,
    proxy: Proxy,
    fault: ConnectionFault,
}

impl Proxied {
    async fn start(fault: ConnectionFault) -> Self {
        let server = RedisServer::start();
        let proxy = Proxy::start(server.address()).await.unwrap();
        Self { server, proxy, fault }
    }

    async fn connect(&self) -> Redis {
        Redis::connect(&format!("redis://{}", self.proxy.address())).await.unwrap()
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

// An operation that finds the connection dead gives it up, so the sign of life that the store asks for
// may already come over the next one, on which only the newest topic is subscribed.
#[tokio::test]
async fn listeners_are_restored_also_if_another_subscription_found_the_connection_dead() {
    let proxied = Proxied::start(ConnectionFault::None).await;
    let store = proxied.connect().await;
    let mut listener = store.listen(&Key::new(["topic", "a"])).await.unwrap();
    proxied.proxy.set(ConnectionFault::HalfOpen);
    let other = Key::new(["topic", "b"]);
    assert!(store.listen(&other).await.is_err(), "no confirmation arrives");
    let begin = Instant::now();
    let _other = loop {
        match store.listen(&other).await {
            Ok(other) => break other,
            Err(_) => tokio::task::yield_now().await,
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "a new connection works");
    };
    assert_eq!(next(&mut listener).await, "", "it is subscribed again");
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
