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
//! In reading order:
//!
//! * [`limits`] — every bound on what a peer may make this side hold, count or wait for;
//! * [`codec`] — bytes of a channel to pieces of text, one per message;
//! * [`frame`] — text to JSON-RPC messages, strictly;
//! * `scan` — one pass over JSON text that finds its members, for [`frame`] and [`members`];
//! * [`members`] — objects cut into members whose values stay text;
//! * [`classify`] — which era is this request?
//! * [`admission`] — may it be served? Every rule that lets a request in;
//! * [`request`] — the waist: what every transport brings and every service answers;
//! * [`upstream`] — a service that says what it offers, to be put behind another;
//! * [`wire`] — the rules of the two eras, and results fitted to older revisions;
//! * [`table`] — requests that await an answer, and calls by their numbers;
//! * [`mirror`] — the headers in which HTTP repeats parts of a message;
//! * [`pace`] — how often something may happen per minute;
//! * [`callers`] — for which caller it is counted;
//! * [`rate_share`] — how much of it one of several processes grants;
//! * [`transmit`] — messages to write, and the stream that each belongs to;
//! * [`secrets`] — the credentials of a client, taken out of the errors of its server;
//! * [`server`], [`client`] — the two sides of a connection;
//! * [`sync`] — locks and polls that survive panics, for the crates above.

pub mod admission;
pub mod callers;
pub mod classify;
pub mod client;
pub mod codec;
pub mod frame;
pub mod limits;
pub mod members;
pub mod mirror;
pub mod pace;
pub mod rate_share;
pub mod request;
mod scan;
pub mod secrets;
pub mod server;
pub mod sync;
pub mod table;
pub mod transmit;
pub mod upstream;
pub mod wire;
