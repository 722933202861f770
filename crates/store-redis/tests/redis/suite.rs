//! Redis passes the suite of backends.

use std::sync::Arc;

use bowline_store::backend::{Backend, BoxFuture};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest};

use crate::redis_server::RedisServer;

/// A server on which each store has a prefix of its own.
struct Single(RedisServer);

impl Single {
    fn new() -> Self {
        Self(RedisServer::start())
    }
}

impl BackendUnderTest for Single {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        Box::pin(async move {
            let store = Redis::options(&self.0.url()).prefix(store).connect().await.unwrap();
            Arc::new(store) as Arc<dyn Backend>
        })
    }
}

#[tokio::test]
async fn values_in_redis_pass() {
    backend::values(&Single::new()).await;
}

#[tokio::test]
async fn comparing_and_setting_in_redis_passes() {
    backend::compare_and_set(&Single::new()).await;
}

#[tokio::test]
async fn histories_of_redis_pass() {
    backend::histories(&Single::new()).await;
}

#[tokio::test]
async fn logs_in_redis_pass() {
    backend::logs(&Single::new()).await;
}

#[tokio::test]
async fn listeners_of_redis_pass() {
    backend::listeners(&Single::new()).await;
}
