//! How long a server may be silent before the client pings it.

use std::time::{Duration, Instant};

/// How long a server may be silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// Silence before the client sends a ping.
    pub(super) interval: Duration,
    /// Silence after the ping before the connection counts as failed.
    pub(super) timeout: Duration,
    /// The same while a call runs: the server may be busy with it. Never shorter.
    pub(super) during_calls: Duration,
}

/// When the server was last heard, and whether a ping is under way.
#[derive(Debug)]
pub(super) struct KeepAliveState {
    pub(super) heard: Instant,
    /// The id of the ping that awaits its answer.
    pub(super) ping: Option<i64>,
}
