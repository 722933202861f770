//! Which callers share a lane.

use std::sync::{Arc, Weak};

use bowline_proto::request::{ClientProfile, ConnectionId, Owner, Parts};

use crate::config::{Isolation, Sharing};

/// Callers with equal keys share a lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LaneKey {
    owner: Owner,
    caller: Option<IsolatedCaller>,
}

/// A caller with a lane of its own: a session, or a connection without sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IsolatedCaller {
    Session(SessionId),
    Connection(ConnectionId),
}

/// Identifies a session without keeping it open. All its calls share one profile, so the address of
/// that identifies it; the weak pointer keeps the address from being used again.
#[derive(Clone, Debug)]
struct SessionId(Weak<ClientProfile>);

impl PartialEq for SessionId {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for SessionId {}

impl std::hash::Hash for SessionId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

impl LaneKey {
    /// The key of callers without credentials that share a lane.
    pub(crate) fn anonymous() -> Self {
        Self { owner: Owner::anonymous(), caller: None }
    }

    /// The key of a caller.
    pub(crate) fn of(parts: &Parts, sharing: Sharing, isolation: Isolation) -> Self {
        let owner = match sharing {
            Sharing::Owner => parts.owner.clone(),
            Sharing::All => Owner::anonymous(),
        };
        let caller = match isolation {
            Isolation::Shared => None,
            Isolation::Caller if parts.revision.has_handshake() => {
                Some(IsolatedCaller::Session(SessionId(Arc::downgrade(&parts.client))))
            }
            Isolation::Caller => Some(IsolatedCaller::Connection(parts.outbox.connection())),
        };
        Self { owner, caller }
    }

    /// Whether its caller is gone.
    pub(crate) fn is_over(&self) -> bool {
        match &self.caller {
            None => false,
            Some(IsolatedCaller::Session(session)) => session.0.strong_count() == 0,
            Some(IsolatedCaller::Connection(connection)) => connection.is_gone(),
        }
    }
}
