//! Which lane a call goes to, and what that lane declares.

use std::time::Duration;

use bowline_proto::request::{Parts, Request};
use bowline_proto::sync::lock;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::ext::apps::{self, UiSettings};
use bowline_types::json::Object;
use tokio::time::{Instant, timeout_at};

use super::key::{LaneKey, SessionId, peer_of};
use super::pool::{LanePurpose, MostLanes, NoLane, TakenLane, Wanted};
use super::sessions::ListeningCaller;
use super::{Inner, Lanes, cursor};
use crate::config::Isolation;
use crate::refusal;
use crate::supervise::{Audience, Supervised};

/// How often a call that waits for a lane looks for one whose question is old enough to give way.
const RECALL_PAUSE: Duration = Duration::from_secs(1);

impl Lanes {
    /// The lane that a caller needs, and what it declares.
    fn wanted(&self, parts: &Parts) -> (Wanted, ClientCapabilities) {
        let rules = (self.0.sharing, self.0.isolation);
        let exact = self.needs_exact_capabilities().then(|| self.exact_capabilities(parts));
        let key = LaneKey::of(parts, rules, exact.as_ref());
        let can_answer = exact.as_ref().is_some_and(|exact| {
            exact.elicitation.is_some() || exact.sampling.is_some() || exact.roots.is_some()
        });
        let is_exclusive = can_answer && self.0.asking.is_known() && !key.is_isolated();
        let (session, purpose) = (SessionId::of(parts), LanePurpose::Start);
        let wanted = Wanted { key, session, peer: peer_of(parts), is_exclusive, purpose };
        (wanted, exact.unwrap_or_else(Self::every_question))
    }

    /// A lane for a subscription: it asks nothing.
    ///
    /// # Errors
    ///
    /// If there are too many, or the server was stopped for good.
    pub(super) fn shared_lane(
        &self,
        parts: &Parts,
        purpose: LanePurpose,
    ) -> Result<Supervised, ErrorObject> {
        let (mut wanted, declared) = self.wanted(parts);
        (wanted.is_exclusive, wanted.purpose) = (false, purpose);
        match self.take(&wanted, declared) {
            Ok(lane) => Ok(lane.supervised.clone()),
            Err(NoLane::Closed) => Err(refusal::closed(&self.0.name)),
            Err(NoLane::Full | NoLane::Held | NoLane::HeldByPeer) => {
                Err(refusal::full(&self.0.name))
            }
        }
    }

    /// The lane for what is no call, if the server runs there or is about to run.
    pub(super) fn open_lane(&self, parts: &Parts) -> Option<Supervised> {
        let (mut wanted, _) = self.wanted(parts);
        wanted.is_exclusive = false;
        self.0.pool.best_open(&wanted)
    }

    /// Keeps the lane on which a caller follows resources. `None` if the limits do not allow that its
    /// server is started.
    pub(super) fn hold(&self, lane: &Supervised) -> Option<TakenLane> {
        self.0.pool.hold(lane, self.most_lanes()).ok()
    }

    /// A lane for a call. Waits while other askers hold all lanes that the owner may have, or the one
    /// that gave the cursor of the request.
    pub(super) async fn lane_for(&self, request: &Request) -> Result<TakenLane, ErrorObject> {
        let longest = self.0.limits.lane_wait;
        self.lane(&request.parts, cursor::connection(request), longest).await
    }

    /// The same for a call without a cursor.
    pub(super) async fn lane_of(&self, parts: &Parts) -> Result<TakenLane, ErrorObject> {
        self.lane(parts, None, self.0.limits.lane_wait).await
    }

    /// A lane, for which the call waits no longer than this.
    pub(super) async fn lane(
        &self,
        parts: &Parts,
        connection: Option<u64>,
        longest: Duration,
    ) -> Result<TakenLane, ErrorObject> {
        let until = Instant::now() + longest;
        loop {
            let freed = self.0.pool.freed();
            // Again after each wait, since the server may be known better by now.
            let (wanted, declared) = self.wanted(parts);
            let running = connection.and_then(|it| self.0.pool.take_running(&wanted, it));
            match running.unwrap_or_else(|| self.take(&wanted, declared)) {
                Ok(lane) => {
                    let caller = self.0.sessions.find(&parts.client);
                    let caller = caller.filter(|caller| caller.is_of(&wanted.key));
                    // The next page says nothing about where the next call goes.
                    if let Some(caller) = caller.filter(|_| connection.is_none()) {
                        self.follow_call(&caller, &wanted, &lane);
                    }
                    return Ok(lane);
                }
                Err(NoLane::Closed) => {
                    let next = self.0.successor.get();
                    let next = next.ok_or_else(|| refusal::closed(&self.0.name))?;
                    let rest = until.saturating_duration_since(Instant::now());
                    return Box::pin(next.lane(parts, connection, rest)).await;
                }
                Err(NoLane::Full) => return Err(refusal::full(&self.0.name)),
                Err(why @ (NoLane::Held | NoLane::HeldByPeer)) => {
                    self.recall_for(&wanted, why);
                    let next = until.min(Instant::now() + RECALL_PAUSE);
                    if timeout_at(next, freed).await.is_err() && next == until {
                        return Err(match why {
                            NoLane::HeldByPeer => refusal::busy_with_peer(&self.0.name),
                            _ => refusal::busy(&self.0.name),
                        });
                    }
                }
            }
        }
    }

    /// Lets a call that waits for an answer give way to this one. A peer that holds all its lanes gets
    /// one of its own.
    fn recall_for(&self, wanted: &Wanted, why: NoLane) {
        let most = self.most_asking();
        let (peer, most) = match why {
            NoLane::HeldByPeer => (wanted.peer.as_ref(), most.saturating_sub(1).max(1)),
            _ => (None, most),
        };
        self.0.pool.recall_for((&wanted.key, peer), (most, self.0.limits.unanswered));
    }

    /// Lets a caller listen on the lane of its call. Parallel calls of a caller without a session have
    /// a lane each, so they leave the caller where it is, unless it would hear nothing there.
    fn follow_call(&self, caller: &ListeningCaller, wanted: &Wanted, lane: &TakenLane) {
        let now = caller.lane().borrow().clone();
        if wanted.session.is_some() || !self.0.pool.serves(&now, &wanted.key) {
            caller.move_to(&lane.supervised);
        }
    }

    pub(super) fn take(
        &self,
        wanted: &Wanted,
        declared: ClientCapabilities,
    ) -> Result<TakenLane, NoLane> {
        let Inner { dial, limits, asking, pool, .. } = &*self.0;
        let audience = if wanted.key.is_isolated() { Audience::One } else { self.0.audience };
        pool.take(wanted, self.most_lanes(), || {
            let told = (asking.clone(), pool.phases().clone(), pool.endings().clone());
            Supervised::new(dial.clone(), (declared, audience), told, limits.clone())
        })
    }

    fn most_lanes(&self) -> MostLanes {
        let Inner { dial, limits, .. } = &*self.0;
        MostLanes {
            per_owner: if dial.is_process() { limits.process_lanes } else { limits.http_lanes },
            by_capabilities: limits.capability_lanes,
            isolated: limits.isolated_lanes,
            in_all: limits.lanes,
        }
    }

    /// The most lanes of one owner that wait for answers. One is kept for calls that ask nothing, if
    /// there are several.
    pub(super) fn most_asking(&self) -> usize {
        self.most_lanes().per_owner.saturating_sub(1).max(1)
    }

    /// Whether lanes declare exactly what their callers can do.
    fn needs_exact_capabilities(&self) -> bool {
        let met = lock(&self.0.met);
        let states_them = met.as_ref().is_some_and(|met| met.revision.has_input_requests());
        let is_own = self.0.audience == Audience::One || self.0.isolation == Isolation::Caller;
        !states_them && (is_own || self.0.asking.is_known())
    }

    /// What a caller can do, as far as questions about it are passed on. Without settings, which
    /// callers choose freely: each set of capabilities needs a lane. Roots only on lanes of one caller,
    /// because servers make permissions of the whole process of them.
    fn exact_capabilities(&self, parts: &Parts) -> ClientCapabilities {
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
        let is_own = self.0.audience == Audience::One
            || (self.0.isolation == Isolation::Caller && parts.revision.has_handshake());
        if is_own {
            exact.roots.clone_from(&declared.roots);
        }
        exact
    }
}

/// Declares that views of tools are shown.
pub(super) fn declare_views(capabilities: &mut ClientCapabilities) {
    if let Ok(settings) = Object::of(&UiSettings::new()) {
        // The identifier has the form that is demanded.
        _ = capabilities.extensions.insert(apps::IDENTIFIER, settings);
    }
}
