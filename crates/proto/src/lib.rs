//! The Model Context Protocol as a machine: no I/O, no clock, no randomness.
pub mod codec;
pub mod frame;
pub mod limits;
pub mod members;
pub mod request;
pub mod transmit;
pub mod wire;
pub mod classify;
pub mod server;
pub mod table;
pub mod client;
