//! The tables that are the whole JSON-RPC state of a connection, and their clock.

pub mod exchanges;
pub mod hash;
pub mod outgoing;
