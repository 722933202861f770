//! Where sessions over HTTP and the events of their streams are kept: [`Http::store`].
//!
//! [`MemoryBackend`] is the default. `SqliteBackend` (feature `sqlite`) keeps them in a file, so that
//! they survive a restart. `Redis` (feature `redis`) keeps them in Redis or Valkey, which servers on
//! several machines share. To use another database, implement [`Backend`], and test it with the module
//! `backend` of the crate `bowline-testing`.
//!
//! [`Http::store`]: crate::http::Http::store

#[doc(inline)]
pub use bowline_store::{Backend, MemoryBackend, backend, memory::MemoryLimits};
#[cfg(feature = "redis")]
#[doc(inline)]
pub use bowline_store_redis::{Redis, RedisDurability, RedisLimits, RedisOptions};
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use bowline_store_sqlite::{SqliteBackend, SqliteLimits};
