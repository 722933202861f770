//! One `subscriptions/listen` that is served: changes of this server, of the servers that it mounts,
//! and of tasks.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::request::{
    ExchangeId, Outbox, Outgoing, Parts, ReportedChange, Response, Sink, Success,
};
use bowline_proto::sync::lock;
use bowline_types::error::ErrorObject;
use bowline_types::subscription::SubscriptionFilter;
use tokio::time::{Instant, timeout_at};

use super::subscriber::{ListenRequest, Subscriber};
use super::{Notify, Subscription};
use crate::sync::Signal;
use crate::task::FollowedTasks;

/// How long a subscription waits for mounted servers to acknowledge it.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(5);

/// One `subscriptions/listen` that is served.
pub(crate) struct ListenStream {
    /// Registered before anything is acknowledged, so that no change after that is missed.
    pub(super) subscription: Subscription,
    /// What the server itself honours of the request.
    own: SubscriptionFilter,
    /// What passes on the changes of others.
    relays: Mutex<Vec<Arc<MountRelay>>>,
    /// The tasks that it follows, until it sends their changes.
    tasks: Mutex<Option<FollowedTasks>>,
}

impl ListenStream {
    pub(crate) fn new(notify: &Notify, request: ListenRequest, own: SubscriptionFilter) -> Self {
        let (relays, tasks) = Default::default();
        Self { subscription: notify.subscribe(request), own, relays, tasks }
    }

    /// Reports the changes of these tasks too.
    pub(crate) fn follow(&self, tasks: FollowedTasks) {
        *lock(&self.tasks) = Some(tasks);
    }

    pub(crate) fn request(&self) -> &ListenRequest {
        &self.subscription.subscriber.request
    }

    /// Where another server's changes go, to be sent with our own. Ours is acknowledged when it has
    /// acknowledged the subscription, or has [ended](MountRelay::end). If it does neither for some
    /// seconds, `expected` is promised on its behalf.
    /// Log messages and questions of the other server go to the outbox.
    pub(crate) fn relay(&self, expected: SubscriptionFilter, outbox: Outbox) -> Arc<MountRelay> {
        let subscriber = self.subscription.subscriber.clone();
        let (honoured, is_acknowledged, is_late) = Default::default();
        let relay = MountRelay { subscriber, expected, honoured, is_acknowledged, is_late, outbox };
        let relay = Arc::new(relay);
        lock(&self.relays).push(relay.clone());
        relay
    }

    /// Acknowledges, and then sends changes until the client is gone or this is dropped. Changes of
    /// resources that are hidden from the caller are not sent, even if they are a part of a URI that
    /// it subscribed to.
    pub(crate) async fn send_changes(
        &self,
        parts: &Parts,
        is_hidden: impl Fn(&str, &Parts) -> bool,
    ) -> Response {
        let mut tasks = lock(&self.tasks).take();
        let mut honoured = self.honoured().await;
        honoured.task_ids = tasks.as_ref().map(FollowedTasks::ids).unwrap_or_default();
        let mut change = ReportedChange::Acknowledged(honoured.clone());
        while parts.outbox.send(Outgoing::Change(change)).await.is_ok() {
            change = loop {
                self.changed(&mut tasks).await?;
                // Changes while there is no room are joined.
                parts.outbox.ready().await;
                let Some(change) = self.take(&mut tasks).await? else { continue };
                let is_promised = change.is_wanted_by(&honoured) || self.request().every_resource;
                match &change {
                    ReportedChange::Resource(uri) if is_hidden(uri, parts) => {}
                    _ if is_promised => break change,
                    _ => {}
                }
            };
        }
        Ok(Success::empty())
    }

    /// Waits until there may be a change to report.
    async fn changed(&self, tasks: &mut Option<FollowedTasks>) -> Result<(), ErrorObject> {
        let Some(tasks) = tasks else {
            self.subscription.changed().await;
            return Ok(());
        };
        let mut own = pin!(self.subscription.changed());
        poll_fn(|cx| match own.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => tasks.poll_changed(cx),
        })
        .await
    }

    /// Takes a pending change.
    async fn take(
        &self,
        tasks: &mut Option<FollowedTasks>,
    ) -> Result<Option<ReportedChange>, ErrorObject> {
        match (self.subscription.take(), tasks) {
            (None, Some(tasks)) => tasks.take().await,
            (change, _) => Ok(change),
        }
    }

    /// The part of the request that this server or a mounted server honours.
    pub(super) async fn honoured(&self) -> SubscriptionFilter {
        let relays = lock(&self.relays).clone();
        let mut honoured = self.own.clone();
        let until = Instant::now() + ACKNOWLEDGED_WITHIN;
        for relay in &relays {
            let other = relay.honoured_by(until).await;
            honoured.tools_list_changed |= other.tools_list_changed;
            honoured.prompts_list_changed |= other.prompts_list_changed;
            honoured.resources_list_changed |= other.resources_list_changed;
            honoured.resource_subscriptions.extend(other.resource_subscriptions);
        }
        // In the order in which they were asked for, and each once.
        let known = honoured.resource_subscriptions;
        honoured.resource_subscriptions = self.request().filter.resource_subscriptions.clone();
        honoured.resource_subscriptions.retain(|uri| known.contains(uri));
        honoured
    }
}

/// Passes the changes of another server on.
pub(crate) struct MountRelay {
    subscriber: Arc<Subscriber>,
    /// What the other was asked for.
    expected: SubscriptionFilter,
    honoured: Mutex<SubscriptionFilter>,
    /// Raised when it is known what the other honours.
    is_acknowledged: Signal,
    /// Whether changes were promised before the other acknowledged the subscription.
    is_late: AtomicBool,
    /// Of the call that listens.
    outbox: Outbox,
}

impl MountRelay {
    /// The other server will send no more changes.
    pub(crate) fn end(&self) {
        self.is_acknowledged.raise();
    }

    /// What the other server honours; what it was asked for if it does not say so in time.
    async fn honoured_by(&self, until: Instant) -> SubscriptionFilter {
        match timeout_at(until, self.is_acknowledged.raised()).await {
            Ok(()) => std::mem::take(&mut *lock(&self.honoured)),
            Err(_) => {
                self.is_late.store(true, Ordering::Relaxed);
                self.expected.clone()
            }
        }
    }

    /// Reports everything that was promised: it may have changed before the other began to report.
    fn report_everything(&self) {
        let lists = [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources];
        let resources = self.expected.resource_subscriptions.iter().cloned();
        for change in lists.into_iter().chain(resources.map(ReportedChange::Resource)) {
            if change.is_wanted_by(&self.expected) {
                self.subscriber.add(&change);
            }
        }
    }
}

impl Sink for MountRelay {
    /// Changes always have room, because those that wait are a set. Everything else needs room in the
    /// outbox of the call, and what comes next is not known here.
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        match outgoing {
            Outgoing::Change(ReportedChange::Acknowledged(honoured)) => {
                *lock(&self.honoured) = honoured;
                self.is_acknowledged.raise();
                if self.is_late.swap(false, Ordering::Relaxed) {
                    self.report_everything();
                }
            }
            Outgoing::Change(change) => self.subscriber.add(&change),
            other => return self.outbox.emit(other),
        }
        Ok(())
    }
}
