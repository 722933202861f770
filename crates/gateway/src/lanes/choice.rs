//! Which lane a call goes to, and where its caller listens.

use std::time::Duration;

use bowline_proto::request::{Parts, Request};
use bowline_types::error::ErrorObject;
use tokio::time::Instant;

use super::guards::{LaneUse, Lease};
use super::key::LaneCaller;
use super::table::{LaneId, LanePurpose, NoLane, Wanted, later};
use super::{Lanes, cursor};
use crate::refusal;

impl Lanes {
    pub(super) fn caller(&self, parts: &Parts) -> LaneCaller {
        LaneCaller::of(parts, self.0.sharing)
    }

    /// A lane for a subscription: it asks nothing.
    ///
    /// # Errors
    ///
    /// If there are too many, or the server was stopped for good.
    pub(super) fn shared_lane(
        &self,
        caller: LaneCaller,
        purpose: LanePurpose,
    ) -> Result<LaneId, ErrorObject> {
        let using = self.0.driver.take_now(caller, purpose);
        using.map(|using| using.lane()).map_err(|why| self.no_lane(why))
    }

    /// The lane for what is no call, if the server runs there or is about to run.
    pub(super) fn open_lane(&self, parts: &Parts) -> Option<LaneId> {
        let caller = self.caller(parts);
        self.0.driver.look(|table| table.best_open(&caller))
    }

    /// The lane to which a caller should move that listens on this one: because calls of the caller go
    /// to others by now, or because the server does not run there. If there is no room, it stays.
    pub(super) fn better_lane(
        &self,
        lane: LaneId,
        caller: &LaneCaller,
        purpose: LanePurpose,
    ) -> Option<LaneId> {
        let driver = &self.0.driver;
        match driver.look(|table| table.suits(lane, caller)) {
            true => driver.look(|table| table.better_open(lane, caller)),
            false => Some(driver.take_now(caller.clone(), purpose).ok()?.lane()),
        }
    }

    /// A lane for a call. Waits while other askers hold all lanes that the owner may have, or the one
    /// that gave the cursor of the request.
    pub(super) async fn lane_for(&self, request: &Request) -> Result<LaneUse, ErrorObject> {
        let longest = self.0.limits.lane_wait;
        self.lane(&request.parts, cursor::connection(request), longest).await
    }

    /// The same for a call without a cursor.
    pub(super) async fn lane_of(&self, parts: &Parts) -> Result<LaneUse, ErrorObject> {
        self.lane(parts, None, self.0.limits.lane_wait).await
    }

    /// A lane, for which the call waits no longer than this.
    pub(super) async fn lane(
        &self,
        parts: &Parts,
        connection: Option<u64>,
        longest: Duration,
    ) -> Result<LaneUse, ErrorObject> {
        let begin = Instant::now();
        let (caller, until) = (self.caller(parts), Some(later(begin.into_std(), longest)));
        let purpose = LanePurpose::Call;
        let wanted = Wanted { caller: caller.clone(), purpose, connection, until };
        match self.0.driver.take(wanted).await {
            Ok(using) => {
                // The next page says nothing about where the next call goes.
                if connection.is_none() {
                    self.follow_call(parts, &caller, using.lane());
                }
                Ok(using)
            }
            Err(NoLane::Closed) => {
                let next = self.0.successor.get().ok_or_else(|| self.no_lane(NoLane::Closed))?;
                let rest = longest.saturating_sub(begin.elapsed());
                Box::pin(next.lane(parts, connection, rest)).await
            }
            Err(why) => Err(self.no_lane(why)),
        }
    }

    /// Lets a caller listen on the lane of its call. Parallel calls of a caller without a session have
    /// a lane each, so they leave the caller where it is, unless it would hear nothing there.
    fn follow_call(&self, parts: &Parts, caller: &LaneCaller, lane: LaneId) {
        let listening = self.0.sessions.find(&parts.client);
        let Some(listening) = listening.filter(|it| it.is_of(&caller.owner)) else { return };
        let now = listening.lane();
        let serves = || {
            let driver = &self.0.driver;
            driver.look(|table| table.suits(now, caller) && !table.is_stopped(now))
        };
        if caller.session.is_some() || !serves() {
            listening.move_to(lane);
        }
    }

    /// The use of the connection for a call of this caller.
    pub(super) async fn lease(&self, parts: &Parts) -> Result<Lease, ErrorObject> {
        let using = self.lane_of(parts).await?;
        self.lease_on(using).await
    }

    /// The same on a lane that the call has taken.
    pub(super) async fn lease_on(&self, using: LaneUse) -> Result<Lease, ErrorObject> {
        let lease = using.connect().await;
        let lease = lease.map_err(|why| refusal::unavailable(&self.0.name, &why, self.keys()))?;
        self.meet(&lease);
        Ok(lease)
    }

    fn no_lane(&self, why: NoLane) -> ErrorObject {
        match why {
            NoLane::Held => refusal::busy(&self.0.name),
            NoLane::HeldByPeer => refusal::busy_with_peer(&self.0.name),
            NoLane::Full => refusal::full(&self.0.name),
            NoLane::Closed => refusal::closed(&self.0.name),
        }
    }
}
