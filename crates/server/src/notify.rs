//! Notifies clients of changes.
//!
//! Every `subscriptions/listen` is a subscriber, whether a client sent it or the connection opened it for
//! a legacy session. A subscriber has a set of pending changes, not a queue: a client that reads
//! slowly gets one notification for each changed thing, however often it changed meanwhile.

mod listen;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only processes over HTTP share changes")
)]
mod shared;
mod subscriber;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bowline_proto::request::ReportedChange;
use bowline_proto::sync::lock;

use crate::call::Call;
use crate::error::{Error, Result as HandlerResult};
use crate::extract::FromCall;
use crate::signature::HandlerSignature;

pub(crate) use self::listen::ListenStream;
use self::shared::Sharing;
pub(crate) use self::subscriber::ListenRequest;
use self::subscriber::Subscriber;

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
        let subscriber = Arc::new(Subscriber::new(request));
        let mut subscribers = lock(&self.0);
        subscribers.last += 1;
        let number = subscribers.last;
        subscribers.by_number.insert(number, subscriber.clone());
        (number, subscriber)
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

#[cfg(test)]
mod tests;
