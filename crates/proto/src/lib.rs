//! The Model Context Protocol as a machine: no I/O, no clock, no randomness.
pub mod classify;
pub mod client;
pub mod codec;
pub mod frame;
pub mod limits;
pub mod members;
pub mod request;
pub mod server;
pub mod table;
pub mod transmit;
pub mod wire;
