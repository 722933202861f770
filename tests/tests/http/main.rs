//! The HTTP server at its socket: admission, both eras, resumption, limits, and its stop; and
//! the HTTP client over TLS and through proxies.

mod admission;
mod auth;
mod browser;
mod caller;
mod connections;
mod cors;
mod crowd;
mod disconnect;
mod drain;
mod extensions;
mod faulty_store;
mod gate;
mod http2;
mod leaks;
mod limits;
mod mirror;
mod modern;
mod nginx;
mod owners;
mod page;
mod proxies;
#[allow(dead_code, reason = "these tests need little of it")]
#[path = "../../../crates/store-redis/tests/redis/redis_server.rs"]
mod redis_server;
mod replicas;
mod restart;
mod resume;
mod sessions;
mod shared;
mod slow;
mod smuggling;
mod sse2024_and_stateless;
mod stop;
mod storm;
mod subscriptions;
mod task_crashes;
mod tasks;
mod test_server;
mod tls;
mod unread_streams;
mod wire;
