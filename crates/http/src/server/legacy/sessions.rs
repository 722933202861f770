//! All sessions: found by id and owner, bounded in number, swept when idle.

mod table;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::Owner;
use bowline_store::backend::Error;
use bowline_transport::task::spawn;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

use self::table::{Bounds, Full, Idle};
use super::super::callers::Caller;
use super::super::clock::now;
use super::super::core::Core;
use super::session::{Kind, Session};
use super::{news, record};

/// How often idle sessions are looked for.
pub(super) const SWEEP: Duration = Duration::from_secs(1);

/// The sessions of an endpoint.
pub(in super::super) struct Sessions {
    pub(super) core: Arc<Core>,
    table: Arc<Table>,
    is_swept: AtomicBool,
    /// Listens to what other endpoints tell, once there is a session to share.
    attending: OnceCell<JoinHandle<()>>,
}

/// Why a session cannot be served, although there may be one.
#[derive(Debug)]
pub(super) enum NotNow {
    /// The store fails.
    Store(Error),
    /// There are too many sessions here, and all are of use.
    Full,
    /// There are too many sessions of the caller here, and all are of use.
    FullOfCaller,
    /// The server is stopping.
    Stopping,
}

impl From<Error> for NotNow {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Full> for NotNow {
    fn from(full: Full) -> Self {
        match full {
            Full::OfAll => Self::Full,
            Full::OfCaller => Self::FullOfCaller,
        }
    }
}

type Table = Mutex<table::Table<Arc<Session>, Caller>>;

impl Idle for Arc<Session> {
    fn id(&self) -> &str {
        &self.id
    }

    fn idle_since(&self) -> Option<Instant> {
        Session::idle_since(self)
    }
}

impl Sessions {
    pub(in super::super) fn new(core: Arc<Core>) -> Self {
        let limits = core.limits();
        let bounds = Bounds { all: limits.sessions, of_caller: limits.sessions_per_caller };
        Self {
            core,
            table: Arc::new(Mutex::new(table::Table::new(bounds))),
            is_swept: AtomicBool::new(false),
            attending: OnceCell::new(),
        }
    }

    /// A new id: 128 bits that nobody can guess.
    pub(super) fn new_id() -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The session with an id, if it is here. Somebody else's is as unknown as one that never was.
    pub(super) fn known(&self, id: &str, owner: &Owner, kind: Kind) -> Option<Arc<Session>> {
        let session = lock(&self.table).get(id).cloned()?;
        (session.owner == *owner && session.kind == kind).then_some(session)
    }

    /// The session with an id, be it here or in the store that sessions are shared by.
    pub(super) async fn find(
        &self,
        id: &str,
        owner: &Owner,
        caller: &Caller,
    ) -> Result<Option<Arc<Session>>, NotNow> {
        match self.known(id, owner, Kind::Streamable) {
            Some(session) if session.look().await? => Ok(Some(session)),
            Some(session) => {
                self.remove(&session);
                Ok(None)
            }
            None if record::is_id(id) => self.restore(id, owner, caller).await,
            None => Ok(None),
        }
    }

    /// Makes a copy of a session that another endpoint shares.
    async fn restore(
        &self,
        id: &str,
        owner: &Owner,
        caller: &Caller,
    ) -> Result<Option<Arc<Session>>, NotNow> {
        if self.core.is_stopping() {
            return Err(NotNow::Stopping);
        }
        self.attend().await?;
        let Some(session) = Session::restore(id, owner, &self.core).await? else {
            return Ok(None);
        };
        match self.insert(&session, caller) {
            Ok(kept) => {
                if !Arc::ptr_eq(&kept, &session) {
                    session.let_go();
                }
                Ok(Some(kept))
            }
            Err(not_now) => {
                session.let_go();
                Err(not_now)
            }
        }
    }

    /// Shares a session, if there may be somebody to share it with.
    pub(super) async fn share(&self, session: &Session) -> Result<(), Error> {
        if !self.core.config.is_shared {
            return Ok(());
        }
        self.attend().await?;
        session.share().await
    }

    /// Listens to what other endpoints tell from now on, as long as there is a table.
    async fn attend(&self) -> Result<(), Error> {
        let store = &self.core.config.store;
        let begin = || async {
            let news = news::listen(store).await?;
            let table = Arc::downgrade(&self.table);
            Ok(spawn(news::attend(store.clone(), news, move |word| hear(&table, &word))))
        };
        self.attending.get_or_try_init(begin).await.map(|_| ())
    }

    pub(in super::super) fn count(&self) -> usize {
        lock(&self.table).len()
    }

    /// Keeps a session; gives the one that is kept, since another request may have been faster. If
    /// there are too many, one that is idle makes room.
    pub(super) fn insert(
        &self,
        session: &Arc<Session>,
        caller: &Caller,
    ) -> Result<Arc<Session>, NotNow> {
        let evicted = {
            let mut table = lock(&self.table);
            if let Some(kept) = table.get(&session.id) {
                return Ok(kept.clone());
            }
            table.insert(session.clone(), caller.clone(), now())?
        };
        evicted.iter().for_each(Session::let_go);
        self.sweep();
        Ok(session.clone())
    }

    /// Ends a session.
    pub(super) fn remove(&self, session: &Arc<Session>) {
        forget(&self.table, session);
        session.close();
    }

    /// Ends all of them, as far as they are not shared.
    pub(in super::super) fn close(&self) {
        let sessions = lock(&self.table).take();
        sessions.iter().for_each(Session::let_go);
    }

    /// Looks for idle sessions from now on, as long as there is a table.
    fn sweep(&self) {
        if self.is_swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let (idle, opening) = (self.core.limits().session_idle, self.core.limits().session_opening);
        spawn(sweep(Arc::downgrade(&self.table), idle, opening));
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        if let Some(attending) = self.attending.get() {
            attending.abort();
        }
        self.close();
    }
}

async fn sweep(table: Weak<Table>, idle: Duration, opening: Duration) {
    let mut interval = tokio::time::interval(SWEEP);
    loop {
        interval.tick().await;
        let Some(table) = table.upgrade() else { return };
        let sessions: Vec<_> = lock(&table).values().cloned().collect();
        let now = now();
        for session in sessions {
            session.handle_timeout(now);
            if session.is_busy() {
                lock(&table).touch(&session.id, now);
            }
            if session.copy().is_some() {
                tend(&table, session, now);
            } else if session.is_idle(now, idle, opening) {
                lock(&table).remove(&session.id);
                session.close();
            }
        }
    }
}

/// Looks after a shared session when it is time. It is kept here for as long as its record is, since
/// only then somebody knows what is left of it in the store.
fn tend(table: &Arc<Table>, session: Arc<Session>, now: Instant) {
    let Some(care) = session.needs(now) else { return };
    let table = Arc::downgrade(table);
    spawn(async move {
        session.tend(care).await;
        leave(&table, &session);
    });
}

/// Does what a word about a session says, if the session is here.
fn hear(table: &Weak<Table>, word: &news::Word) {
    let found = table.upgrade().and_then(|table| lock(&table).get(&word.session).cloned());
    let is_news = |session: &Arc<Session>| session.copy().is_some_and(|copy| copy != word.copy);
    let Some(session) = found.filter(is_news) else { return };
    match &word.message {
        // In place, so that what a client says stays in order.
        Some(message) => news::hand_over(message, &session),
        None => {
            let table = table.clone();
            spawn(async move {
                // A store that fails is asked again at the next request.
                let _ = session.look().await;
                leave(&table, &session);
            });
        }
    }
}

/// Forgets a session that turned out to be gone.
fn leave(table: &Weak<Table>, session: &Arc<Session>) {
    if let (true, Some(table)) = (session.is_closed(), table.upgrade()) {
        forget(&table, session);
    }
}

/// Takes a session out of the table, but not another copy with its id.
fn forget(table: &Table, session: &Arc<Session>) {
    let mut table = lock(table);
    if table.get(&session.id).is_some_and(|kept| Arc::ptr_eq(kept, session)) {
        table.remove(&session.id);
    }
}

/// Nothing that runs under the lock can panic half-way, so a poisoned table is a good one.
fn lock(table: &Table) -> MutexGuard<'_, table::Table<Arc<Session>, Caller>> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
