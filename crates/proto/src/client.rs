//! The client's side of a connection, the mirror of [`crate::server`].
//!
//! [`ClientConnection`] finds out what the server speaks, sends calls, answers the questions that
//! come back in either era, and tells late answers from unknown ones.

mod cache;
mod call;
mod config;
mod connection;
mod elicitations;
mod legacy;
mod negotiate;
mod rounds;

pub use cache::CacheOptions;
pub use call::{CallAnswer, CallError, CallRequest};
pub use config::ClientConfig;
pub use connection::{AskId, ClientConnection, ClientEvent};
pub use negotiate::{NegotiationError, ServerProfile};
