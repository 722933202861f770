//! Redis and Valkey pass the suite of backends.

use std::sync::Arc;

use bowline_store::backend::{Backend, BoxFuture};
use bowline_store_redis::Redis;
use bowline_testing::backend::{self, BackendUnderTest};

use crate::redis_server::{Program, RedisServer};

/// A server on which each store has a prefix of its own.
struct Single(RedisServer);

impl Single {
    fn new(program: Program) -> Self {
        Self(RedisServer::start_program(program, &["--save", "", "--appendonly", "no"]))
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

/// A test of each part that needs nothing but a server.
macro_rules! passes {
    ($program:expr) => {
        use super::*;

        #[tokio::test]
        async fn values_pass() {
            backend::values(&Single::new($program)).await;
        }

        #[tokio::test]
        async fn comparing_and_setting_passes() {
            backend::compare_and_set(&Single::new($program)).await;
        }

        #[tokio::test]
        async fn histories_pass() {
            backend::histories(&Single::new($program)).await;
        }

        #[tokio::test]
        async fn logs_pass() {
            backend::logs(&Single::new($program)).await;
        }

        #[tokio::test]
        async fn listeners_pass() {
            backend::listeners(&Single::new($program)).await;
        }
    };
}

mod redis {
    passes!(Program::Redis);
}

mod valkey {
    passes!(Program::Valkey);
}
