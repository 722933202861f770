//! The Model Context Protocol as a machine: no I/O, no clock, no randomness.
//!
//! Time and bytes arrive as arguments; the caller then takes out what to do and what to write. So
//! plain function calls test the rules of the protocol, and any runtime can drive them.
//!
//! ```text
//!   bytes ─► codec ─► frame ─► classify ─► admission ─► Request ─► a service
//!                                                                        │ Outbox: progress, logs, questions
//!   bytes ◄───────── Transmit ◄─ wire (splice, stamp) ◄─ project ◄─ Response
//! ```
//!
//! A driver of a connection works in a loop. It hands in what arrived (`receive`), what handlers
//! sent (`emit`, `complete`) or that time has passed (`handle_timeout`). It takes `poll_event` and
//! `poll_transmit` until both give nothing. Then it waits for the next of the three, at most until
//! `poll_timeout`. `bowline-transport` has such drivers for Tokio.
//!
//! The modules form layers, listed from the lowest to the highest: a module uses those of its own
//! layer and of the layers listed above it.

// Locks and polls that survive panics; used by every layer, and by the crates above.
pub mod sync;

// Text: JSON that is cut and joined without being decoded.
pub mod members;
pub mod one_line;
mod splice;

// Bounds, and the counts that are held against them.
pub mod limits;
pub mod pace;
pub mod rate_share;

// Messages: text to JSON-RPC, and what of it HTTP repeats in headers.
pub mod frame;
pub mod mirror;

// The waist: what every transport brings and every service answers, fitted to older revisions.
pub mod callers;
pub mod project;
pub mod request;
pub mod upstream;

// Channels: pieces of text in, messages out, and the credentials that must not go out.
pub mod codec;
pub mod secrets;
pub mod transmit;

// Admission: the era of a request, its envelope, and every rule that lets it in.
pub mod admission;
pub mod classify;
pub mod wire;

// The two sides of a connection, with their tables of what awaits an answer.
pub mod client;
pub mod server;
pub mod table;
