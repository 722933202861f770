//! The callers that listen, and the resources that legacy sessions among them follow.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use bowline_proto::request::ClientProfile;
use bowline_proto::sync::lock;
use tokio::sync::{Notify, watch};

use super::key::LaneKey;
use crate::supervise::{Lease, Supervised};

/// The callers that listen now.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Vec<Arc<ListeningCaller>>>);

/// A caller that listens.
#[derive(Debug)]
pub(crate) struct ListeningCaller {
    /// All calls of a session share this allocation, so its address identifies the session.
    client: Arc<ClientProfile>,
    /// Names its owner.
    key: LaneKey,
    /// Notified when the server gave a list that callers did not wait for.
    lists: Notify,
    /// The lane that it listens on: that of its last call, so that it also gets what the server sends
    /// there besides.
    lane: watch::Sender<Supervised>,
    followed: Mutex<Followed>,
    /// The connection whose changes the caller gets now; 0 for none.
    attached: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Followed {
    uris: BTreeSet<String>,
    /// Keeps the server from being stopped.
    lease: Option<Lease>,
}

impl Sessions {
    /// Adds a caller until the guard is dropped.
    pub(crate) fn open(
        self: &Arc<Self>,
        client: &Arc<ClientProfile>,
        (key, lane): (LaneKey, Supervised),
    ) -> ListeningGuard {
        // A call that listens anew replaces the earlier one.
        let uris = self.find(client).map(|caller| lock(&caller.followed).uris.clone());
        let followed = Followed { uris: uris.unwrap_or_default(), lease: None };
        let caller = Arc::new(ListeningCaller {
            client: client.clone(),
            key,
            lists: Notify::new(),
            lane: watch::Sender::new(lane),
            followed: Mutex::new(followed),
            attached: watch::Sender::new(0),
        });
        lock(&self.0).push(caller.clone());
        ListeningGuard { sessions: self.clone(), caller }
    }

    /// Notifies the callers of this owner that the server gave a list that they did not wait for.
    pub(super) fn notify_of_lists(&self, key: &LaneKey) {
        for caller in lock(&self.0).iter().filter(|caller| caller.is_of(key)) {
            caller.lists.notify_one();
        }
    }

    /// The caller with this profile. If several calls listen for it, the newest replaces the others.
    pub(crate) fn find(&self, client: &Arc<ClientProfile>) -> Option<Arc<ListeningCaller>> {
        lock(&self.0).iter().rev().find(|caller| Arc::ptr_eq(&caller.client, client)).cloned()
    }
}

impl ListeningCaller {
    /// Whether it has the owner that a key names.
    pub(super) fn is_of(&self, key: &LaneKey) -> bool {
        self.key.has_owner_of(key)
    }

    /// Lets the caller listen on this lane.
    pub(crate) fn move_to(&self, lane: &Supervised) {
        self.lane.send_if_modified(|now| {
            let is_other = now != lane;
            now.clone_from(lane);
            is_other
        });
    }

    /// The lane that it listens on.
    pub(crate) fn lane(&self) -> watch::Receiver<Supervised> {
        self.lane.subscribe()
    }

    /// Waits until the server gave a list that callers did not wait for.
    pub(crate) async fn lists_came(&self) {
        self.lists.notified().await;
    }

    /// Notes that changes of this connection reach the caller.
    pub(crate) fn attach(&self, generation: u64) {
        self.attached.send_replace(generation);
    }

    /// Notes that no changes reach the caller now, because it moves to another lane.
    pub(crate) fn detach(&self) {
        self.attached.send_replace(0);
    }

    /// Waits until changes of this connection, and not those of another, reach the caller. Connections
    /// have no order here: a caller may move back to one that is older.
    pub(crate) async fn attached(&self, generation: u64) {
        let mut attached = self.attached.subscribe();
        // Fails only if the caller is gone.
        let _ = attached.wait_for(|now| *now == generation).await;
    }

    /// Notes a resource that the session is about to follow, so that each call that listens for it
    /// from now on subscribes to the resource.
    pub(crate) fn begin_to_follow(&self, uri: String) -> BegunFollowing<'_> {
        let is_new = lock(&self.followed).uris.insert(uri.clone());
        BegunFollowing { caller: self, uri: is_new.then_some(uri) }
    }

    /// Keeps the server running as long as the session follows a resource.
    pub(crate) fn keep(&self, lease: Lease) {
        let mut followed = lock(&self.followed);
        followed.lease = Some(lease).filter(|_| !followed.uris.is_empty());
    }

    /// Notes that the session does not follow a resource any more. Gives whether it did.
    pub(crate) fn unfollow(&self, uri: &str) -> bool {
        let mut followed = lock(&self.followed);
        let was_followed = followed.uris.remove(uri);
        // Returned outside of the lock, because others wait for it.
        let is_last = followed.uris.is_empty();
        let lease = followed.lease.take_if(|_| is_last);
        drop(followed);
        drop(lease);
        was_followed
    }

    /// The resources that the session follows.
    pub(crate) fn followed(&self) -> Vec<String> {
        lock(&self.followed).uris.iter().cloned().collect()
    }
}

/// A resource that a session is about to follow. Dropping it says that the session does not.
#[must_use]
pub(crate) struct BegunFollowing<'c> {
    caller: &'c ListeningCaller,
    /// `None` if the session follows it anyway.
    uri: Option<String>,
}

impl BegunFollowing<'_> {
    /// The session follows it from now on, which keeps the server running.
    pub(crate) fn succeed(mut self, lease: Lease) {
        self.uri = None;
        self.caller.keep(lease);
    }
}

impl Drop for BegunFollowing<'_> {
    fn drop(&mut self) {
        if let Some(uri) = self.uri.take() {
            self.caller.unfollow(&uri);
        }
    }
}

/// Removes a caller when it is dropped.
#[derive(Debug)]
pub(crate) struct ListeningGuard {
    sessions: Arc<Sessions>,
    pub(crate) caller: Arc<ListeningCaller>,
}

impl Drop for ListeningGuard {
    fn drop(&mut self) {
        lock(&self.sessions.0).retain(|caller| !Arc::ptr_eq(caller, &self.caller));
    }
}
