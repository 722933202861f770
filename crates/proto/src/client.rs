//! The client's side of a connection, the mirror of [`crate::server`].
//!
//! [`ClientConnection`] finds out which revision the server speaks, sends calls, passes on the
//! questions of the server in either era, and tells late answers from unknown ones.
//!
//! Reading order: [`ClientConfig`]; [`Delivery`], what it takes; `negotiate`, first contact as pure functions; `connection` with
//! `calls` (from the start of a call to its end) and `receive` (messages of the server); then what
//! only some connections need: `rounds` and `ask` (questions), `legacy` (requests of a server),
//! `session_subscriptions`, `cache`, `keep_alive`, and `connection/restart` and `failed`, for
//! servers and messages that get lost.

mod ask;
mod cache;
mod call;
mod config;
mod connection;
mod delivery;
mod elicitations;
mod keep_alive;
mod legacy;
mod negotiate;
mod rounds;
mod session_subscriptions;

pub use ask::AskId;
pub use cache::CacheOptions;
pub use call::{Asker, CallAnswer, CallError, CallRequest, OnBehalf};
pub use config::ClientConfig;
pub use connection::{ClientConnection, ClientEvent};
pub use delivery::{Delivery, Report};
pub use legacy::TaskRequest;
pub use negotiate::{NegotiationError, ServerProfile};
