//! Passes changes on between processes that share a store, so that a client is notified of a change
//! in any of them.
//!
//! Changes within a tenth of a second are published together. The process that publishes a change has
//! notified its own clients already.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bowline_proto::request::ReportedChange;
use bowline_proto::sync::lock;
use bowline_store::backend::BoxStream;
use bowline_store::{Backend, Key};
use bowline_transport::task::spawn_on;
use bowline_types::subscription::SubscriptionFilter;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;

use super::subscriber::{ListenRequest, PendingChanges, Subscriber};
use super::{Notify, Subscribers};

/// Changes within this time are published together.
const TOGETHER: Duration = Duration::from_millis(100);

/// How long to wait after the store failed.
const PAUSE: Duration = Duration::from_secs(1);

/// The tasks that publish and receive. They end with the notifier.
pub(super) struct Sharing {
    tasks: [JoinHandle<()>; 2],
    publisher: Arc<Publisher>,
}

impl fmt::Debug for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharing").finish_non_exhaustive()
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// What one process publishes.
#[derive(Default, Serialize, Deserialize)]
struct SharedChanges {
    /// The process, which has handled the changes already.
    origin: u64,
    #[serde(default)]
    tools: bool,
    #[serde(default)]
    prompts: bool,
    #[serde(default)]
    resources: bool,
    #[serde(default)]
    updated: BTreeSet<String>,
}

fn topic() -> Key {
    Key::new(["changes"])
}

impl Notify {
    /// Exchanges changes with the other processes that share a store. Does nothing the second time,
    /// or without a runtime.
    pub(crate) fn share(&self, store: &Arc<dyn Backend>) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut bytes = [0; 8];
        if getrandom::fill(&mut bytes).is_err() || lock(&self.0).sharing.is_some() {
            return;
        }
        let origin = u64::from_ne_bytes(bytes);
        let (number, own) = self.add_subscriber(everything());
        let (store, turn) = (store.clone(), AsyncMutex::default());
        let publisher = Arc::new(Publisher { store: store.clone(), own, origin, turn });
        let publishes = spawn_on(&runtime, publisher.clone().publish_all());
        let to = Receiver { subscribers: Arc::downgrade(&self.0), number, origin };
        let receives = spawn_on(&runtime, to.receive_all(store));
        lock(&self.0).sharing = Some(Sharing { tasks: [publishes, receives], publisher });
    }

    /// Publishes at once what is pending for other processes: this one is about to end.
    pub(crate) async fn publish_now(&self) {
        let publisher = lock(&self.0).sharing.as_ref().map(|sharing| sharing.publisher.clone());
        if let Some(publisher) = publisher {
            publisher.publish().await;
        }
    }
}

fn everything() -> ListenRequest {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = true;
    filter.prompts_list_changed = true;
    filter.resources_list_changed = true;
    ListenRequest { filter, every_resource: true }
}

/// Publishes what its subscriber is notified of.
struct Publisher {
    store: Arc<dyn Backend>,
    own: Arc<Subscriber>,
    origin: u64,
    /// Held while changes that are not pending any more are being published.
    turn: AsyncMutex<()>,
}

impl Publisher {
    async fn publish_all(self: Arc<Self>) {
        loop {
            while lock(&self.own.pending).is_empty() {
                self.own.woken.notified().await;
            }
            tokio::time::sleep(TOGETHER).await;
            self.publish().await;
        }
    }

    /// Publishes what is pending. What the store does not take is published later.
    async fn publish(&self) {
        let _turn = self.turn.lock().await;
        let pending = std::mem::take(&mut *lock(&self.own.pending));
        if pending.is_empty() {
            return;
        }
        let (origin, PendingChanges { tools, prompts, resources, updated }) =
            (self.origin, pending);
        let changes = SharedChanges { origin, tools, prompts, resources, updated };
        let text = serde_json::to_vec(&changes).unwrap_or_default();
        while self.store.publish(&topic(), text.clone().into()).await.is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Notifies the clients of this process of changes in others.
struct Receiver {
    subscribers: Weak<Mutex<Subscribers>>,
    /// The subscriber that publishes: it must not publish again what others have.
    number: u64,
    origin: u64,
}

impl Receiver {
    async fn receive_all(self, store: Arc<dyn Backend>) {
        loop {
            if let Ok(mut messages) = store.listen(&topic()).await {
                // What others published before is lost, also for clients that subscribed while this
                // process joined.
                self.report_everything();
                while let Some(message) = next(&mut messages).await {
                    self.handle(&message);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn handle(&self, message: &Bytes) {
        if message.is_empty() {
            return self.report_everything();
        }
        // A process of another version may publish what this one cannot read.
        let Ok(changes) = serde_json::from_slice::<SharedChanges>(message) else { return };
        if changes.origin == self.origin {
            return;
        }
        let SharedChanges { tools, prompts, resources, updated, .. } = changes;
        let mut pending = PendingChanges { tools, prompts, resources, updated };
        while let Some(change) = pending.take() {
            self.report(&change);
        }
    }

    /// Messages may have been missed, so anything may have changed. What a session with a handshake
    /// follows is known to its connection alone, which reports it for itself.
    fn report_everything(&self) {
        let lists = [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources];
        lists.iter().for_each(|change| self.report(change));
        let Some(subscribers) = self.subscribers.upgrade() else { return };
        let subscribers: Vec<_> = lock(&subscribers).by_number.values().cloned().collect();
        for subscriber in subscribers {
            for uri in &subscriber.request.filter.resource_subscriptions {
                subscriber.add(&ReportedChange::Resource(uri.clone()));
            }
        }
    }

    fn report(&self, change: &ReportedChange) {
        if let Some(subscribers) = self.subscribers.upgrade() {
            Notify(subscribers).report_to_all_but(Some(self.number), change);
        }
    }
}

async fn next(messages: &mut BoxStream<'static, Bytes>) -> Option<Bytes> {
    std::future::poll_fn(|cx| messages.as_mut().poll_next(cx)).await
}
