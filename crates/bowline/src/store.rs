//! Where sessions over HTTP and the events of their streams are kept: [`Http::store`].
//!
//! [`MemoryBackend`] is the default. `SqliteBackend` (feature `sqlite`) keeps them in a file, so that
//! they survive a restart. `Redis` (feature `redis`) keeps them in Redis or Valkey, which many servers on
//! many machines share. A database of your own implements [`Backend`]; the module `backend` of the
//! crate `bowline-testing` tests it.
//!
//! [`Http::store`]: crate::http::Http::store

#[doc(inline)]
pub use bowline_store::{Backend, MemoryBackend, backend, memory};
#[cfg(feature = "redis")]
#[doc(inline)]
pub use bowline_store_redis::{Redis, RedisDurability, RedisLimits, RedisOptions};
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use bowline_store_sqlite::{SqliteBackend, SqliteLimits};
