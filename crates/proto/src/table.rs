//! The tables that hold the whole JSON-RPC state of a connection.

pub mod exchanges;
pub mod hash;
pub mod outgoing;
