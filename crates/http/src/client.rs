//! The client side: a transport that speaks HTTP, to servers of every revision.
//!
//! In reading order:
//!
//! * [`transport`](HttpTransport) — messages to exchanges, and back;
//! * [`limits`](HttpClientLimits) — every bound;
//! * `exchange` — one POST: answered as JSON or as a stream, cancelled by being dropped;
//! * `shared` — what exchanges share: the address, the session, how requests are sent;
//! * `reply` — what a server answers before the body;
//! * `events`, `peek` — streams of events, and what a message is for;
//! * `legacy/` — sessions: resumption, the server's own stream, the transport of 2024-11-05;
//! * `failure` — every way to come to nothing, in a sentence;
//! * `address`, `fetch`, `connector` — where to, by whom, and the default for it.

mod address;
mod connector;
mod events;
mod exchange;
mod failure;
mod fetch;
mod legacy;
mod limits;
mod peek;
mod reply;
mod shared;
mod transport;

pub use self::address::InvalidUrl;
pub use self::fetch::{Body, BoxError};
pub use self::limits::HttpClientLimits;
pub use self::transport::{HttpReader, HttpTransport, HttpWriter};
