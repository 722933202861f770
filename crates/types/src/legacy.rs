//! What 2026-07-28 removed: the handshake, `ping`, `logging/setLevel`, `resources/subscribe`, and
//! the experimental tasks of the core protocol.

pub mod initialize;
pub mod ping;
pub mod set_level;
pub mod subscribe;
pub mod task;
