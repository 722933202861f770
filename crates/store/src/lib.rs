//! Storage for what must outlive a request, such as the events of a stream that a client resumes.
//!
//! [`Backend`] is the trait for databases, with [`MemoryBackend`] as the default; other crates have
//! backends for SQLite and Redis. [`events`] and [`tasks`] are built on the trait, so they work with
//! every backend. A new backend runs [`suite`] in its tests.
//!
//! * [`backend`]: the one trait that a database implements: values that expire, logs, topics.
//! * [`inbox`]: the messages that wait for one listener of a topic.
//! * [`memory`]: the default backend, in this process, with a limit in bytes.
//! * [`events`]: the log of a stream's events, for clients that resume the stream.
//! * [`tasks`]: the records of calls that go on after their first answer.
//! * [`lease`]: how processes that share a store detect that one of them has stopped.
//! * [`suite`]: tests that every backend must pass.
//! * [`outages`]: notes when a backend failed, and keeps the reason from clients.
//! * [`wrapper`]: a backend around another one, for tests, measurements and `outages`.

pub mod backend;
pub mod events;
pub mod inbox;
pub mod lease;
pub mod memory;
pub mod outages;
pub mod suite;
pub mod tasks;
pub mod wrapper;

pub use self::backend::{Backend, BoxFuture, Error, Key};
pub use self::memory::MemoryBackend;
