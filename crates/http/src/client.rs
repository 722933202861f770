//! The client side: a transport over HTTP to servers of every revision.
//!
//! In reading order:
//!
//! * [`transport`](HttpTransport) — turns each message into an HTTP exchange;
//! * [`limits`](HttpClientLimits) — every bound;
//! * `exchange` — one POST: its answer is JSON or an event stream, dropping it cancels;
//! * `shared` — what all exchanges share: the address, the session, how requests are sent;
//! * [`authorize`](Authorize) — where credentials come from, and what a refusal means;
//! * `reply` — the head of an HTTP response;
//! * `events`, `peek` — event streams, and which message is the awaited answer;
//! * `legacy/` — sessions: resumption, the GET stream, the HTTP+SSE transport of 2024-11-05;
//! * `failure` — every kind of failure, as a sentence; `connect_failure` — why a server cannot be
//!   reached;
//! * `redirect` — receives the answer of an authorization server (feature `auth-client`);
//! * [`guarded`](GuardedFetcher) — requests to authorization servers, at permitted addresses only
//!   (feature `auth-fetch`);
//! * [`raw`](RawHttp) — single requests as they are, for tools that look from outside;
//! * `address`, `fetch`, `connector` — URLs, the HTTP client behind a trait, and the default one.
//!
//! A call goes top-down: the driver of a connection hands a message to [`HttpWriter`]; a task runs
//! a `ClientExchange` for it; that sends the request through `Shared` and `Fetch`, reads the reply,
//! and delivers messages to the queue of [`HttpReader`], where the driver finds them. So to the
//! state machine of the client, HTTP looks like any other channel, except that single messages may
//! fail.

mod address;
mod authorize;
mod connect_failure;
mod connector;
mod events;
mod exchange;
mod failure;
mod fetch;
#[cfg(feature = "auth-fetch")]
mod guarded;
mod legacy;
mod limits;
mod peek;
mod raw;
#[cfg(feature = "auth-client")]
mod redirect;
mod reply;
mod secrets;
mod shared;
mod transport;

pub use self::address::{Address, InvalidAddress};
pub use self::authorize::{Authorize, AuthorizeMessage, MessageOperation, RefusalVerdict};
pub use self::connect_failure::connect_failure;
pub use self::fetch::{BoxError, RequestBody};
#[cfg(feature = "auth-fetch")]
pub use self::guarded::GuardedFetcher;
pub use self::limits::HttpClientLimits;
pub use self::raw::{RawAnswer, RawHttp};
#[cfg(feature = "auth-client")]
pub use self::redirect::LoopbackVisitor;
pub use self::transport::{HttpReader, HttpTransport, HttpWriter};
