//! Notifies clients of changes.
//!
//! Every `subscriptions/listen` is a subscriber, whether a client sent it or the connection opened it for
//! a legacy session. A subscriber has a set of pending changes, not a queue: a client that reads
//! slowly gets one notification for each changed thing, however often it changed meanwhile.

#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only processes over HTTP share changes")
)]
mod shared;

use std::collections::{BTreeSet, HashMap};
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::request::{
    ExchangeId, Outbox, Outgoing, Parts, ReportedChange, Response, Sink, Success, is_part_of,
};
use bowline_proto::sync::lock;
use bowline_types::error::ErrorObject;
use bowline_types::subscription::SubscriptionFilter;
use tokio::time::{Instant, timeout_at};

use crate::call::Call;
use crate::error::{Error, Result as HandlerResult};
use crate::extract::FromCall;
use crate::signature::HandlerSignature;
use crate::sync::Signal;
use crate::task::FollowedTasks;

use self::shared::Sharing;

/// The most pending resources of a subscriber that are notified one by one. Beyond that the
/// subscriber is notified of the URIs that it subscribed to, whose number it has chosen itself. A
/// legacy session may subscribe at any time, so it is notified of all: at most as many as the server
/// has.
const MOST_RESOURCES: usize = 1024;

/// How long a subscription waits for mounted servers to acknowledge it.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(5);

/// Notifies clients of what changed. Cheap to clone.
///
/// Get it from [`Server::notify`](crate::Server::notify), or take it as a parameter of a handler.
///
/// ```
/// use bowline_server::{Notify, Server, Tool};
///
/// async fn save(notify: Notify) -> &'static str {
///     notify.resource_updated("file:///notes.txt");
///     "saved"
/// }
///
/// let server = Server::new("notes", "1.0.0").tool(Tool::new("save", save));
/// # assert!(server.build().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Notify(Arc<Mutex<Subscribers>>);

impl FromCall for Notify {
    /// The same for every caller.
    fn describe(_: &mut HandlerSignature) {}

    async fn from_call(call: &Call) -> HandlerResult<Self> {
        call.handle().cloned().ok_or_else(|| Error::from("the server has no notifier"))
    }
}

#[derive(Debug, Default)]
struct Subscribers {
    last: u64,
    by_number: HashMap<u64, Arc<Subscriber>>,
    /// Set if other processes share the changes.
    sharing: Option<Sharing>,
}

#[derive(Debug)]
struct Subscriber {
    request: ListenRequest,
    pending: Mutex<PendingChanges>,
    /// Has a permit while anything may be pending.
    woken: tokio::sync::Notify,
}

/// Changes that a subscriber was not notified of yet.
#[derive(Debug, Default)]
struct PendingChanges {
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: BTreeSet<String>,
}

impl Notify {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// The list of tools changed. Registering and removing a tool does this already.
    pub fn tools_changed(&self) {
        self.report(&ReportedChange::Tools);
    }

    /// The list of prompts changed.
    pub fn prompts_changed(&self) {
        self.report(&ReportedChange::Prompts);
    }

    /// The list of resources changed.
    pub fn resources_changed(&self) {
        self.report(&ReportedChange::Resources);
    }

    /// A resource changed. Notifies clients that subscribed to it, or to a URI that it is a part of.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.report(&ReportedChange::Resource(uri.into()));
    }

    fn report(&self, change: &ReportedChange) {
        self.report_to_all_but(None, change);
    }

    /// Adds a change to what all subscribers but one are notified of.
    fn report_to_all_but(&self, except: Option<u64>, change: &ReportedChange) {
        let all = lock(&self.0);
        let others = all.by_number.iter().filter(|(number, _)| Some(**number) != except);
        let subscribers: Vec<_> = others.map(|(_, subscriber)| subscriber.clone()).collect();
        drop(all);
        for subscriber in subscribers {
            subscriber.add(change);
        }
    }

    fn subscribe(&self, request: ListenRequest) -> Subscription {
        let (number, subscriber) = self.add_subscriber(request);
        Subscription { number, subscriber, notify: self.clone() }
    }

    fn add_subscriber(&self, request: ListenRequest) -> (u64, Arc<Subscriber>) {
        let (pending, woken) = Default::default();
        let subscriber = Arc::new(Subscriber { request, pending, woken });
        let mut subscribers = lock(&self.0);
        subscribers.last += 1;
        let number = subscribers.last;
        subscribers.by_number.insert(number, subscriber.clone());
        (number, subscriber)
    }
}

/// The changes that a subscriber asked for.
#[derive(Debug)]
pub(crate) struct ListenRequest {
    pub(crate) filter: SubscriptionFilter,
    /// Whether every resource is wanted, whatever the filter names.
    pub(crate) every_resource: bool,
}

/// One `subscriptions/listen` that is served.
pub(crate) struct ListenStream {
    /// Registered before anything is acknowledged, so that no change after that is missed.
    subscription: Subscription,
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
    async fn honoured(&self) -> SubscriptionFilter {
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

/// A subscriber's place among the others; dropping it ends the subscription.
struct Subscription {
    number: u64,
    subscriber: Arc<Subscriber>,
    notify: Notify,
}

impl Subscription {
    /// Waits until there is a pending change.
    async fn changed(&self) {
        while lock(&self.subscriber.pending).is_empty() {
            self.subscriber.woken.notified().await;
        }
    }

    /// Takes a pending change.
    fn take(&self) -> Option<ReportedChange> {
        lock(&self.subscriber.pending).take()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        lock(&self.notify.0).by_number.remove(&self.number);
    }
}

impl Subscriber {
    fn add(&self, change: &ReportedChange) {
        let mut pending = lock(&self.pending);
        match change {
            // Tasks are followed in the store.
            ReportedChange::Acknowledged(_) | ReportedChange::Task { .. } => {}
            ReportedChange::Tools => pending.tools |= self.request.filter.tools_list_changed,
            ReportedChange::Prompts => pending.prompts |= self.request.filter.prompts_list_changed,
            ReportedChange::Resources => {
                pending.resources |= self.request.filter.resources_list_changed;
            }
            ReportedChange::Resource(uri) => {
                if let Some(subscribed) = self.subscribed(uri) {
                    let is_full = pending.updated.len() >= MOST_RESOURCES;
                    pending.updated.insert(if is_full { subscribed } else { uri }.to_owned());
                }
            }
        }
        drop(pending);
        self.woken.notify_one();
    }

    /// What was subscribed to that this resource is, or is a part of.
    fn subscribed<'a>(&'a self, uri: &'a str) -> Option<&'a str> {
        let ListenRequest { filter, every_resource } = &self.request;
        let mut named = filter.resource_subscriptions.iter().map(String::as_str);
        named.find(|whole| is_part_of(uri, whole)).or(every_resource.then_some(uri))
    }
}

impl PendingChanges {
    fn is_empty(&self) -> bool {
        !self.tools && !self.prompts && !self.resources && self.updated.is_empty()
    }

    fn take(&mut self) -> Option<ReportedChange> {
        let lists = [
            (&mut self.tools, ReportedChange::Tools),
            (&mut self.prompts, ReportedChange::Prompts),
            (&mut self.resources, ReportedChange::Resources),
        ];
        for (is_pending, change) in lists {
            if std::mem::take(is_pending) {
                return Some(change);
            }
        }
        self.updated.pop_first().map(ReportedChange::Resource)
    }
}

#[cfg(test)]
mod tests;
