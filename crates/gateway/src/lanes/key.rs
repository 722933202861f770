//! Which callers share a lane.

use std::sync::{Arc, Weak};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{ClientProfile, Owner, Parts, Peer};
use bowline_types::capability::ClientCapabilities;

use crate::config::{Isolation, Sharing};

/// Callers with equal keys share a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneKey {
    owner: Owner,
    /// The session that has the lane to itself.
    session: Option<SessionId>,
    /// The capabilities that the lane declares, as JSON, if they are exactly those of its callers.
    exact: Option<String>,
}

/// Identifies a session without keeping it open. All its calls share one profile, so the address of
/// that identifies it; the weak pointer keeps the address from being used again.
#[derive(Clone, Debug)]
pub(crate) struct SessionId(Weak<ClientProfile>);

impl SessionId {
    /// The session of a caller; `None` for a caller without one.
    pub(crate) fn of(parts: &Parts) -> Option<Self> {
        parts.revision.has_handshake().then(|| Self(Arc::downgrade(&parts.client)))
    }

    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl PartialEq for SessionId {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for SessionId {}

/// The address that a call comes from, if the transport knows it.
pub(crate) fn peer_of(parts: &Parts) -> Option<CallerId> {
    let peer = parts.extensions.get::<Peer>().copied();
    // What an endpoint notes that is not told addresses.
    peer.filter(|Peer(address)| !address.is_unspecified()).map(CallerId::from)
}

impl LaneKey {
    /// The key of callers without credentials that share a lane.
    pub(crate) fn anonymous() -> Self {
        Self { owner: Owner::anonymous(), session: None, exact: None }
    }

    /// The key of callers without credentials who can do exactly this.
    #[cfg(test)]
    pub(crate) fn declaring(exact: &str) -> Self {
        Self { exact: Some(exact.to_owned()), ..Self::anonymous() }
    }

    /// The key of the only session of a client.
    #[cfg(test)]
    pub(crate) fn isolated(client: &Arc<ClientProfile>) -> Self {
        Self { session: Some(SessionId(Arc::downgrade(client))), ..Self::anonymous() }
    }

    /// The key of a caller. Callers without sessions have nothing that tells them apart, so those of
    /// one owner with the same capabilities share a lane even if callers are isolated.
    pub(crate) fn of(
        parts: &Parts,
        (sharing, isolation): (Sharing, Isolation),
        exact: Option<&ClientCapabilities>,
    ) -> Self {
        let owner = match sharing {
            Sharing::Owner => parts.owner.clone(),
            Sharing::All => Owner::anonymous(),
        };
        let session = SessionId::of(parts).filter(|_| isolation == Isolation::Caller);
        let exact = exact.and_then(|capabilities| serde_json::to_string(capabilities).ok());
        Self { owner, session, exact }
    }

    /// Makes it the key for callers of any capabilities.
    pub(crate) fn share_between_capabilities(&mut self) {
        self.exact = None;
    }

    /// Whether a session has the lane to itself.
    pub(crate) fn is_isolated(&self) -> bool {
        self.session.is_some()
    }

    /// Whether its session has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.session.as_ref().is_some_and(SessionId::is_over)
    }

    /// Whether callers share the lane that the server may ask.
    pub(crate) fn is_of_askers(&self) -> bool {
        self.exact.is_some() && self.session.is_none()
    }

    /// Whether both are for the same callers, whatever these can do.
    pub(crate) fn has_callers_of(&self, other: &Self) -> bool {
        self.owner == other.owner && self.session == other.session
    }

    pub(crate) fn has_owner_of(&self, other: &Self) -> bool {
        self.owner == other.owner
    }
}
