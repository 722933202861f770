//! All sessions: found by id and owner, bounded in number, swept when idle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::Owner;

use super::super::endpoint::Core;
use super::session::{Kind, Session};

/// How often idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// The sessions of an endpoint.
pub(in super::super) struct Sessions {
    pub(super) core: Arc<Core>,
    table: Arc<Table>,
    is_swept: AtomicBool,
}

type Table = Mutex<HashMap<String, Arc<Session>>>;

impl Sessions {
    pub(in super::super) fn new(core: Arc<Core>) -> Self {
        Self { core, table: Arc::default(), is_swept: AtomicBool::new(false) }
    }

    /// A new id: 128 bits that nobody can guess.
    pub(super) fn new_id() -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The session with an id. Somebody else's is as unknown as one that never was.
    pub(super) fn find(&self, id: &str, owner: &Owner, kind: Kind) -> Option<Arc<Session>> {
        let session = lock(&self.table).get(id).cloned()?;
        (session.owner == *owner && session.kind == kind).then_some(session)
    }

    pub(in super::super) fn count(&self) -> usize {
        lock(&self.table).len()
    }

    /// Keeps a session. If there are too many, the one that has been idle longest makes room;
    /// gives whether there was any.
    pub(super) fn insert(&self, session: &Arc<Session>) -> bool {
        let evicted = {
            let mut table = lock(&self.table);
            let mut evicted = None;
            if table.len() >= self.core.limits().sessions {
                let idle = table.values().filter_map(|it| Some((it.idle_since()?, it.id.clone())));
                let Some((_, longest)) = idle.min() else { return false };
                evicted = table.remove(&longest);
            }
            table.insert(session.id.clone(), session.clone());
            evicted
        };
        evicted.iter().for_each(|session| session.close());
        self.sweep();
        true
    }

    /// Ends a session.
    pub(super) fn remove(&self, session: &Session) {
        let removed = lock(&self.table).remove(&session.id);
        removed.iter().for_each(|session| session.close());
    }

    /// Ends all of them.
    pub(in super::super) fn close(&self) {
        let sessions = std::mem::take(&mut *lock(&self.table));
        sessions.values().for_each(|session| session.close());
    }

    /// Looks for idle sessions from now on, as long as there is a table.
    fn sweep(&self) {
        if self.is_swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let (idle, opening) = (self.core.limits().session_idle, self.core.limits().session_opening);
        tokio::spawn(sweep(Arc::downgrade(&self.table), idle, opening));
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.close();
    }
}

async fn sweep(table: Weak<Table>, idle: Duration, opening: Duration) {
    let mut interval = tokio::time::interval(SWEEP);
    loop {
        interval.tick().await;
        let Some(table) = table.upgrade() else { return };
        let sessions: Vec<_> = lock(&table).values().cloned().collect();
        let now = Instant::now();
        for session in sessions {
            session.handle_timeout(now);
            if session.is_idle(now, idle, opening) {
                lock(&table).remove(&session.id);
                session.close();
            }
        }
    }
}

/// Nothing that runs under the lock can panic half-way, so a poisoned table is a good one.
fn lock(table: &Table) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
