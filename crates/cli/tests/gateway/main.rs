//! A real gateway over HTTP, with real processes and servers behind it: how many processes there
//! are, what becomes of them when clients disconnect and when a server or the gateway is killed, and
//! what callers see of questions, faults and secrets. And several gateways with one store.
//!
//! The gateway and most servers run the real command. Processes are found by a mark in their
//! environment, which whatever they start inherits.

#![cfg(target_os = "linux")]

mod disconnects;
mod faults;
mod headers;
mod host;
#[path = "../kernel/mod.rs"]
mod kernel;
mod kills;
mod nonces;
mod proxy;
#[allow(dead_code, reason = "these tests need little of it")]
#[path = "../../../store-redis/tests/redis/redis_server.rs"]
mod redis_server;
mod replicas;
mod sandbox;
mod secrets;
mod sharing;
mod support;
#[path = "../user/mod.rs"]
mod user;
