//! All sessions of an endpoint: found by id and owner, bounded in number, swept when idle.
//!
//! A session is here from the end of its handshake (2024-11-05: from its GET on) until it is
//! deleted, idle for too long, or pushed out by others. A session for one request is never here.

mod received;
mod sweep;
mod table;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use bowline_proto::request::Owner;
use bowline_proto::sync::lock;
use bowline_store::backend::Error;
use bowline_store::lease;
use bowline_transport::task::spawn;
use tokio::sync::{Notify, OnceCell};
use tokio::task::JoinHandle;

pub(super) use self::table::Full;
use self::table::{Bounds, Idle};
use super::super::callers::Caller;
use super::super::clock::now;
use super::super::core::Core;
use super::super::random_id;
use super::session::{HttpSession, SessionKind};
use super::{broadcast, replica};

/// The sessions of an endpoint. Dropping it closes them.
pub(in super::super) struct OpenSessions {
    pub(super) core: Arc<Core>,
    table: Arc<Table>,
    /// Whether the sweep runs. It begins with the first session.
    is_swept: AtomicBool,
    /// The tasks that receive what other endpoints publish, and renew the lease of this one. They
    /// begin with the first shared session.
    sharing: OnceCell<[JoinHandle<()>; 3]>,
}

/// Why a session cannot be served at this moment, although it may exist.
#[derive(Debug)]
pub(super) enum SessionUnavailable {
    /// The store failed.
    Store(Error),
    /// There are too many sessions, and all are in use.
    Full(Full),
    /// The server is stopping.
    Stopping,
}

impl From<Error> for SessionUnavailable {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Full> for SessionUnavailable {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

type Table = Mutex<table::Table<Arc<HttpSession>, Caller>>;

impl Idle for Arc<HttpSession> {
    fn id(&self) -> &str {
        &self.id
    }

    fn idle_since(&self) -> Option<Instant> {
        HttpSession::idle_since(self)
    }
}

impl OpenSessions {
    pub(in super::super) fn new(core: Arc<Core>) -> Self {
        let limits = core.limits();
        let bounds = Bounds { all: limits.sessions, of_caller: limits.sessions_per_caller };
        Self {
            core,
            table: Arc::new(Mutex::new(table::Table::new(bounds))),
            is_swept: AtomicBool::new(false),
            sharing: OnceCell::new(),
        }
    }

    /// The session with an id, if this endpoint has it. A session of another owner or kind is treated
    /// as unknown.
    pub(super) fn known(
        &self,
        id: &str,
        owner: &Owner,
        kind: SessionKind,
    ) -> Option<Arc<HttpSession>> {
        let session = lock(&self.table).get(id).cloned()?;
        (session.owner == *owner && session.kind == kind).then_some(session)
    }

    /// The session with an id, here or in the shared store. Its copy here is as new as the record.
    ///
    /// # Errors
    ///
    /// If it cannot be served at this moment.
    pub(super) async fn find(
        &self,
        id: &str,
        owner: &Owner,
        caller: &Caller,
    ) -> Result<Option<Arc<HttpSession>>, SessionUnavailable> {
        let known = self.known(id, owner, SessionKind::Streamable);
        // Only of a shared session is the record read before the session takes the message.
        if let Some(session) = known.as_ref().filter(|_| self.core.config.is_shared) {
            session.note_use();
        }
        match known {
            Some(session) if session.refresh().await? => Ok(Some(session)),
            Some(session) => {
                self.remove(&session);
                Ok(None)
            }
            None if random_id::is_id(id) => self.restore(id, owner, caller).await,
            None => Ok(None),
        }
    }

    /// Makes a copy of a session that another endpoint shares.
    async fn restore(
        &self,
        id: &str,
        owner: &Owner,
        caller: &Caller,
    ) -> Result<Option<Arc<HttpSession>>, SessionUnavailable> {
        if self.core.is_stopping() {
            return Err(SessionUnavailable::Stopping);
        }
        self.begin_sharing().await?;
        let Some(session) = HttpSession::restore(id, owner, &self.core).await? else {
            return Ok(None);
        };
        match self.insert(&session, caller) {
            Ok(kept) => {
                if !Arc::ptr_eq(&kept, &session) {
                    session.close_here();
                }
                Ok(Some(kept))
            }
            Err(unavailable) => {
                session.close_here();
                Err(unavailable)
            }
        }
    }

    /// Writes the record of a new session, if the store is shared.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn share(&self, session: &HttpSession) -> Result<(), Error> {
        if !self.core.config.is_shared {
            return Ok(());
        }
        self.begin_sharing().await?;
        session.share().await
    }

    /// Starts the tasks that receive what other endpoints publish and renew the lease of this one,
    /// unless they run.
    async fn begin_sharing(&self) -> Result<(), Error> {
        let store = &self.core.config.store;
        let begin = || async {
            let messages = broadcast::subscribe(store).await?;
            let (table, missed) = (Arc::downgrade(&self.table), Arc::new(Notify::new()));
            // Before the first mark names it.
            lease::renew(store, &self.core.replica).await?;
            let reads = spawn(received::read_again(table.clone(), missed.clone()));
            let handle = move |message| received::handle(&table, &missed, message);
            let receives = spawn(broadcast::receive_all(store.clone(), messages, handle));
            let renews = spawn(replica::keep(store.clone(), self.core.replica.clone()));
            Ok([receives, reads, renews])
        };
        self.sharing.get_or_try_init(begin).await.map(|_| ())
    }

    pub(in super::super) fn count(&self) -> usize {
        lock(&self.table).len()
    }

    /// Adds a session, and closes an idle one if there are too many. Returns the session that the
    /// table has: another request may have added a copy with the same id first. Fails if there are
    /// too many and none is idle.
    pub(super) fn insert(
        &self,
        session: &Arc<HttpSession>,
        caller: &Caller,
    ) -> Result<Arc<HttpSession>, SessionUnavailable> {
        let evicted = {
            let mut table = lock(&self.table);
            if let Some(kept) = table.get(&session.id) {
                return Ok(kept.clone());
            }
            table.insert(session.clone(), caller.clone(), now())?
        };
        evicted.iter().for_each(HttpSession::close_here);
        self.sweep();
        Ok(session.clone())
    }

    /// Ends a session for good.
    pub(super) fn remove(&self, session: &Arc<HttpSession>) {
        forget(&self.table, session);
        session.close();
    }

    /// Ends all sessions here. Shared ones go on at other endpoints.
    pub(in super::super) fn close(&self) {
        let sessions = lock(&self.table).take();
        sessions.iter().for_each(HttpSession::close_here);
    }

    /// Starts the sweep, unless it runs. It ends with the table.
    fn sweep(&self) {
        if self.is_swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let (idle, opening) = (self.core.limits().session_idle, self.core.limits().session_opening);
        spawn(sweep::sweep(Arc::downgrade(&self.table), idle, opening));
    }
}

impl Drop for OpenSessions {
    fn drop(&mut self) {
        self.sharing.get().into_iter().flatten().for_each(JoinHandle::abort);
        self.close();
    }
}

/// Takes a session out of the table if it has turned out to be gone.
fn forget_closed(table: &Weak<Table>, session: &Arc<HttpSession>) {
    if let (true, Some(table)) = (session.is_closed(), table.upgrade()) {
        forget(&table, session);
    }
}

/// Takes a session out of the table, unless the table has another copy with its id.
fn forget(table: &Table, session: &Arc<HttpSession>) {
    let mut table = lock(table);
    if table.get(&session.id).is_some_and(|kept| Arc::ptr_eq(kept, session)) {
        table.remove(&session.id);
    }
}

#[cfg(test)]
mod tests;
