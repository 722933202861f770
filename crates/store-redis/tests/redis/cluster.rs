//! A cluster of three servers.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_store::backend::{Backend, BoxFuture, Expect, Key, NewItem, Position, Written};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest};
use bowline_testing::proxy::{ConnectionFault, Proxy};

use crate::redis_server::RedisServer;

const LONG: Duration = Duration::from_secs(60);

struct Cluster([RedisServer; 3]);

impl Cluster {
    fn start() -> Self {
        let node = || {
            RedisServer::start_with(&[
                "--cluster-enabled",
                "yes",
                "--cluster-node-timeout",
                "2000",
                "--save",
                "",
            ])
        };
        let nodes = [node(), node(), node()];
        let made = Command::new("redis-cli")
            .args(["--cluster", "create"])
            .args(nodes.iter().map(|node| node.address().to_string()))
            .arg("--cluster-yes")
            .output()
            .expect("redis-cli starts; tests/peers/install.sh installs it");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        for node in &nodes {
            let begin = Instant::now();
            while !node.ask(&["CLUSTER", "INFO"]).contains("cluster_state:ok") {
                assert!(begin.elapsed() < Duration::from_secs(10), "the cluster is ready");
                std::thread::yield_now();
            }
        }
        Self(nodes)
    }

    /// The node that has a key, and another one.
    fn owner(&self, name: &str) -> (&RedisServer, &RedisServer) {
        let has = |node: &&RedisServer| !node.ask(&["EXISTS", name]).starts_with("-MOVED");
        let owner = self.0.iter().find(has).expect("a node has the key");
        let other = self.0.iter().find(|node| node.port() != owner.port()).expect("three nodes");
        (owner, other)
    }
}

impl BackendUnderTest for Cluster {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        Box::pin(async move {
            let store = Redis::options(&self.0[1].url()).prefix(store).connect().await.unwrap();
            Arc::new(store) as Arc<dyn Backend>
        })
    }

    /// The single server runs more.
    fn histories(&self) -> u64 {
        25
    }
}

/// One test, because starting a cluster takes seconds.
#[tokio::test]
async fn a_cluster_passes() {
    let cluster = Cluster::start();
    backend::values(&cluster).await;
    backend::histories(&cluster).await;
    backend::logs(&cluster).await;
    backend::listeners(&cluster).await;
    keys_are_spread_and_found(&cluster).await;
    a_host_that_never_answers_is_passed_over(&cluster).await;
    a_slot_may_move(&cluster).await;
    // The last: it ends a node.
    operations_end_when_a_node_has_ended(cluster).await;
}

async fn keys_are_spread_and_found(cluster: &Cluster) {
    let store = cluster.open("spread").await;
    let key = |number: u32| Key::new(["session", &format!("{number:02}")]);
    for number in 0..30 {
        store.put(&key(number), "x".into(), LONG, Expect::Absent).await.unwrap();
    }
    let found = store.scan(&Key::new(["session", ""]), None, 100).await.unwrap();
    assert_eq!(found, (0..30).map(key).collect::<Vec<_>>(), "all nodes are asked");
    for node in &cluster.0 {
        let count: u32 = node.ask(&["DBSIZE"]).trim_start_matches(':').parse().unwrap();
        assert!(count > 0, "every node has some");
    }
}

async fn a_host_that_never_answers_is_passed_over(cluster: &Cluster) {
    let proxy = Proxy::start(cluster.0[0].address()).await.unwrap();
    proxy.set(ConnectionFault::Hang);
    let url = format!("redis://{},{}", proxy.address(), cluster.0[1].address());
    let store = Redis::connect(&url).await.unwrap();
    store.put(&Key::new(["key"]), "x".into(), LONG, Expect::Anything).await.unwrap();
}

async fn a_slot_may_move(cluster: &Cluster) {
    let store = cluster.open("moving").await;
    let (log, topic) = (Key::new(["events", "abc", "1"]), Key::new(["news", "abc", "1"]));
    let mut listener = store.listen(&topic).await.unwrap();
    let name = "moving:l:events/{abc}/1";
    let (from, to) = cluster.owner(name);
    let slot = from.ask(&["CLUSTER", "KEYSLOT", name]).trim_start_matches(':').to_owned();
    let (from_id, to_id) = (from.ask(&["CLUSTER", "MYID"]), to.ask(&["CLUSTER", "MYID"]));
    assert_eq!(to.ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]), "+OK");
    assert_eq!(from.ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]), "+OK");
    // New keys of the slot are made at its new node.
    let put = store.put(&Key::new(["session", "abc"]), "x".into(), LONG, Expect::Absent).await;
    assert!(matches!(put, Ok(Written::Yes(_))), "{put:?}");
    let appended = store.append(&log, NewItem::new("1", LONG)).await.unwrap();
    assert_eq!(appended.position(), Some(Position(1)));
    for node in [to, from] {
        assert_eq!(node.ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]), "+OK");
    }
    let item = NewItem::new("2", LONG).tell(topic.clone(), "news");
    assert_eq!(store.append(&log, item).await.unwrap().position(), Some(Position(2)));
    // The move ended the subscription; the listener may have got only the sign to read again.
    let message = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
    assert!(message.is_some_and(|message| message == "news" || message.is_empty()));
    loop {
        store.publish(&topic, "after".into()).await.unwrap();
        let next = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx)).await;
        if next.is_some_and(|message| message == "after") {
            return;
        }
    }
}

async fn operations_end_when_a_node_has_ended(mut cluster: Cluster) {
    let store = cluster.open("ended").await;
    cluster.0[2].kill();
    let begin = Instant::now();
    let keys: Vec<_> = (0..20).map(|number| Key::new(["key", &number.to_string()])).collect();
    let mut failed = 0;
    for key in &keys {
        let each = Instant::now();
        failed += u32::from(store.get(key).await.is_err());
        assert!(each.elapsed() < Duration::from_secs(1), "every operation ends");
    }
    assert!(failed > 0, "the keys of the node are gone");
    assert!(begin.elapsed() < Duration::from_secs(10));
}
