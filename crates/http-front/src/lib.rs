//! An HTTP server for any tower service.
#![doc = include_str!("../README.md")]

// What a program uses, in the order of its use.
mod config;
mod listener;
mod server;

// What a service gets and gives: its trait, the bodies of requests and of answers.
mod answer;
mod arriving_body;
mod service;

// Connections: each one, all of them, and how many there may be.
mod address;
mod capacity;
mod connection;
mod connection_use;
mod connections;

// The wire below a connection: TCP, HTTP/1 and HTTP/2, and whether the client reads.
#[cfg(feature = "http2")]
mod flow;
mod protocol;
mod read_pace;
mod socket;
mod sync;
mod tcp;

pub use arriving_body::ArrivingBody;
pub use config::{FrontConfig, FrontLimits};
pub use listener::{BindError, FrontListener};
pub use server::{ClosedServer, FrontServer};
pub use service::ConnectionService;
