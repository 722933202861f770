//! Streamable HTTP for the Model Context Protocol: a server as a tower service, a client as a
//! transport.
//!
//! * `server` — an `Endpoint` is a tower service that answers HTTP requests of all revisions on one
//!   path, with any `Service<Request>`. A `Listener` accepts connections for it. Feature `server`.
//! * `client` — an `HttpTransport` connects a client to a server of any revision. Feature `client`;
//!   `tls` for `https`.
//!
//! The two eras use HTTP differently. Since 2026-07-28 every POST is independent. Its answer is
//! JSON, or an event stream if the handler sends something before its result. A client cancels by
//! closing the connection. Up to 2025-11-25 a handshake opens a session, which spans POSTs, a GET
//! stream and resumption. A closed connection does not cancel.
//!
//! The crate knows HTTP and nothing of tools. On the server, an [`Endpoint`](server::Endpoint)
//! parses messages with `bowline-proto`, which holds the rules, and calls a service that the
//! `bowline-server` crate provides. On the client, an [`HttpTransport`](client::HttpTransport) is
//! one of the transports that the driver in `bowline-transport` reads and writes. Programs use both
//! through the `bowline` crate.
//!
//! What HTTP adds to the rules is here: which answers are streams, who may call (`Host`, `Origin`),
//! how a session is found and kept, how a client that reads slowly or not at all is bounded, and
//! what a lost connection means for a call.

#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub mod client;

/// Storage for state that outlives a request.
#[cfg(feature = "server")]
pub use bowline_store as store;
