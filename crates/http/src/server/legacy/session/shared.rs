//! A session that several endpoints serve: each has a copy, and a record in the store says what all
//! of them agree on.
//!
//! Whoever changes something writes it with a comparison of versions and tells the others to look;
//! whoever finds another version takes it over, and keeps what it has changed itself meanwhile. So
//! a word that gets lost between endpoints costs time, never agreement.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_proto::request::Owner;
use bowline_store::backend::{Entry, Error, Expect, Version, Written};
use bowline_transport::BoxFuture;
use bowline_transport::task::{spawn, spawn_on};
use bytes::Bytes;

use super::super::super::clock::now;
use super::super::super::core::Core;
use super::super::drive::Listening;
use super::super::news;
use super::super::record::{self, Record};
use super::super::sessions::SWEEP;
use super::{Hand, Kind, STANDALONE, Session, State};

/// How often a change is tried that others come before.
const ATTEMPTS: usize = 32;

/// What one copy of a session knows of the record.
pub(super) struct Share {
    /// Which copy this is.
    copy: u32,
    record: Record,
    version: Version,
    /// When the record was last renewed or looked at because it was time.
    tended: Instant,
}

/// What a record that nobody has looked after for a while needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Care {
    /// The session is of use here: its time begins anew.
    Renew,
    /// It may be of use elsewhere, or be gone.
    Look,
}

/// When a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    IfChanged,
    Anyway,
}

/// A record to be written.
struct Proposal {
    record: Record,
    /// The version that it was made from.
    replaces: Version,
    is_change: bool,
}

impl Share {
    fn is_listening(&self) -> bool {
        self.record.listener.is_none_or(|listener| listener == self.copy)
    }
}

impl State {
    /// Whether no other copy has the GET stream.
    pub(super) fn may_listen(&self) -> bool {
        self.share.as_deref().is_none_or(Share::is_listening)
    }

    /// The record as it should be.
    fn proposal(&self, change: impl Fn(&mut Record, u32)) -> Option<Proposal> {
        let share = self.share.as_ref()?;
        let mut record = share.record.clone();
        record.session = self.connection.snapshot()?;
        change(&mut record, share.copy);
        Some(Proposal { is_change: record != share.record, record, replaces: share.version })
    }
}

impl Session {
    /// Which copy of a shared session this is.
    pub(in super::super) fn copy(&self) -> Option<u32> {
        if !self.core.config.is_shared {
            return None;
        }
        self.lock().share.as_ref().map(|share| share.copy)
    }

    /// Begins to share: from now on whoever has the same store can serve the session.
    pub(in super::super) async fn share(&self) -> Result<(), Error> {
        let Some(session) = self.lock().connection.snapshot() else { return Ok(()) };
        let record = Record::new(&self.owner, session);
        match self.put(&record, Expect::Absent).await? {
            Written::Yes(version) => {
                self.lock().share = Some(Box::new(Share::new(0, record, version)));
                Ok(())
            }
            Written::Conflict => Err(Error::new("the id of a new session is taken")),
        }
    }

    /// One more copy of a session that somebody shares. `None` if there is no such session, it
    /// belongs to somebody else, or it is in a revision that is not spoken here.
    pub(in super::super) async fn restore(
        id: &str,
        owner: &Owner,
        core: &Arc<Core>,
    ) -> Result<Option<Arc<Self>>, Error> {
        for _ in 0..ATTEMPTS {
            let Some(entry) = core.config.store.get(&record::key(id)).await? else {
                return Ok(None);
            };
            let spoken = core.server.revisions();
            let is_served =
                |it: &Record| it.belongs_to(owner) && spoken.contains(&it.session.revision);
            let Some(mut record) = Record::parse(&entry.value).filter(is_served) else {
                return Ok(None);
            };
            let Some(copy) = record.add_copy() else { return Ok(None) };
            let session = Self::new(id.to_owned(), owner.clone(), Kind::Streamable, core);
            let written = session.put(&record, Expect::Version(entry.version)).await?;
            if let Written::Yes(version) = written {
                session.go_on(Share::new(copy, record, version));
                return Ok(Some(session));
            }
        }
        Err(contended())
    }

    fn go_on(self: &Arc<Self>, share: Share) {
        let before = record::before_first(share.copy);
        let aside = {
            let mut state = self.lock();
            state.streams = before;
            let asked = i64::try_from(before).unwrap_or(i64::MAX);
            state.connection.restore(share.record.session.clone(), asked);
            state.share = Some(Box::new(share));
            state.deliver(&mut Hand::default())
        };
        self.start(aside);
        self.relay();
    }

    /// Reads the record, and takes over what has changed there. Gives whether the session still
    /// is; if not, it ends here too.
    pub(in super::super) async fn look(self: &Arc<Self>) -> Result<bool, Error> {
        let Some(entry) = self.core.config.store.get(&record::key(&self.id)).await? else {
            self.close();
            return Ok(false);
        };
        let is_ours = self.adopt(&entry);
        match is_ours {
            true => self.relay(),
            false => self.let_go(),
        }
        Ok(is_ours)
    }

    /// Takes over a record; gives whether it could be read.
    fn adopt(self: &Arc<Self>, entry: &Entry) -> bool {
        let aside = {
            let mut locked = self.lock();
            let state = &mut *locked;
            let Some(share) = &mut state.share else { return true };
            if share.version == entry.version {
                return true;
            }
            let Some(record) = Record::parse(&entry.value) else { return false };
            let mut session = record.session.clone();
            if let Some(ours) = state.connection.snapshot() {
                session.merge(&share.record.session, &ours);
            }
            state.connection.adopt(session);
            share.record = record;
            share.version = entry.version;
            if !share.is_listening() {
                state.listener.close();
                state.standalone.nudge();
            }
            state.deliver(&mut Hand::default())
        };
        self.start(aside);
        true
    }

    /// Writes what the client has changed here, if it has.
    pub(in super::super) async fn save(self: &Arc<Self>) -> Result<(), Error> {
        if !self.core.config.is_shared {
            return Ok(());
        }
        // Boxed, since every connection has room for what the answer to a call waits for.
        Box::pin(self.write(Write::IfChanged, |_, _| ())).await
    }

    /// Makes this the copy that has the GET stream. Another that has one ends it: a message goes to
    /// one stream only.
    pub(in super::super) async fn claim(self: &Arc<Self>) -> Result<(), Error> {
        self.write(Write::IfChanged, |record, copy| record.listener = Some(copy)).await
    }

    /// There is no GET stream here any more.
    pub(super) fn release(self: &Arc<Self>) {
        let (Ok(runtime), Some(_)) = (tokio::runtime::Handle::try_current(), self.copy()) else {
            return;
        };
        let session = self.clone();
        spawn_on(&runtime, async move {
            // What could not be written is found out by whoever listens next.
            let _ = session
                .write(Write::IfChanged, |record, copy| {
                    record.listener = record.listener.filter(|&listener| listener != copy);
                })
                .await;
            // Somebody may have come meanwhile.
            if session.is_listened_to() {
                let _ = session.claim().await;
            }
        });
    }

    /// What the record needs, if nobody has looked after it for a while.
    pub(in super::super) fn needs(&self, now: Instant) -> Option<Care> {
        let mut state = self.lock();
        let is_used = |since| self.is_busy() || since < state.used;
        let share = state.share.as_ref()?;
        let rest = lifetime(&self.core, &share.record) / 4;
        if now.saturating_duration_since(share.tended) < rest {
            return None;
        }
        let care = if is_used(share.tended) { Care::Renew } else { Care::Look };
        state.share.as_mut()?.tended = now;
        Some(care)
    }

    /// Looks after the record, and after what says that streams go on. What fails now is tried
    /// again.
    pub(in super::super) async fn tend(self: &Arc<Self>, care: Care) {
        if care == Care::Look {
            let _ = self.look().await;
            return;
        }
        let _ = self.write(Write::Anyway, |_, _| ()).await;
        let streams: Vec<_> = self.lock().going_on.iter().copied().collect();
        for stream in streams {
            self.mark(stream).await;
        }
    }

    /// Forgets the session everywhere.
    pub(in super::super) async fn delete(&self) -> Result<(), Error> {
        if self.copy().is_some() {
            self.core.config.store.delete(&record::key(&self.id)).await?;
            self.announce().await;
        }
        Ok(())
    }

    /// Passes a message on to whoever it may concern.
    pub(in super::super) async fn pass_on(&self, message: &Bytes) -> Result<(), Error> {
        let Some(copy) = self.copy() else { return Ok(()) };
        // Boxed, as in `save`.
        Box::pin(news::tell(&self.core.config.store, &self.id, copy, Some(message))).await
    }

    /// Tells the others to look. Who misses it looks at the next request, or when it is time.
    async fn announce(&self) {
        if let Some(copy) = self.copy() {
            let _ = news::tell(&self.core.config.store, &self.id, copy, None).await;
        }
    }

    async fn write(
        self: &Arc<Self>,
        when: Write,
        change: impl Fn(&mut Record, u32),
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let Some(proposal) = self.lock().proposal(&change) else { return Ok(()) };
            let Proposal { record, replaces, is_change } = proposal;
            if when == Write::IfChanged && !is_change {
                return Ok(());
            }
            if let Written::Yes(version) = self.put(&record, Expect::Version(replaces)).await? {
                // Somebody who found our record in the store may have gone on from it already.
                if let Some(share) = &mut self.lock().share
                    && share.version == replaces
                {
                    (share.record, share.version) = (record, version);
                }
                if is_change {
                    self.announce().await;
                }
                return Ok(());
            }
            if !self.look().await? {
                return Ok(());
            }
        }
        Err(contended())
    }

    async fn put(&self, record: &Record, expect: Expect) -> Result<Written, Error> {
        let kept = kept(lifetime(&self.core, record));
        self.core.config.store.put(&record::key(&self.id), record.text(), kept, expect).await
    }

    /// Says that a stream goes on. A store that fails keeps nobody from hearing it, only from
    /// coming back to it elsewhere.
    pub(super) async fn mark(&self, stream: u64) {
        if self.copy().is_some() {
            let kept = kept(self.core.limits().session_idle);
            let key = record::stream_key(&self.id, stream);
            let _ = self.core.config.store.put(&key, Bytes::new(), kept, Expect::Anything).await;
        }
    }

    /// A stream has ended.
    pub(super) async fn unmark(&self, stream: u64) {
        if self.copy().is_some() {
            // What cannot be deleted now expires.
            let _ = self.core.config.store.delete(&record::stream_key(&self.id, stream)).await;
        }
    }

    /// Whether a stream of another copy goes on.
    pub(super) async fn is_marked(&self, stream: u64) -> Result<bool, Error> {
        let key = record::stream_key(&self.id, stream);
        Ok(self.core.config.store.get(&key).await?.is_some())
    }

    /// Resolves when a stream goes on no more, be it that the endpoint that feeds it is gone.
    pub(in super::super) fn ended(self: &Arc<Self>, stream: u64) -> BoxFuture<()> {
        let is_foreign = self.copy().is_some_and(|copy| record::copy_of(stream) != u64::from(copy));
        if !is_foreign {
            return self.until(move |state| !state.going_on.contains(&stream));
        }
        let session = self.clone();
        Box::pin(async move {
            let rest = kept(session.core.limits().session_idle) / 4;
            loop {
                tokio::time::sleep(rest).await;
                if let Ok(false) = session.is_marked(stream).await {
                    return;
                }
            }
        })
    }

    /// While another copy has the GET stream, what this endpoint has to say there is written into
    /// the log that the other tells from.
    fn relay(self: &Arc<Self>) {
        let is_needed = {
            let mut state = self.lock();
            let is_needed = !state.may_listen() && !state.is_relaying && !state.is_closed;
            state.is_relaying |= is_needed;
            is_needed
        };
        if !is_needed {
            return;
        }
        let session = self.clone();
        spawn(async move {
            let log = session.log(STANDALONE);
            let mut listening = Listening::relay(session.clone());
            while let Some(message) = listening.next().await {
                // What the store does not take is kept, and tried again at the next look.
                if session.record(&log, &message, false).await.is_none() {
                    return;
                }
                listening.recorded();
            }
        });
    }

    /// A relay has ended.
    pub(in super::super) fn stop_relaying(self: &Arc<Self>) {
        self.lock().is_relaying = false;
    }
}

impl Share {
    fn new(copy: u32, record: Record, version: Version) -> Self {
        Self { copy, record, version, tended: now() }
    }
}

/// How long a session may be idle.
fn lifetime(core: &Core, record: &Record) -> Duration {
    match record.session.is_initialized {
        true => core.limits().session_idle,
        false => core.limits().session_opening,
    }
}

/// How long a record is kept for a session that may be idle so long: it is renewed after a quarter
/// of that time, by a sweep that may come late.
fn kept(lifetime: Duration) -> Duration {
    lifetime.saturating_add(lifetime / 4).saturating_add(SWEEP * 2)
}

fn contended() -> Error {
    Error::new("others change the record of the session all the time")
}
