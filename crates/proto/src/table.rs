//! The tables that are the whole JSON-RPC state of a connection, and their clock.

pub mod hash;
pub mod numbered;
pub mod outgoing;
