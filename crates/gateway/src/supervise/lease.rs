//! What a call holds while it uses a connection, so that the connection does not count as idle.

use std::sync::Weak;

use bowline_client::{Client, Relay};
use bowline_proto::sync::lock;
use tokio::time::Instant;

use super::{Inner, Phase};
use crate::met::MetServer;

/// The use of a connection by one call.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) client: Client,
    pub(super) relay: Relay,
    pub(super) generation: u64,
    /// Where it is counted; `None` if it does not keep the server from being stopped.
    pub(super) returns: Option<Weak<Inner>>,
}

impl Lease {
    pub(crate) fn relay(&self) -> Relay {
        self.relay.clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub(crate) fn met(&self) -> MetServer {
        MetServer::of(&self.client)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(inner) = self.returns.as_ref().and_then(Weak::upgrade) else { return };
        let mut state = lock(&inner.state);
        if state.generation != self.generation {
            return;
        }
        let Phase::Running(running) = &mut state.phase else { return };
        running.leases -= 1;
        if running.leases == 0 {
            running.idle_since = Instant::now();
            drop(state);
            inner.released.notify_waiters();
        }
    }
}
