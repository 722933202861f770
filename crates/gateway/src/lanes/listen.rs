//! Subscriptions that outlive the connection to the server: when it is started again, its callers
//! hear that everything they follow may have changed.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bowline_client::RelayFailure;
use bowline_proto::request::{Outbox, Outgoing, ReportedChange, Request, Response, Success};
use bowline_proto::upstream::Upstream;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::guards::Lease;
use super::key::LaneCaller;
use super::sessions::ListeningCaller;
use super::table::{LaneId, LanePurpose, Start};
use super::{Lanes, call};
use crate::acknowledge::Acknowledgement;
use crate::refusal;

impl Lanes {
    /// Serves `subscriptions/listen` until its caller is gone.
    pub(super) async fn listen(&self, request: Request) -> Response {
        let params: ListenParams =
            request.params.parse_all().map_err(ErrorObject::misread_params)?;
        let names = !params.notifications.resource_subscriptions.is_empty();
        let purpose = if names { LanePurpose::Start } else { LanePurpose::Wait };
        if self.is_closed()
            && let Some(next) = self.0.successor.get()
        {
            return Box::pin(next.listen(request)).await;
        }
        let caller = self.caller(&request.parts);
        let lane = self.shared_lane(caller.clone(), purpose)?;
        let guard = self.0.sessions.open(&request.parts.client, (caller.owner.clone(), lane));
        let subscription = Subscription {
            lanes: self,
            wished: params.notifications,
            caller,
            listening: guard.caller.clone(),
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
        let attached = timeout(self.0.limits.list, caller.attached(lease.number())).await;
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
        match self.0.driver.running(caller.lane()) {
            Some(lease) => call(&lease, request).await,
            None => Ok(Success::empty()),
        }
    }
}

/// One `subscriptions/listen`, over all connections that the server has meanwhile.
struct Subscription<'l> {
    lanes: &'l Lanes,
    wished: SubscriptionFilter,
    caller: LaneCaller,
    listening: Arc<ListeningCaller>,
    outbox: Outbox,
    acknowledgement: Acknowledgement,
    /// The last connection whose start was reported although the server did not acknowledge the
    /// subscription; 0 for none.
    reported: AtomicU64,
}

impl Subscription<'_> {
    /// Listens on the lane of the caller, and on the next one when the caller has moved.
    async fn run(&self, request: Request) -> Response {
        let mut changes = self.lanes.0.driver.changes();
        loop {
            let lane = self.listening.lane();
            let mut listening = pin!(self.listen_on(lane, &request));
            loop {
                tokio::select! {
                    // A caller that has moved starts no server on its earlier lane.
                    biased;
                    () = self.listening.moved_from(lane) => break,
                    // Fails only if the lanes are gone, which this holds.
                    _ = changes.changed() => self.move_on(lane),
                    outcome = &mut listening => return outcome,
                    lists = self.listening.lists_came() => self.report_wanted(lists).await,
                }
            }
            self.listening.detach();
        }
    }

    /// Moves to a lane that suits better by now, if there is one.
    fn move_on(&self, lane: LaneId) {
        let purpose = if self.follows() { LanePurpose::Start } else { LanePurpose::Move };
        if let Some(better) = self.lanes.better_lane(lane, &self.caller, purpose) {
            self.listening.move_to(better);
        }
    }

    async fn listen_on(&self, lane: LaneId, request: &Request) -> Response {
        let mut failures = 0;
        loop {
            let lease = self.connection(lane).await;
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
                if self.lanes.0.driver.look(|table| table.has_failed(lane)) {
                    self.report_lists().await;
                }
            }
        }
    }

    /// Waits after a failure on the way to a server whose connection is still open.
    async fn pause(&self, failures: u32) {
        self.listening.detach();
        self.acknowledge().await;
        sleep(self.lanes.0.limits.pause(failures)).await;
    }

    /// The connection to listen on, as soon as there is one. It is opened only to follow resources, and
    /// only if the limits allow it. Its start is reported as a change if it takes long.
    async fn connection(&self, lane: LaneId) -> Lease {
        let driver = &self.lanes.0.driver;
        loop {
            let (start, patience) = match self.follows() {
                true => (Start::WhenAllowed, self.lanes.0.limits.patience),
                false => (Start::Never, Duration::ZERO),
            };
            let mut attaching = pin!(driver.attach(lane, start));
            let attached = match timeout(patience, &mut attaching).await {
                Ok(attached) => attached,
                Err(_) => {
                    self.acknowledge().await;
                    attaching.await
                }
            };
            match attached {
                Ok(lease) if start == Start::Never => return lease,
                Ok(lease) => {
                    self.lanes.meet(&lease);
                    if !self.wished.resource_subscriptions.is_empty() {
                        return lease;
                    }
                    // Until the session has unsubscribed from all.
                    self.listening.keep(lease);
                    if let Some(lease) = driver.running(lane) {
                        return lease;
                    }
                }
                Err(_) => self.acknowledge().await,
            }
        }
    }

    /// Whether the caller follows resources.
    fn follows(&self) -> bool {
        !self.wished.resource_subscriptions.is_empty() || !self.listening.followed().is_empty()
    }

    /// Listens on one connection. A server that does not acknowledge the subscription soon does not
    /// hold up the acknowledgement for the caller, which may concern other servers too. `None` if it
    /// does not do so at all.
    async fn listen_through(&self, lease: &Lease, request: &Request) -> Option<Response> {
        let limits = &self.lanes.0.limits;
        let begun = Arc::new(Notify::new());
        // Changes before the server acknowledges the subscription are not reported.
        let misses = self.acknowledgement.is_sent() || self.listening.misses();
        let mut listening = pin!(call(lease, self.request(request, lease.number(), &begun)));
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
        let number = lease.number();
        if misses && self.reported.swap(number, Ordering::Relaxed) != number {
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

    /// The request for one connection: with the resources that the session follows by now. `begun` is
    /// notified when the server acknowledges it.
    fn request(&self, request: &Request, connection: u64, begun: &Arc<Notify>) -> Request {
        let mut request = request.clone();
        let mut filter = self.wished.clone();
        let followed = self.listening.followed();
        if !followed.is_empty() {
            filter.resource_subscriptions.extend(followed);
            request.params = request.params.with("notifications", &filter);
        }
        let (caller, begun) = (self.listening.clone(), begun.clone());
        let attach = move || {
            caller.attach(connection);
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
        let followed = self.listening.followed().into_iter();
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
        let _ = self.outbox.send(Outgoing::Change(change)).await;
    }
}
