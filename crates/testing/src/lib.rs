//! Test tools for servers and clients of the Model Context Protocol.
//!
//! To test your own server, begin with [`Harness`] and `#[bowline::test]`: the test calls the server
//! through a real client, in both eras and over each transport. To test exact messages, use
//! [`transcript`] or [`StrictPeer`]. To test a login, use [`oauth`]; a store backend, [`backend`].
//!
//! Time is virtual wherever no other process takes part, so tests do not sleep and do not depend on how
//! busy the machine is. Bowline's own tests use this crate. The modules, in reading order:
//!
//! * [`harness`] runs a test once for each era and transport: `#[bowline::test]`.
//! * [`transcript`] plays files that list the messages of client and server, and compares.
//! * [`ServerUnderTest`] is the server that a transcript is played against.
//! * [`StrictPeer`] is a client or server that fails on every message it does not expect.
//! * [`schema`] checks messages against the official JSON Schemas (feature `schemas`).
//! * [`oauth`] is an authorization server that can make mistakes (feature `oauth`).
//! * [`backend`] tests a store backend of your own.
//! * [`proxy`] breaks connections between a program and a database.
//! * [`pair`] joins a sans-IO client and a sans-IO server in memory, to set up races by hand.
//! * `outgoing_queue` holds the messages of running calls, for [`pair`] and [`transcript`].
//! * [`clock`] controls virtual time.

pub mod backend;
pub mod clock;
pub mod harness;
#[cfg(feature = "oauth")]
pub mod oauth;
mod outgoing_queue;
pub mod pair;
pub mod proxy;
#[cfg(feature = "schemas")]
pub mod schema;
mod server_under_test;
mod strict_peer;
pub mod transcript;

pub use harness::{Case, Harness, TransportKind, run};
pub use server_under_test::ServerUnderTest;
pub use strict_peer::StrictPeer;
