//! The callers that listen, and the resources that legacy sessions among them follow.

use std::sync::{Arc, Mutex};

use bowline_proto::request::{ClientProfile, Owner, ReportedChange};
use bowline_proto::sync::lock;
use bowline_types::method::Method;
use tokio::sync::{Notify, watch};

use super::followed::FollowedResources;
use super::guards::Lease;
use super::table::LaneId;

/// The callers that listen now.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<Vec<Arc<ListeningCaller>>>,
    followed: Arc<FollowedResources>,
    /// Notified when a caller begins to listen.
    opened: Notify,
}

/// A caller that listens.
#[derive(Debug)]
pub(crate) struct ListeningCaller {
    /// All calls of a session share this allocation, so its address identifies the session.
    client: Arc<ClientProfile>,
    owner: Owner,
    /// The lists that the server gave and callers did not wait for, until they are reported.
    lists: Mutex<Vec<ReportedChange>>,
    /// Notified when there is one.
    lists_came: Notify,
    /// The lane that it listens on. For a session that of its last call, so that it also gets what the
    /// server sends there besides.
    lane: watch::Sender<LaneId>,
    followed: Arc<FollowedResources>,
    /// Keeps the server from being stopped while the session follows resources.
    lease: Mutex<Option<Lease>>,
    /// Whether the session followed resources before, and did not hear of their changes meanwhile.
    misses: bool,
    /// The connection whose changes the caller gets now; 0 for none.
    attached: watch::Sender<u64>,
}

impl Sessions {
    /// For a changed entry: sessions go on following the resources that they followed.
    pub(super) fn taking_over(earlier: &Self) -> Self {
        Self { followed: earlier.followed.clone(), ..Self::default() }
    }

    /// Adds a caller until the guard is dropped.
    pub(crate) fn open(
        self: &Arc<Self>,
        client: &Arc<ClientProfile>,
        (owner, lane): (Owner, LaneId),
    ) -> ListeningGuard {
        // A call that listens anew replaces the earlier one, which goes on until then.
        let misses = self.find(client).is_none() && !self.followed.is_empty(client);
        let caller = Arc::new(ListeningCaller {
            client: client.clone(),
            owner,
            lists: Mutex::default(),
            lists_came: Notify::new(),
            lane: watch::Sender::new(lane),
            followed: self.followed.clone(),
            lease: Mutex::default(),
            misses,
            attached: watch::Sender::new(0),
        });
        lock(&self.open).push(caller.clone());
        self.opened.notify_waiters();
        ListeningGuard { sessions: self.clone(), caller }
    }

    /// Notifies the callers of this owner that the server gave a list that they did not wait for.
    pub(super) fn notify_of_list(&self, owner: &Owner, method: Method) {
        let change = match method {
            Method::ToolsList => ReportedChange::Tools,
            Method::PromptsList => ReportedChange::Prompts,
            _ => ReportedChange::Resources,
        };
        for caller in lock(&self.open).iter().filter(|caller| caller.is_of(owner)) {
            let mut lists = lock(&caller.lists);
            if !lists.contains(&change) {
                lists.push(change.clone());
            }
            caller.lists_came.notify_one();
        }
    }

    /// Whether a caller of this owner listens.
    pub(super) fn has_listener(&self, owner: &Owner) -> bool {
        lock(&self.open).iter().any(|caller| caller.is_of(owner))
    }

    /// The caller with this profile. If several calls listen for it, the newest replaces the others.
    pub(crate) fn find(&self, client: &Arc<ClientProfile>) -> Option<Arc<ListeningCaller>> {
        lock(&self.open).iter().rev().find(|caller| Arc::ptr_eq(&caller.client, client)).cloned()
    }

    /// Whether a client of this owner listens that describes itself in the same words. Requests since
    /// 2026-07-28 share nothing else.
    pub(super) fn listens(&self, client: &ClientProfile, owner: &Owner) -> bool {
        let is_same = |other: &ClientProfile| {
            other.info == client.info && other.capabilities == client.capabilities
        };
        let open = lock(&self.open);
        open.iter().any(|caller| caller.is_of(owner) && is_same(&caller.client))
    }

    /// Waits for the caller with this profile. A session listens from its first moment on, but its
    /// first call may overtake that.
    pub(crate) async fn opened(&self, client: &Arc<ClientProfile>) -> Arc<ListeningCaller> {
        loop {
            let opened = self.opened.notified();
            if let Some(caller) = self.find(client) {
                return caller;
            }
            opened.await;
        }
    }

    /// Notes that a session that does not listen now follows a resource no more.
    pub(crate) fn unfollow(&self, client: &Arc<ClientProfile>, uri: &str) {
        self.followed.remove(client, uri);
    }
}

impl ListeningCaller {
    /// Whether this is its owner.
    pub(super) fn is_of(&self, owner: &Owner) -> bool {
        self.owner == *owner
    }

    /// Lets the caller listen on this lane.
    pub(crate) fn move_to(&self, lane: LaneId) {
        self.lane.send_if_modified(|now| std::mem::replace(now, lane) != lane);
    }

    /// The lane that it listens on.
    pub(crate) fn lane(&self) -> LaneId {
        *self.lane.borrow()
    }

    /// Waits until it listens on another lane than this.
    pub(crate) async fn moved_from(&self, lane: LaneId) {
        // Fails only if the caller is gone, which this holds.
        let _ = self.lane.subscribe().wait_for(|now| *now != lane).await;
    }

    /// Waits until the server gave lists that callers did not wait for.
    pub(crate) async fn lists_came(&self) -> Vec<ReportedChange> {
        self.lists_came.notified().await;
        std::mem::take(&mut *lock(&self.lists))
    }

    /// Notes that changes of this connection reach the caller.
    pub(crate) fn attach(&self, connection: u64) {
        self.attached.send_replace(connection);
    }

    /// Notes that no changes reach the caller now, because it moves to another lane.
    pub(crate) fn detach(&self) {
        self.attached.send_replace(0);
    }

    /// Waits until changes of this connection, and not those of another, reach the caller. Connections
    /// have no order here: a caller may move back to one that is older.
    pub(crate) async fn attached(&self, connection: u64) {
        let mut attached = self.attached.subscribe();
        // Fails only if the caller is gone.
        let _ = attached.wait_for(|now| *now == connection).await;
    }

    /// Notes a resource that the session is about to follow, so that each call that listens for it
    /// from now on subscribes to the resource.
    pub(crate) fn begin_to_follow(&self, uri: String) -> BegunFollowing<'_> {
        let is_new = self.followed.insert(&self.client, uri.clone());
        BegunFollowing { caller: self, uri: is_new.then_some(uri) }
    }

    /// Keeps the server running as long as the session follows a resource.
    pub(crate) fn keep(&self, lease: Lease) {
        let mut kept = lock(&self.lease);
        // Under the lock, so that no `unfollow` comes between.
        let earlier = match self.followed.is_empty(&self.client) {
            true => Some(lease),
            false => kept.replace(lease),
        };
        // Returned outside of the lock, because others wait for it.
        drop(kept);
        drop(earlier);
    }

    /// Notes that the session does not follow a resource any more. Gives whether it did.
    pub(crate) fn unfollow(&self, uri: &str) -> bool {
        let mut kept = lock(&self.lease);
        let was_followed = self.followed.remove(&self.client, uri);
        let lease = kept.take_if(|_| self.followed.is_empty(&self.client));
        drop(kept);
        drop(lease);
        was_followed
    }

    /// The resources that the session follows.
    pub(crate) fn followed(&self) -> Vec<String> {
        self.followed.of(&self.client)
    }

    /// Whether changes of resources that the session follows may be unknown to it when it begins to
    /// listen.
    pub(crate) fn misses(&self) -> bool {
        self.misses
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
        lock(&self.sessions.open).retain(|caller| !Arc::ptr_eq(caller, &self.caller));
    }
}
