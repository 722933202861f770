//! Which callers share a lane, and what it declares.

use std::sync::{Arc, Weak};

use bowline_proto::callers::CallerId;
use bowline_proto::request::{ClientProfile, Owner, Parts, Peer};
use bowline_types::capability::ClientCapabilities;
use bowline_types::ext::apps::{self, UiSettings};
use bowline_types::json::Object;

use crate::config::{Isolation, Sharing};

/// Callers with equal keys share a lane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaneKey {
    pub(super) owner: Owner,
    /// The session that has the lane to itself.
    session: Option<SessionId>,
    /// What the lane declares, if it is exactly what its callers can do.
    exact: Option<ClientCapabilities>,
}

/// A caller, as far as it matters for its lane.
#[derive(Clone, Debug)]
pub(super) struct LaneCaller {
    pub(super) owner: Owner,
    pub(super) session: Option<SessionId>,
    /// The address that its call comes from, if that is known.
    pub(super) peer: Option<CallerId>,
    /// Whether each session has a lane to itself.
    is_isolated: bool,
    /// What it can do. `None` if it shares lanes whatever others can do.
    exact: Option<ClientCapabilities>,
}

/// Which callers may share lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LaneSharing {
    pub(super) sharing: Sharing,
    pub(super) isolation: Isolation,
    /// Whether there is only one caller.
    pub(super) serves_one: bool,
}

impl LaneSharing {
    /// Whether lanes declare what their callers can do, although the server has asked no question.
    pub(super) fn is_own(self) -> bool {
        self.serves_one || self.isolation == Isolation::Caller
    }

    /// The owner of lanes for a call.
    pub(super) fn owner(self, parts: &Parts) -> Owner {
        match self.sharing {
            Sharing::Owner => parts.owner.clone(),
            Sharing::All => Owner::anonymous(),
        }
    }
}

/// Identifies a session without keeping it open. All its calls share one profile, so the address of
/// that identifies it; the weak pointer keeps the address from being used again.
#[derive(Clone, Debug)]
pub(super) struct SessionId(Weak<ClientProfile>);

impl SessionId {
    /// The session of a caller; `None` for a caller without one.
    fn of(parts: &Parts) -> Option<Self> {
        parts.revision.has_handshake().then(|| Self(Arc::downgrade(&parts.client)))
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self) -> bool {
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
pub(super) fn peer_of(parts: &Parts) -> Option<CallerId> {
    let peer = parts.extensions.get::<Peer>().copied();
    // What an endpoint notes that is not told addresses.
    peer.filter(|Peer(address)| !address.is_unspecified()).map(CallerId::from)
}

impl LaneCaller {
    /// Callers without credentials, whatever they can do.
    pub(super) fn anonymous() -> Self {
        let owner = Owner::anonymous();
        Self { owner, session: None, peer: None, is_isolated: false, exact: None }
    }

    /// The caller of a call.
    pub(super) fn of(parts: &Parts, rules: LaneSharing) -> Self {
        let session = SessionId::of(parts);
        let is_isolated = rules.isolation == Isolation::Caller;
        // Servers make permissions of the whole process of roots.
        let has_own_lane = rules.serves_one || (is_isolated && session.is_some());
        let exact = Some(exact_capabilities(parts, has_own_lane));
        let (owner, peer) = (rules.owner(parts), peer_of(parts));
        Self { owner, session, peer, is_isolated, exact }
    }

    /// A session whose client can do this.
    #[cfg(test)]
    pub(super) fn session(
        (owner, peer): (Owner, Option<CallerId>),
        client: &Arc<ClientProfile>,
        exact: ClientCapabilities,
    ) -> Self {
        let session = Some(SessionId(Arc::downgrade(client)));
        Self { owner, session, peer, is_isolated: false, exact: Some(exact) }
    }

    /// The same with a lane to itself.
    #[cfg(test)]
    pub(super) fn isolated(self) -> Self {
        Self { is_isolated: true, ..self }
    }

    /// The same without a session.
    #[cfg(test)]
    pub(super) fn without_session(self) -> Self {
        Self { session: None, ..self }
    }

    /// The key of its lanes, which declare exactly what it can do or not. Callers without sessions have
    /// nothing that tells them apart, so those of one owner with the same capabilities share a lane even
    /// if callers are isolated.
    pub(super) fn key(&self, is_exact: bool) -> LaneKey {
        LaneKey {
            owner: self.owner.clone(),
            session: self.session.clone().filter(|_| self.is_isolated),
            exact: self.exact.clone().filter(|_| is_exact),
        }
    }
}

impl LaneKey {
    /// What lanes with this key declare.
    pub(super) fn declared(&self) -> ClientCapabilities {
        self.exact.clone().unwrap_or_else(every_question)
    }

    /// Makes it the key for callers of any capabilities.
    pub(super) fn share_between_capabilities(&mut self) {
        self.exact = None;
    }

    /// Whether a session has the lane to itself.
    pub(super) fn is_isolated(&self) -> bool {
        self.session.is_some()
    }

    /// Whether its session has ended.
    pub(super) fn is_over(&self) -> bool {
        self.session.as_ref().is_some_and(SessionId::is_over)
    }

    /// Whether callers share the lane that the server may ask.
    pub(super) fn is_of_askers(&self) -> bool {
        self.exact.is_some() && self.session.is_none()
    }

    /// Whether callers share the lane that can answer questions.
    pub(super) fn may_be_asked(&self) -> bool {
        let can_answer = |exact: &ClientCapabilities| {
            exact.elicitation.is_some() || exact.sampling.is_some() || exact.roots.is_some()
        };
        !self.is_isolated() && self.exact.as_ref().is_some_and(can_answer)
    }

    /// Whether both are for the same callers, whatever these can do.
    pub(super) fn has_callers_of(&self, other: &Self) -> bool {
        self.owner == other.owner && self.session == other.session
    }
}

/// What lanes declare whose server has asked no questions yet: every question, and views, which callers
/// without them can ignore.
pub(super) fn every_question() -> ClientCapabilities {
    let mut every = ClientCapabilities::new()
        .with_form_elicitation()
        .with_url_elicitation()
        .with_sampling()
        .with_sampling_tools();
    declare_views(&mut every);
    every
}

/// What a caller can do, as far as questions about it are passed on. Without settings, which callers
/// choose freely: each set of capabilities needs a lane. Roots only on lanes of one caller.
fn exact_capabilities(parts: &Parts, has_own_lane: bool) -> ClientCapabilities {
    let declared = &parts.client.capabilities;
    let can = |way: &Option<Object>| way.as_ref().map(|_| Object::default());
    let mut exact = ClientCapabilities::new();
    if let Some(elicitation) = &declared.elicitation {
        let exact = exact.elicitation.get_or_insert_default();
        (exact.form, exact.url) = (can(&elicitation.form), can(&elicitation.url));
    }
    if let Some(sampling) = &declared.sampling {
        let exact = exact.sampling.get_or_insert_default();
        (exact.context, exact.tools) = (can(&sampling.context), can(&sampling.tools));
    }
    if parts.shows_views() {
        declare_views(&mut exact);
    }
    if has_own_lane {
        exact.roots.clone_from(&declared.roots);
    }
    exact
}

/// Declares that views of tools are shown.
fn declare_views(capabilities: &mut ClientCapabilities) {
    if let Ok(settings) = Object::of(&UiSettings::new()) {
        // The identifier has the form that is demanded.
        _ = capabilities.extensions.insert(apps::IDENTIFIER, settings);
    }
}
