//! The configuration of a client: identity, capabilities, revisions, limits.
//!
//! Made once by the client framework. The transport adds one fact: whether messages carry mirrored
//! headers.

use std::time::Duration;

use bowline_types::capability::{ClientCapabilities, InvalidExtension};
use bowline_types::implementation::Implementation;
use bowline_types::json::Object;
use bowline_types::meta::key;
use bowline_types::revision::Revision;

use super::CacheOptions;
use super::keep_alive::KeepAlive;
use crate::limits::Limits;
use crate::project::Project;
use crate::splice;

/// The configuration of a client: identity, capabilities, revisions, limits. Shared by a connection
/// and its driver.
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

impl ClientConfig {
    /// A client that speaks every revision within the default limits.
    pub fn new(info: Implementation, capabilities: ClientCapabilities) -> Self {
        let mut revisions = Revision::ALL.to_vec();
        revisions.reverse();
        Self {
            info,
            capabilities,
            revisions,
            limits: Limits::for_client(),
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

    /// Whether every message comes with the headers that HTTP repeats.
    pub fn mirrors(&self) -> bool {
        self.mirrors
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a [`Mirror`](crate::mirror::Mirror) to every message, as HTTP requires.
    #[must_use]
    pub fn with_mirrors(mut self) -> Self {
        self.mirrors = true;
        self
    }

    /// Stores results for as long as the server allows, and returns them again.
    #[must_use]
    pub fn with_cache(mut self, options: CacheOptions) -> Self {
        self.cache = Some(options);
        self
    }

    /// Pings a server that was silent for an interval (at least a second). If it stays silent for
    /// the timeout after that, the connection has failed.
    #[must_use]
    pub fn with_keep_alive(mut self, interval: Duration, timeout: Duration) -> Self {
        let interval = interval.max(Duration::from_secs(1));
        self.keep_alive = Some(KeepAlive { interval, timeout, during_calls: timeout });
        self
    }

    /// Lets a server be silent for this long while a call runs that is no list: a server that does one
    /// thing at a time reads no ping meanwhile. Changes nothing without
    /// [`with_keep_alive`](Self::with_keep_alive).
    #[must_use]
    pub fn with_silence_during_calls(mut self, longest: Duration) -> Self {
        if let Some(keep_alive) = &mut self.keep_alive {
            keep_alive.during_calls = longest.max(keep_alive.timeout);
        }
        self
    }

    /// Declares an extension without settings.
    ///
    /// # Errors
    ///
    /// If the identifier is not of the form `prefix/name`.
    pub fn with_extension(mut self, identifier: &str) -> Result<Self, InvalidExtension> {
        self.capabilities.extensions.insert(identifier, Object::default())?;
        Ok(self)
    }

    /// The name and version of the client.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// The capabilities of the client.
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

    /// How much to store of results, if anything.
    pub(super) fn cache(&self) -> Option<&CacheOptions> {
        self.cache.as_ref()
    }

    /// How long the server may be silent, if that is limited.
    pub(super) fn keep_alive(&self) -> Option<KeepAlive> {
        self.keep_alive
    }

    /// How long a server may take to answer the probe. A client that speaks no revision with a
    /// handshake has nothing else to try, so it waits as long as for any other answer: a server may be
    /// slow to start.
    pub(super) fn probe_timeout(&self) -> Duration {
        match self.newest_legacy() {
            Some(_) => self.limits.probe_timeout,
            None => self.limits.request_timeout,
        }
    }

    /// The newest revision spoken without a handshake.
    pub(super) fn newest_modern(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| !revision.has_handshake())
    }

    /// The newest revision spoken that begins with a handshake.
    pub(super) fn newest_legacy(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| revision.has_handshake())
    }

    /// The capabilities of the client, fitted to a revision. A server acts on what is declared, so
    /// nothing is declared that the revision does not have.
    pub(super) fn declared(&self, revision: Revision) -> ClientCapabilities {
        let mut capabilities = self.capabilities.clone();
        capabilities.project(revision);
        capabilities
    }

    /// The members of `_meta` that every modern request carries. Version and capabilities are
    /// required in every request, the name of the client should be there (RQM-1 to RQM-3).
    pub(super) fn modern_meta(&self, revision: Revision) -> String {
        self.modern_meta_with(&self.declared(revision), revision)
    }

    /// The same with the capabilities of a caller.
    pub(super) fn modern_meta_with(
        &self,
        capabilities: &ClientCapabilities,
        revision: Revision,
    ) -> String {
        [
            splice::member(key::PROTOCOL_VERSION, &revision),
            splice::member(key::CLIENT_INFO, &self.info),
            splice::member(key::CLIENT_CAPABILITIES, capabilities),
        ]
        .join(",")
    }
}
