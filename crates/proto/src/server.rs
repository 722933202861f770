//! The server's side of a connection.
//!
//! [`ServerConnection`] is a channel with many calls. [`Exchange`] is one call; modern HTTP uses it
//! alone, because there every request has a stream of its own.

mod batch;
mod config;
mod connection;
mod exchange;
mod legacy;
mod snapshot;

pub use config::ServerConfig;
pub use connection::{ServerConnection, ServerEvent};
pub use exchange::{CallOrigin, Exchange};
pub use snapshot::SessionSnapshot;
