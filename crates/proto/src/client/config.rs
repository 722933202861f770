//! What a client is, what it can do, and how long it waits.

use bowline_types::capability::ClientCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::meta::key;
use bowline_types::revision::Revision;

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
}

impl ClientConfig {
    /// A client that speaks every revision within the default limits.
    pub fn new(info: Implementation, capabilities: ClientCapabilities) -> Self {
        let mut revisions = Revision::ALL.to_vec();
        revisions.reverse();
        Self { info, capabilities, revisions, limits: Limits::default() }
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

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
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

    /// The newest revision spoken without a handshake.
    pub(super) fn newest_modern(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| revision.is_modern())
    }

    /// The newest revision spoken that begins with a handshake.
    pub(super) fn newest_legacy(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| !revision.is_modern())
    }

    /// The members of `_meta` that every modern request carries.
    pub(super) fn modern_meta(&self, revision: Revision) -> String {
        let mut capabilities = self.capabilities.clone();
        capabilities.project(revision);
        [
            splice::member(key::PROTOCOL_VERSION, &revision),
            splice::member(key::CLIENT_INFO, &self.info),
            splice::member(key::CLIENT_CAPABILITIES, &capabilities),
        ]
        .join(",")
    }
}
