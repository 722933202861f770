//! What must outlive a request, and where it is kept.
//!
//! * [`backend`] — the one trait that a database implements: values that expire, logs, topics;
//! * [`memory`] — the default: this process, within a budget of bytes;
//! * [`events`] — what streams have said, to be said again to clients that come back;
//! * [`suite`] — what every backend must do, to be called in its tests.

pub mod backend;
pub mod events;
pub mod memory;
pub mod suite;

pub use self::backend::{Backend, BoxFuture, Error, Key};
pub use self::memory::Memory;
