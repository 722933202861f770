//! The vocabulary that ended with 2025-11-25: handshake, ping, level setting, resource
//! subscriptions by request, and the experimental tasks of the core protocol.

pub mod initialize;
pub mod ping;
pub mod set_level;
pub mod subscribe;
pub mod task;
