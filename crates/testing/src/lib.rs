//! A test kit for servers and clients of the Model Context Protocol.
//!
//! Bowline is tested with it. In reading order:
//!
//! * [`harness`] runs a test once for each era and transport: `#[bowline::test]`.
//! * [`transcript`] plays files that say who says what on the wire.
//! * [`Strict`] is a client that takes nothing that it did not expect.
//! * [`schema`] lets the official JSON Schemas judge what was said (feature `schemas`).
//! * [`pair`] joins the machines of both sides in memory, to set up races by hand.
//! * [`clock`] tells virtual time.

pub mod clock;
pub mod harness;
mod mailbox;
pub mod pair;
#[cfg(feature = "schemas")]
pub mod schema;
mod strict;
mod subject;
pub mod transcript;

pub use harness::{Carrier, Case, Harness, run};
pub use strict::Strict;
pub use subject::Subject;
