//! The server's side of a connection.
//!
//! [`ServerConnection`] is a channel with many calls. [`Exchange`] is one call; modern HTTP uses it
//! alone, because there every request has a stream of its own.
//!
//! Reading order: [`ServerConfig`], the fixed facts; `exchange`, one call from request to answer;
//! `connection` with `receive` (messages of the client) and `calls` (from the start of a call to
//! its answer); `legacy`, the session of a connection with a handshake; `batch` and `snapshot`,
//! which only sessions need.

mod batch;
mod config;
mod connection;
mod exchange;
mod legacy;
mod snapshot;

pub use config::ServerConfig;
pub use connection::{ServerConnection, ServerEvent};
pub use exchange::{Attached, CallOrigin, Exchange};
pub use snapshot::{SessionChange, SessionSnapshot};
