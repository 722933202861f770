//! Tokio drivers and transports for the Model Context Protocol.
//!
//! [`serve`] drives a server and [`connect`] drives a client, both over any
//! [`Transport`](transport::Transport), which you can implement yourself. These transports exist
//! here; `bowline-http` has the one for HTTP:
//!
//! | module | what it carries the protocol over |
//! |---|---|
//! | [`stdio`] | this process's standard input and output: how most servers are started |
//! | [`child`] | a server that a client starts (feature `child`) |
//! | [`socket`] | a Unix domain socket |
//! | [`duplex`] | memory, for tests and for servers in the same process |
//! | [`lines`] | any two byte streams |
//! | [`tap`] | another transport, and shows every message to a callback |
//!
//! # The drivers
//!
//! Both drivers follow one pattern: a loop waits for the first of several things (a message, room
//! to write, the end of a call, a timer), hands it to the sans-IO connection of `bowline-proto`,
//! and does what the connection asks for. No rule of the protocol is decided here. The drivers need
//! a Tokio runtime with I/O and time.

// In reading order: modules use those of their own group and of the groups below.

// The drivers: serve one client, connect to a server.
pub mod connect;
pub mod serve;

// What the drivers use: the calls that run, the queue of what handlers send, tasks, the time.
mod calls;
mod clock;
pub mod mailbox;
pub mod task;

// The transports of the table above.
#[cfg(feature = "child")]
pub mod child;
pub mod duplex;
pub mod lines;
#[cfg(unix)]
pub mod socket;
pub mod stdio;
pub mod tap;

// The traits of a channel, a reader and a writer of whole messages, and their errors.
pub mod error;
pub mod transport;

/// A boxed future that can be sent to a task.
pub type BoxFuture<T> = futures_core::future::BoxFuture<'static, T>;

/// Any error that can be sent to another thread: what a service or an HTTP client of a program fails
/// with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
