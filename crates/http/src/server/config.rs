//! What may be set about an HTTP server.

use std::sync::Arc;

use bowline_store::{Backend, MemoryBackend};

use super::gate::Gate;
use super::limits::HttpLimits;

/// What becomes of clients that shake hands (up to 2025-11-25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// Each gets a session, which lasts until it ends it or is idle for too long.
    #[default]
    Kept,
    /// None gets a session: each request is served by itself, in the revision that its header
    /// names. The server cannot ask such clients or tell them of changes.
    None,
}

/// What may be set about an HTTP server. The defaults are safe on a developer's machine and in
/// production.
#[derive(Clone)]
pub struct HttpConfig {
    pub(super) gate: Gate,
    pub(super) limits: HttpLimits,
    pub(super) sessions: Sessions,
    pub(super) sse2024: bool,
    #[cfg(feature = "http2")]
    pub(super) http2: bool,
    pub(super) store: Arc<dyn Backend>,
    /// Whether others may have the same store.
    pub(super) is_shared: bool,
}

impl HttpConfig {
    /// Only this machine may knock, handshakes open sessions, and nothing outlives the process.
    pub fn new() -> Self {
        Self {
            gate: Gate::loopback(),
            limits: HttpLimits::default(),
            sessions: Sessions::Kept,
            sse2024: false,
            #[cfg(feature = "http2")]
            http2: false,
            store: Arc::new(MemoryBackend::default()),
            is_shared: false,
        }
    }

    /// Sets who may knock.
    #[must_use]
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Who may knock.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Sets the bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The bounds.
    pub fn limits(&self) -> &HttpLimits {
        &self.limits
    }

    /// Sets what becomes of clients that shake hands.
    #[must_use]
    pub fn with_sessions(mut self, sessions: Sessions) -> Self {
        self.sessions = sessions;
        self
    }

    /// Serves the two endpoints of 2024-11-05 beside: a GET opens the stream, and names where
    /// messages are to be posted. Deprecated by the protocol; for clients that know nothing else.
    #[must_use]
    pub fn with_sse2024(mut self) -> Self {
        self.sse2024 = true;
        self
    }

    /// Speaks HTTP/2 beside HTTP/1.1 on a [`Listener`](super::Listener) of ours, without TLS: for
    /// proxies and meshes that talk so to what stands behind them.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn with_http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// Sets where sessions and what streams said are kept. Every endpoint with the same store can
    /// serve the sessions of the others: calls, the GET stream, resumption and DELETE may each come
    /// to another one. Clients of 2024-11-05 are bound to the endpoint of their stream.
    ///
    /// Rates and bounds count at each endpoint for itself. Without this, everything is kept in the
    /// endpoint, and no request waits for a store.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Backend>) -> Self {
        self.store = store;
        self.is_shared = true;
        self
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self::new()
    }
}
