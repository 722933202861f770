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

pub mod transport;

pub mod serve;

pub mod connect;

mod calls;

mod clock;

pub mod task;

pub mod mailbox;

pub mod lines;

pub mod stdio;

#[cfg(feature = "child")]
pub mod child;

#[cfg(unix)]
pub mod socket;

pub mod duplex;

pub mod tap;

pub mod error;

/// A boxed future that can be sent to a task.
pub type BoxFuture<T> = futures_core::future::BoxFuture<'static, T>;
