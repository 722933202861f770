//! What a client is, what it can do, and how long it waits.

use std::time::Duration;

use bowline_types::capability::ClientCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::meta::key;
use bowline_types::revision::Revision;

use super::CacheOptions;
use crate::limits::Limits;
use crate::wire::project::Project;
use crate::wire::splice;

/// What a client is, what it can do, and how long it waits.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    info: Implementation,
    capabilities: ClientCapabilities,
    revisions: Vec<Revision>,
    limits: Limits,
    cache: Option<CacheOptions>,
    keep_alive: Option<KeepAlive>,
    mirrors: bool,
}

/// How long a server may be silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// How long before it is asked whether it is still there.
    pub(super) interval: Duration,
    /// How long after it was asked.
    pub(super) timeout: Duration,
}

impl ClientConfig {
    /// A client that speaks every revision within the default limits.
    pub fn new(info: Implementation, capabilities: ClientCapabilities) -> Self {
        let mut revisions = Revision::ALL.to_vec();
        revisions.reverse();
        Self {
            info,
            capabilities,
            revisions,
            limits: Limits::default(),
            cache: None,
            keep_alive: None,
            mirrors: false,
        }
    }

    /// Speaks only these revisions, for example those that a server is known to speak. An empty
    /// list changes nothing.
    #[must_use]
    pub fn with_revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        let mut revisions: Vec<_> = revisions.into_iter().collect();
        revisions.sort_unstable();
        revisions.dedup();
        revisions.reverse();
        if !revisions.is_empty() {
            self.revisions = revisions;
        }
        self
    }

    /// Whether messages are given along with their mirrors.
    pub fn mirrors(&self) -> bool {
        self.mirrors
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Gives a [`Mirror`](crate::mirror::Mirror) along with every message, as HTTP wants.
    #[must_use]
    pub fn with_mirrors(mut self) -> Self {
        self.mirrors = true;
        self
    }

    /// Keeps results for as long as the server says, and gives them again.
    #[must_use]
    pub fn with_cache(mut self, options: CacheOptions) -> Self {
        self.cache = Some(options);
        self
    }

    /// Asks a server that was silent for an interval, of no less than a second, whether it is still
    /// there. If it is silent for the time-out after that, the connection has failed.
    #[must_use]
    pub fn with_keep_alive(mut self, interval: Duration, timeout: Duration) -> Self {
        let interval = interval.max(Duration::from_secs(1));
        self.keep_alive = Some(KeepAlive { interval, timeout });
        self
    }

    /// Who the client is.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// What the client can do.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The revisions spoken, newest first.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// What is kept of results, if anything is.
    pub(super) fn cache(&self) -> Option<&CacheOptions> {
        self.cache.as_ref()
    }

    /// How long the server may be silent, if that matters.
    pub(super) fn keep_alive(&self) -> Option<KeepAlive> {
        self.keep_alive
    }

    /// The newest revision spoken without a handshake.
    pub(super) fn newest_modern(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| revision.is_modern())
    }

    /// The newest revision spoken that begins with a handshake.
    pub(super) fn newest_legacy(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| !revision.is_modern())
    }

    /// What the client can do, in the words of a revision.
    pub(super) fn declared(&self, revision: Revision) -> ClientCapabilities {
        let mut capabilities = self.capabilities.clone();
        capabilities.project(revision);
        capabilities
    }

    /// The members of `_meta` that every modern request carries.
    pub(super) fn modern_meta(&self, revision: Revision) -> String {
        [
            splice::member(key::PROTOCOL_VERSION, &revision),
            splice::member(key::CLIENT_INFO, &self.info),
            splice::member(key::CLIENT_CAPABILITIES, &self.declared(revision)),
        ]
        .join(",")
    }
}
