//! The resources that legacy sessions follow at one server. They outlive the connections to the
//! server, and its entry in the configuration file: a changed entry takes them over.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use bowline_proto::request::ClientProfile;
use bowline_proto::sync::lock;

/// The resources that sessions follow.
#[derive(Debug, Default)]
pub(super) struct FollowedResources(Mutex<Vec<FollowingSession>>);

#[derive(Debug)]
struct FollowingSession {
    /// Does not keep the session open. All calls of a session share this allocation, so its address
    /// identifies the session.
    client: Weak<ClientProfile>,
    uris: BTreeSet<String>,
}

impl FollowedResources {
    /// Those of one session.
    pub(super) fn of(&self, client: &Arc<ClientProfile>) -> Vec<String> {
        let sessions = self.lock();
        let session = sessions.iter().find(|session| session.is_of(client));
        session.into_iter().flat_map(|session| session.uris.iter().cloned()).collect()
    }

    /// Whether the session follows none.
    pub(super) fn is_empty(&self, client: &Arc<ClientProfile>) -> bool {
        !self.lock().iter().any(|session| session.is_of(client))
    }

    /// Adds a resource. Gives whether the session did not follow it before.
    pub(super) fn insert(&self, client: &Arc<ClientProfile>, uri: String) -> bool {
        let mut sessions = self.lock();
        if let Some(session) = sessions.iter_mut().find(|session| session.is_of(client)) {
            return session.uris.insert(uri);
        }
        // Nothing else notices that a session has ended.
        sessions.retain(|session| session.client.strong_count() > 0);
        let (client, uris) = (Arc::downgrade(client), BTreeSet::from([uri]));
        sessions.push(FollowingSession { client, uris });
        true
    }

    /// Removes a resource. Gives whether the session followed it.
    pub(super) fn remove(&self, client: &Arc<ClientProfile>, uri: &str) -> bool {
        let mut sessions = self.lock();
        let Some(at) = sessions.iter().position(|session| session.is_of(client)) else {
            return false;
        };
        let was_followed = sessions[at].uris.remove(uri);
        if sessions[at].uris.is_empty() {
            sessions.swap_remove(at);
        }
        was_followed
    }

    fn lock(&self) -> MutexGuard<'_, Vec<FollowingSession>> {
        lock(&self.0)
    }
}

impl FollowingSession {
    fn is_of(&self, client: &Arc<ClientProfile>) -> bool {
        self.client.as_ptr() == Arc::as_ptr(client)
    }
}
