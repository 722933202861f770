//! The client's side of a connection, the mirror of [`crate::server`].
//!
//! [`ClientConnection`] finds out which revision the server speaks, sends calls, passes on the
//! questions of the server in either era, and tells late answers from unknown ones.

mod ask;
mod cache;
mod call;
mod config;
mod connection;
mod elicitations;
mod keep_alive;
mod legacy;
mod negotiate;
mod rounds;
mod session_subscriptions;

pub use ask::AskId;
pub use cache::CacheOptions;
pub use call::{CallAnswer, CallError, CallRequest};
pub use config::ClientConfig;
pub use connection::{ClientConnection, ClientEvent};
pub use negotiate::{NegotiationError, ServerProfile};
