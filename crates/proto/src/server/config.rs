//! The configuration of a server: identity, revisions, limits.
//!
//! Made once by the server framework and shared by all connections. What a server *offers* (tools,
//! resources, prompts) is not here: the service describes that itself in answer to
//! `server/discover`.

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;

use crate::limits::Limits;
use crate::wire::modern;

/// The configuration of a server: identity, revisions, limits.
///
/// ```
/// use bowline_proto::server::ServerConfig;
/// use bowline_types::implementation::Implementation;
/// use bowline_types::revision::Revision;
///
/// let config = ServerConfig::new(Implementation::new("calc", "1.0.0"))
///     .with_revisions([Revision::V2025_06_18, Revision::V2025_11_25]);
/// assert_eq!(config.newest_legacy(), Some(Revision::V2025_11_25));
/// ```
#[derive(Clone, Debug)]
pub struct ServerConfig {
    info: Implementation,
    /// `info`, serialized once, because every modern result repeats it.
    info_json: RawJson,
    revisions: Vec<Revision>,
    limits: Limits,
    log_level: LoggingLevel,
    keeps_sessions: bool,
}

/// The log level until a session sets its own (LOG-4 leaves it to the server).
const DEFAULT_LEVEL: LoggingLevel = LoggingLevel::Info;

impl ServerConfig {
    /// A server that speaks every revision within the default limits.
    pub fn new(info: Implementation) -> Self {
        let mut revisions = Revision::ALL.to_vec();
        revisions.reverse();
        let info_json = modern::server_info(&info);
        Self {
            info,
            info_json,
            revisions,
            limits: Limits::default(),
            log_level: DEFAULT_LEVEL,
            keeps_sessions: true,
        }
    }

    /// Speaks only these revisions, and prefers the newest of them. An empty list changes nothing.
    #[must_use]
    pub fn with_revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        let spoken: Vec<_> = revisions.into_iter().collect();
        let newest_first = Revision::ALL.into_iter().rev();
        let revisions: Vec<_> = newest_first.filter(|it| spoken.contains(it)).collect();
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

    /// Sets the least severe log message that a session gets until it sets a level itself (up to
    /// 2025-11-25).
    #[must_use]
    pub fn with_log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = level;
        self
    }

    /// Declares that the server keeps no state after the handshake (up to 2025-11-25). So it does
    /// not offer what needs a session: notifications of changes, and logging.
    #[must_use]
    pub fn without_sessions(mut self) -> Self {
        self.keeps_sessions = false;
        self
    }

    /// The name and version of the server.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// The revisions spoken, newest first.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// The newest revision spoken that begins with a handshake.
    ///
    /// Offered to a client that asks for a revision which the server does not speak (LIFE-10,
    /// LIFE-11). `None` for a server of 2026-07-28 only.
    pub fn newest_legacy(&self) -> Option<Revision> {
        self.revisions.iter().copied().find(|revision| revision.has_handshake())
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The least severe log message that a session gets until it sets a level itself.
    pub fn log_level(&self) -> LoggingLevel {
        self.log_level
    }

    /// Whether the server keeps sessions after the handshake.
    pub(crate) fn keeps_sessions(&self) -> bool {
        self.keeps_sessions
    }

    /// The serialized [`info`](Self::info).
    pub(crate) fn info_json(&self) -> &str {
        self.info_json.as_str()
    }
}
