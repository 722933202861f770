//! Tokio drivers and channel transports for the Model Context Protocol.
//!
//! | module | what it carries the protocol over |
//! |---|---|
//! | [`stdio`] | this process's standard input and output: how most servers are started |
//! | [`child`] | a server that a client starts (feature `child`) |
//! | [`socket`] | a Unix domain socket |
//! | [`duplex`] | memory, for tests and for servers in the same process |
//! | [`lines`] | any two streams of bytes |
//! | [`tap`] | another transport, showing all that passes |
//!
//! All of them are a [`Transport`](transport::Transport), which you can implement yourself.

pub mod transport;

pub mod serve;

pub mod connect;

mod calls;

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

pub use calls::BoxFuture;
