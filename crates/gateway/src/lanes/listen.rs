//! Subscriptions that outlive the connection to the server: when it is started again, its callers
//! hear that everything they follow may have changed.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bowline_client::RelayFailure;
use bowline_proto::request::{Outbox, Outgoing, Parts, ReportedChange, Request, Response, Success};
use bowline_proto::upstream::Upstream;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use super::key::LaneKey;
use super::pool::{LanePurpose, TakenLane};
use super::sessions::ListeningCaller;
use super::{Inner, Lanes, call};
use crate::acknowledge::Acknowledgement;
use crate::refusal;
use crate::supervise::{Lease, Supervised};

impl Lanes {
    /// Serves `subscriptions/listen` until its caller is gone.
    pub(super) async fn listen(&self, request: Request) -> Response {
        let params: ListenParams =
            request.params.parse_all().map_err(ErrorObject::misread_params)?;
        let names = !params.notifications.resource_subscriptions.is_empty();
        let purpose = if names { LanePurpose::Start } else { LanePurpose::Wait };
        let lane = self.shared_lane(&request.parts, purpose)?;
        let key = LaneKey::of(&request.parts, (self.0.sharing, self.0.isolation), None);
        let guard = self.0.sessions.open(&request.parts.client, (key, lane));
        let subscription = Subscription {
            lanes: self,
            wished: params.notifications,
            caller: guard.caller.clone(),
            outbox: request.parts.outbox.clone(),
            acknowledgement: Acknowledgement::default(),
            reported: AtomicU64::new(0),
        };
        subscription.run(request).await
    }

    /// Subscribes to a resource on behalf of a session.
    pub(super) async fn follow(&self, request: Request) -> Response {
        let uri = request.params.parse_all::<SubscribeParams>();
        let uri = uri.map_err(ErrorObject::misread_params)?.uri;
        let listens = self.0.sessions.opened(&request.parts.client);
        let caller = timeout(self.0.limits.patience, listens).await;
        let caller = caller.map_err(|_| refusal::unattached(&self.0.name))?;
        let lease = self.lease(&request.parts).await?;
        let begun = caller.begin_to_follow(uri);
        // The relay hands the subscription to the call that listens, which must be there first.
        let attached = timeout(self.0.limits.list, caller.attached(lease.generation())).await;
        attached.map_err(|_| refusal::unattached(&self.0.name))?;
        let success = call(&lease, request).await?;
        begun.succeed(lease.shared());
        Ok(success)
    }

    /// Ends the subscription of a session to a resource.
    pub(super) async fn unfollow(&self, request: Request) -> Response {
        let uri = request.params.parse_all::<SubscribeParams>();
        let uri = uri.map_err(ErrorObject::misread_params)?.uri;
        let client = &request.parts.client;
        let Some(caller) = self.0.sessions.find(client) else {
            self.0.sessions.unfollow(client, &uri);
            return Ok(Success::empty());
        };
        if !caller.unfollow(&uri) {
            return Ok(Success::empty());
        }
        let lane = caller.lane().borrow().clone();
        match lane.running() {
            Some(lease) => call(&lease, request).await,
            None => Ok(Success::empty()),
        }
    }
}

/// One `subscriptions/listen`, over all connections that the server has meanwhile.
struct Subscription<'l> {
    lanes: &'l Lanes,
    wished: SubscriptionFilter,
    caller: Arc<ListeningCaller>,
    outbox: Outbox,
    acknowledgement: Acknowledgement,
    /// The last connection whose start was reported although the server did not acknowledge the
    /// subscription; 0 for none.
    reported: AtomicU64,
}

impl Subscription<'_> {
    /// Listens on the lane of the caller, and on the next one when the caller has moved.
    async fn run(&self, request: Request) -> Response {
        let mut lanes = self.caller.lane();
        let Inner { asking, pool, .. } = &*self.lanes.0;
        let (mut asking, mut regroups) = (asking.changes(), pool.regroups());
        let mut phases = pool.phases().subscribe();
        loop {
            let lane = lanes.borrow_and_update().clone();
            let mut listening = pin!(self.listen_on(&lane, &request));
            let mut is_closed = false;
            loop {
                tokio::select! {
                    outcome = &mut listening => return outcome,
                    // The pool closed it to make room for other callers.
                    () = lane.closed(), if !is_closed => {
                        is_closed = true;
                        self.regroup(&request.parts);
                    }
                    // Fails only if the caller is gone, which this holds. A caller that has moved back
                    // meanwhile goes on as before.
                    _ = lanes.changed() => if *lanes.borrow_and_update() != lane { break },
                    // From the first question of the server on, callers share other lanes.
                    Ok(()) = asking.changed() => self.regroup(&request.parts),
                    Ok(()) = regroups.changed() => self.regroup(&request.parts),
                    Ok(()) = phases.changed() => match is_closed {
                        // There may be room again.
                        true => self.regroup(&request.parts),
                        false => self.leave_stopped(&lane, &request.parts),
                    },
                    lists = self.caller.lists_came() => self.report_wanted(lists).await,
                }
            }
            self.caller.detach();
        }
    }

    /// Moves to the lane where calls of the caller go by now. If there is no room, the caller stays
    /// where it is until its next call, or until a lane is started or stopped.
    fn regroup(&self, parts: &Parts) {
        let purpose = if self.follows() { LanePurpose::Start } else { LanePurpose::Move };
        if let Ok(lane) = self.lanes.shared_lane(parts, purpose) {
            self.caller.move_to(&lane);
        }
    }

    /// Moves from a lane whose server does not run to one where it runs, if there is one: only there
    /// the server reports changes.
    fn leave_stopped(&self, lane: &Supervised, parts: &Parts) {
        if lane.is_stopped()
            && let Some(open) = self.lanes.open_lane(parts)
        {
            self.caller.move_to(&open);
        }
    }

    async fn listen_on(&self, lane: &Supervised, request: &Request) -> Response {
        let (mut changes, mut failures) = (lane.changes(), 0);
        loop {
            changes.mark_unchanged();
            let room = self.lanes.0.pool.room();
            // A lease does the same for a server that runs.
            let hold = self.follows().then(|| self.lanes.hold(lane)).flatten();
            let Some(lease) = self.connection(lane, hold.as_ref()).await else {
                self.acknowledge().await;
                self.leave_stopped(lane, &request.parts);
                let may_start =
                    async { if hold.is_some() { lane.may_start().await } else { room.await } };
                self.next_start(lane, &mut changes, may_start).await;
                continue;
            };
            drop((room, hold));
            let begin = Instant::now();
            match self.listen_through(&lease, request).await {
                _ if lease.is_closed() => {}
                // Not a refusal of the server.
                Some(Err(error)) if RelayFailure::of(&error).is_some() => {
                    let is_healthy = begin.elapsed() >= self.lanes.0.limits.healthy;
                    failures = if is_healthy { 1 } else { failures + 1 };
                    self.pause(failures).await;
                }
                Some(outcome) => return outcome,
                None => {}
            }
            if lease.is_closed() {
                drop(lease);
                self.acknowledge().await;
                if lane.has_failed() {
                    self.report_lists().await;
                }
            }
        }
    }

    /// Waits after a failure on the way to a server whose connection is still open.
    async fn pause(&self, failures: u32) {
        self.caller.detach();
        self.acknowledge().await;
        sleep(self.lanes.0.limits.pause(failures)).await;
    }

    /// Waits until the server was started, or may be started for a caller that follows its resources.
    async fn next_start(
        &self,
        lane: &Supervised,
        changes: &mut watch::Receiver<u64>,
        may_start: impl Future<Output = ()>,
    ) {
        // Not while the caller moves to another lane. Fails only if the caller is gone.
        let mut lanes = self.caller.lane();
        drop(lanes.wait_for(|now| now == lane).await);
        tokio::select! {
            // Fails only if the lane is gone, which this holds.
            _ = changes.changed() => {}
            () = may_start, if self.follows() => {}
        }
    }

    /// Whether the caller follows resources.
    fn follows(&self) -> bool {
        !self.wished.resource_subscriptions.is_empty() || !self.caller.followed().is_empty()
    }

    /// Listens on one connection. A server that does not acknowledge the subscription soon does not
    /// hold up the acknowledgement for the caller, which may concern other servers too. `None` if it
    /// does not do so at all.
    async fn listen_through(&self, lease: &Lease, request: &Request) -> Option<Response> {
        let limits = &self.lanes.0.limits;
        let begun = Arc::new(Notify::new());
        // Changes before the server acknowledges the subscription are not reported.
        let misses = self.acknowledgement.is_sent() || self.caller.misses();
        let mut listening = pin!(call(lease, self.request(request, lease.generation(), &begun)));
        tokio::select! {
            outcome = &mut listening => return Some(outcome),
            () = begun.notified() => {
                if misses {
                    self.report_everything(lease).await;
                }
                return Some(listening.await);
            }
            () = sleep(limits.patience) => {}
        }
        self.acknowledge().await;
        let generation = lease.generation();
        if misses && self.reported.swap(generation, Ordering::Relaxed) != generation {
            self.report_everything(lease).await;
        }
        tokio::select! {
            outcome = &mut listening => Some(outcome),
            () = begun.notified() => {
                self.report_everything(lease).await;
                Some(listening.await)
            }
            () = sleep(limits.list) => None,
        }
    }

    /// The connection to listen on. It is opened only to follow resources, and only if the limits allow
    /// it.
    async fn connection(&self, lane: &Supervised, hold: Option<&TakenLane>) -> Option<Lease> {
        let names = !self.wished.resource_subscriptions.is_empty();
        if hold.is_some()
            // Later its start is reported as a change.
            && let Ok(Ok(lease)) = timeout(self.lanes.0.limits.patience, lane.lease()).await
        {
            self.lanes.meet(&lease);
            if names {
                return Some(lease);
            }
            // Until the session has unsubscribed from all.
            self.caller.keep(lease);
        }
        lane.running()
    }

    /// The request for one connection: with the resources that the session follows by now. `begun` is
    /// notified when the server acknowledges it.
    fn request(&self, request: &Request, generation: u64, begun: &Arc<Notify>) -> Request {
        let mut request = request.clone();
        let mut filter = self.wished.clone();
        let followed = self.caller.followed();
        if !followed.is_empty() {
            filter.resource_subscriptions.extend(followed);
            request.params = request.params.with("notifications", &filter);
        }
        let (caller, begun) = (self.caller.clone(), begun.clone());
        let attach = move || {
            caller.attach(generation);
            begun.notify_one();
        };
        request.parts.outbox =
            self.acknowledgement.once(&self.outbox, request.parts.exchange, attach);
        request
    }

    /// Acknowledges what the server offers as far as it is known, unless that was done.
    async fn acknowledge(&self) {
        if !self.acknowledgement.note() {
            let honoured = self.wished.clone().honoured_by(&self.lanes.capabilities());
            self.report(ReportedChange::Acknowledged(honoured)).await;
        }
    }

    /// Reports that everything that the caller follows may have changed.
    async fn report_everything(&self, lease: &Lease) {
        self.lanes.meet(lease);
        self.report_lists().await;
        let followed = self.caller.followed().into_iter();
        for uri in followed.chain(self.wished.resource_subscriptions.iter().cloned()) {
            self.report(ReportedChange::Resource(uri)).await;
        }
    }

    async fn report_lists(&self) {
        let lists = [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources];
        self.report_wanted(lists).await;
    }

    async fn report_wanted(&self, lists: impl IntoIterator<Item = ReportedChange>) {
        for change in lists {
            if change.is_wanted_by(&self.wished) {
                self.report(change).await;
            }
        }
    }

    async fn report(&self, change: ReportedChange) {
        // Fails if the caller is gone; then this call is dropped.
        let _ = self.outbox.say(Outgoing::Change(change)).await;
    }
}
