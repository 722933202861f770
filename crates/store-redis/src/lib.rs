//! A [`Backend`](bowline_store::Backend) in Redis (7 or later) or Valkey: many servers on many
//! machines share sessions and events.
//!
//! One server or a Redis Cluster, with or without TLS. [`Redis::connect`] detects which.
//!
//! * `backend`: [`Redis`], the handle that a server gets.
//! * `options`: [`RedisOptions`], where the database is and what is expected of it.
//! * `scripts`: the Lua scripts, for operations that compare before they write.
//! * `listeners`: the listeners of topics, and the task that subscribes again after an outage.
//! * `link`: a connection that is made again when it is lost, within a time.
//! * `pushes`: the push messages of the database on one connection.
//! * `batch`: sends the commands of many operations together.
//! * `confirmation`: what confirms writes, replicas or the disk.
//! * `renewals`: which values were renewed recently.
//! * `server`: how a connection is made, and what is required of the database.
//! * `breaker`: pauses between attempts to reach a database that does not answer.
//! * `keys`: the names of values, logs and topics in the database.
//! * `failure`: errors that say what failed, where and what to do.

mod backend;
mod batch;
mod breaker;
mod confirmation;
mod failure;
mod keys;
mod link;
mod listeners;
mod options;
mod pushes;
mod renewals;
mod scripts;
mod server;

pub use self::backend::Redis;
pub use self::options::{RedisDurability, RedisLimits, RedisOptions};
