//! What client and server agreed on, and the state that only one of the two eras has.

use std::collections::HashMap;
use std::sync::Arc;

use bowline_types::capability::ClientCapabilities;
use bowline_types::json::Object;
use bowline_types::revision::Revision;

use super::super::elicitations::Elicitations;
use super::super::session_subscriptions::SessionSubscriptions;
use super::super::{ClientConfig, ServerProfile};
use crate::request::ExchangeId;
use crate::table::hash::CountedKeys;

/// The agreement of a connection. It stays while a lost session is renewed.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) profile: Arc<ServerProfile>,
    /// The capabilities that this client declared to the server, fitted to its revision.
    pub(super) declared: ClientCapabilities,
    pub(super) era: AgreedEra,
}

/// What an agreement means in its era.
#[derive(Debug)]
pub(super) enum AgreedEra {
    /// A handshake opened a session, of which both sides keep a state (up to 2025-11-25).
    Legacy(LegacySession),
    /// Every request carries the members of `_meta` that are serialized here (2026-07-28).
    Modern { meta: String },
}

/// What a client keeps of its session, and sets again in the session that replaces a lost one.
#[derive(Debug)]
pub(super) struct LegacySession {
    /// The params of the last `logging/setLevel` that the server accepted.
    pub(super) level: Option<Object>,
    /// Whether a new session has no log level yet. Calls wait for it.
    pub(super) is_restoring: bool,
    pub(super) subscriptions: SessionSubscriptions,
    /// The calls whose tasks are awaited and report progress, by their tokens (2025-11-25).
    pub(super) task_progress: HashMap<i64, ExchangeId, CountedKeys>,
    pub(super) elicitations: Elicitations,
}

impl Agreed {
    pub(super) fn new(profile: Arc<ServerProfile>, config: &ClientConfig) -> Self {
        let declared = config.declared(profile.revision);
        let era = match profile.revision.has_handshake() {
            true => AgreedEra::Legacy(LegacySession {
                level: None,
                is_restoring: false,
                subscriptions: SessionSubscriptions::default(),
                task_progress: HashMap::default(),
                elicitations: Elicitations::new(config.limits().elicitations),
            }),
            false => AgreedEra::Modern { meta: config.modern_meta(profile.revision) },
        };
        Self { profile, declared, era }
    }

    pub(super) fn revision(&self) -> Revision {
        self.profile.revision
    }

    /// The members of `_meta` that every request carries, if the era has them.
    pub(super) fn modern_meta(&self) -> Option<&str> {
        match &self.era {
            AgreedEra::Legacy(_) => None,
            AgreedEra::Modern { meta } => Some(meta),
        }
    }

    /// The session, if the era has one.
    pub(super) fn session(&self) -> Option<&LegacySession> {
        match &self.era {
            AgreedEra::Legacy(session) => Some(session),
            AgreedEra::Modern { .. } => None,
        }
    }

    /// The session to change, if the era has one.
    pub(super) fn session_mut(&mut self) -> Option<&mut LegacySession> {
        match &mut self.era {
            AgreedEra::Legacy(session) => Some(session),
            AgreedEra::Modern { .. } => None,
        }
    }
}
