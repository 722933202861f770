//! The settings of an HTTP server.
//!
//! Programs that use the `bowline` crate set them through its `Http`. They are fixed when the
//! [`Endpoint`](super::Endpoint) is made.

use std::sync::Arc;

use bowline_store::{Backend, MemoryBackend};

use super::admit::{Admit, Verification};
use super::browser_page::BrowserPage;
use super::gate::Gate;
use super::limits::HttpLimits;

/// Whether clients that shake hands (until 2025-11-25) get a session.
///
/// 2026-07-28 knows no sessions (SESS-17), so the choice concerns older clients only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// Each client gets a session, until it deletes the session or is idle for too long.
    #[default]
    Kept,
    /// No client gets a session: each request is served by itself, in the revision that its header
    /// names. The server cannot send such clients requests or notifications of changes.
    None,
}

/// The settings of an HTTP server. The defaults are safe on a developer's machine and in production.
///
/// ```
/// use bowline_http::server::{Gate, HttpConfig, Sessions};
///
/// let gate = Gate::loopback().with_public_url("https://mcp.example.com/mcp")?;
/// let config = HttpConfig::new().with_gate(gate).with_sessions(Sessions::None);
/// assert!(config.limits().calls_per_caller < config.limits().calls);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HttpConfig {
    pub(super) gate: Gate,
    pub(super) limits: HttpLimits,
    pub(super) sessions: Sessions,
    /// Whether the two endpoints of 2024-11-05 are served.
    pub(super) sse2024: bool,
    pub(super) verification: Verification,
    /// The URL that the page for browsers names, if it is not the one that the browser opened.
    pub(super) shown_url: Option<String>,
    /// The page for browsers.
    pub(super) page: Option<BrowserPage>,
    #[cfg(feature = "http2")]
    pub(super) http2: bool,
    pub(super) store: Arc<dyn Backend>,
    /// Whether other endpoints may have the same store.
    pub(super) is_shared: bool,
    /// Whether the service itself reports changes in other processes that share the store.
    pub(super) shares_changes: bool,
}

impl HttpConfig {
    /// Only clients on this machine may call, handshakes open sessions, and nothing outlives the
    /// process.
    pub fn new() -> Self {
        Self {
            gate: Gate::loopback(),
            limits: HttpLimits::default(),
            sessions: Sessions::Kept,
            sse2024: false,
            verification: Verification::None,
            shown_url: None,
            page: None,
            #[cfg(feature = "http2")]
            http2: false,
            store: Arc::new(MemoryBackend::default()),
            is_shared: false,
            shares_changes: false,
        }
    }

    /// Sets which hosts and origins requests may name. A client or page that the gate admits may
    /// call without credentials, unless an outer layer demands them.
    #[must_use]
    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Which hosts and origins requests may name.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Sets the URL that clients call, for the page that a browser gets. Without it the page names the
    /// host and path of the browser's request, which lack what a proxy or an outer router removed.
    #[must_use]
    pub fn with_shown_url(mut self, url: impl Into<String>) -> Self {
        self.shown_url = Some(url.into());
        self
    }

    /// Sets the page that a person gets who opens the address in a browser, in place of an error as
    /// JSON. Its status is that of the error.
    #[must_use]
    pub fn with_page(mut self, page: BrowserPage) -> Self {
        self.page = Some(page);
        self
    }

    /// Sets what verifies the credentials of every request.
    #[must_use]
    pub fn with_admit(mut self, admit: Arc<dyn Admit>) -> Self {
        self.verification = Verification::Own(admit);
        self
    }

    /// Declares that outer layers verify credentials, and attach [`Claims`] or an [`Access`] to the
    /// extensions of HTTP requests.
    ///
    /// [`Access`]: bowline_proto::request::Access
    /// [`Claims`]: bowline_proto::request::Claims
    #[must_use]
    pub fn with_outer_claims(mut self) -> Self {
        self.verification = Verification::Outer;
        self
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

    /// Sets whether clients that shake hands get a session.
    #[must_use]
    pub fn with_sessions(mut self, sessions: Sessions) -> Self {
        self.sessions = sessions;
        self
    }

    /// Also serves the two endpoints of 2024-11-05: a GET opens a stream, and names the address to
    /// post messages to. Deprecated by the protocol; for clients that speak nothing newer.
    #[must_use]
    pub fn with_sse2024(mut self) -> Self {
        self.sse2024 = true;
        self
    }

    /// Also speaks HTTP/2, without TLS, on a [`Listener`](super::Listener): for proxies and meshes
    /// that connect to their backends so.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn with_http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// Sets the store of sessions and of the events of their streams. Every endpoint with the same
    /// store can serve the sessions of the others: calls, the GET stream, resumption and DELETE may
    /// each come to another one. Clients of 2024-11-05 are bound to the endpoint of their stream.
    ///
    /// Each endpoint grants its part of the rates of a caller, by the number of endpoints; all other
    /// bounds count at each endpoint by itself. Without this setting the endpoint keeps
    /// everything in its own memory, and no request waits for a store.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Backend>) -> Self {
        self.store = store;
        self.is_shared = true;
        self
    }

    /// States that the service itself learns of changes in the other processes that share the store,
    /// so that endpoints need not pass on changes of lists and resources to each other.
    #[must_use]
    pub fn with_shared_changes(mut self) -> Self {
        self.shares_changes = true;
        self
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self::new()
    }
}
