//! Streamable HTTP for the Model Context Protocol: a server as a plain tower service, a client as a
//! transport.
//!
//! * `server` — an `Endpoint` answers HTTP requests by any service of the waist, both eras on one
//!   path; a `Listener` serves it on an accept loop of our own. Feature `server`.
//! * `client` — an `HttpTransport` carries what a client says to a server of either era. Feature
//!   `client`; `tls` for `https`.
//!
//! What one exchange is differs between the eras. From 2026-07-28 on every POST stands alone: it is
//! awaited in place and answered as JSON, or as a stream once something is said before the answer;
//! a client that hangs up cancels. Before, a handshake opens a session that POSTs, a GET stream and
//! resumption share; hanging up means nothing.

#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub mod client;

/// Where what must outlive a request is kept.
#[cfg(feature = "server")]
pub use bowline_store as store;
