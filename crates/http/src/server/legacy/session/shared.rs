//! A session that several endpoints serve: each has a copy, and a record in the store holds what all
//! copies agree on.
//!
//! A copy that changes something writes the record with a comparison of versions, and tells the other
//! endpoints to read it. A copy that finds another version adopts it, and keeps what it has changed
//! itself meanwhile. So a message that is lost between endpoints costs time, never agreement.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::Owner;
use bowline_store::backend::{Entry, Error, Expect, Version, Written};
use bowline_types::id::RequestId;
use bytes::Bytes;

use super::super::super::core::Core;
use super::super::broadcast;
use super::super::record::{self, Record};
use super::copy::{SharedCopy, kept, lifetime};
use super::{HttpSession, SessionKind, State};

/// How often a write is tried again because other endpoints wrote first.
pub(super) const ATTEMPTS: usize = 32;

/// The most bytes of a record. Clients fill it, and a store may take larger values for tasks.
const RECORD_BYTES: usize = 64 * 1024;

/// A record to be written.
///
/// Made under the lock of the session, written without it. If the store has another version by
/// then, the session adopts that and proposes again.
struct Proposal {
    record: Record,
    /// The version that it was made from.
    replaces: Version,
    is_change: bool,
    /// [`SharedCopy::taken_back`] when it was made.
    taken_back: u64,
}

impl State {
    /// Whether no other copy has the GET stream.
    pub(super) fn may_listen(&self) -> bool {
        self.copy.as_deref().is_none_or(SharedCopy::may_listen)
    }

    /// The record as it should be: what this copy knows, with `change` made to it.
    fn proposal(&self, change: impl Fn(&mut Record, Option<u32>)) -> Option<Proposal> {
        let copy = self.copy.as_ref()?;
        let mut record = copy.record.clone();
        record.session = self.connection.snapshot()?;
        change(&mut record, copy.number);
        let (replaces, taken_back) = (copy.version, copy.taken_back);
        Some(Proposal { is_change: record != copy.record, record, replaces, taken_back })
    }
}

impl HttpSession {
    /// Whether several endpoints may serve the session.
    pub(in super::super) fn is_shared(&self) -> bool {
        self.core.config.is_shared && self.lock().copy.is_some()
    }

    /// Whether a question of this copy has this id and waits for its answer.
    pub(in super::super) fn has_open_question(&self, id: &RequestId) -> bool {
        self.lock().connection.has_open_question(id)
    }

    /// Writes the first record: from now on every endpoint with the same store can serve the session.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn share(&self) -> Result<(), Error> {
        let Some(session) = self.lock().connection.snapshot() else { return Ok(()) };
        let record = Record::new(&self.owner, session);
        match self.put(&record, Expect::Absent).await? {
            Written::Yes(version) => {
                self.lock().copy = Some(Box::new(SharedCopy::new(Some(0), record, version)));
                Ok(())
            }
            Written::Conflict => Err(Error::new("the id of a new session is taken")),
        }
    }

    /// Makes one more copy of a shared session. `None` if the store has no such session, it belongs
    /// to another owner, or it is in a revision that this endpoint does not speak.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn restore(
        id: &str,
        owner: &Owner,
        core: &Arc<Core>,
    ) -> Result<Option<Arc<Self>>, Error> {
        // Whether the client has finished its handshake is known only afterwards.
        let kept = kept(core.limits().session_idle);
        let Some(entry) = core.config.store.renew(&record::key(id), kept).await? else {
            return Ok(None);
        };
        let spoken = core.server.revisions();
        let is_served = |it: &Record| it.belongs_to(owner) && spoken.contains(&it.session.revision);
        let Some(record) = Record::parse(&entry.value)?.filter(is_served) else { return Ok(None) };
        let session = Self::new(id.to_owned(), owner.clone(), SessionKind::Streamable, core);
        session.begin_copy(SharedCopy::restored(record, entry.version));
        Ok(Some(session))
    }

    /// Begins to serve as a copy.
    fn begin_copy(self: &Arc<Self>, copy: SharedCopy) {
        let detached = {
            let mut state = self.lock();
            state.connection.restore(copy.record.session.clone(), 0);
            state.copy = Some(Box::new(copy));
            state.deliver(None)
        };
        self.start(detached);
        self.relay();
    }

    /// How long the store is to keep the record from now on.
    fn kept(&self) -> Duration {
        let state = self.lock();
        let lifetime = |copy: &SharedCopy| lifetime(self.core.limits(), &copy.record);
        kept(state.copy.as_deref().map_or(self.core.limits().session_idle, lifetime))
    }

    /// Reads and renews the record, and adopts what has changed there. Returns whether the session still
    /// exists; if not, this copy is closed.
    ///
    /// # Errors
    ///
    /// If the store fails, or the record is in a newer format. Then the copy stays as it is.
    pub(in super::super) async fn refresh(self: &Arc<Self>) -> Result<bool, Error> {
        let kept = self.kept();
        let Some(entry) = self.core.config.store.renew(&record::key(&self.id), kept).await? else {
            self.close();
            return Ok(false);
        };
        let is_readable = self.adopt(&entry)?;
        match is_readable {
            true => self.relay(),
            false => self.close_here(),
        }
        Ok(is_readable)
    }

    /// Adopts a record. Returns whether it could be read. Fails if it is in a newer format.
    fn adopt(self: &Arc<Self>, entry: &Entry) -> Result<bool, Error> {
        let detached = {
            let mut locked = self.lock();
            let state = &mut *locked;
            let Some(copy) = &mut state.copy else { return Ok(true) };
            if copy.version == entry.version {
                return Ok(true);
            }
            let Some(record) = Record::parse(&entry.value)? else { return Ok(false) };
            let mut session = record.session.clone();
            if let Some(ours) = state.connection.snapshot() {
                session.merge(&copy.record.session, &ours);
            }
            state.connection.adopt(session);
            copy.record = record;
            copy.version = entry.version;
            if !copy.may_listen() {
                state.get_streams.close_all();
                state.standalone.wake_readers();
            }
            state.deliver(None)
        };
        self.start(detached);
        Ok(true)
    }

    /// Writes what the client has changed here, before its request is answered.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn save(self: &Arc<Self>) -> Result<(), Error> {
        if !self.core.config.is_shared {
            return Ok(());
        }
        // Boxed, because every open connection stores the future of an answer.
        Box::pin(self.write(|_, _| ())).await
    }

    /// Deletes the record, so that the session ends at every endpoint.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn delete_record(&self) -> Result<(), Error> {
        if self.is_shared() {
            self.core.config.store.delete(&record::key(&self.id)).await?;
            self.announce_change().await;
        }
        Ok(())
    }

    /// Passes a message of the client on to the other endpoints.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn pass_on(&self, message: &Bytes) -> Result<(), Error> {
        if !self.is_shared() {
            return Ok(());
        }
        // Boxed, as in `save`.
        Box::pin(broadcast::publish(&self.core, &self.id, Some(message))).await
    }

    /// Tells the other endpoints to read the record. One that misses it reads the record at its next
    /// request, or when upkeep is due.
    async fn announce_change(&self) {
        if self.is_shared() {
            let _ = broadcast::publish(&self.core, &self.id, None).await;
        }
    }

    /// Writes the record with `change` made to it, unless it is so already. Tries again as often as
    /// other endpoints write first.
    pub(super) async fn write(
        self: &Arc<Self>,
        change: impl Fn(&mut Record, Option<u32>),
    ) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let Some(proposal) = self.lock().proposal(&change) else { return Ok(()) };
            let Proposal { record, replaces, is_change, taken_back } = proposal;
            if !is_change {
                return Ok(());
            }
            if let Written::Yes(version) = self.put(&record, Expect::Version(replaces)).await? {
                // Another task may have read our record already, and adopted a later one. Or it has
                // taken back what is in our record; then the next refresh adopts the record.
                if let Some(copy) = &mut self.lock().copy
                    && copy.version == replaces
                    && copy.taken_back == taken_back
                {
                    (copy.record, copy.version) = (record, version);
                }
                self.announce_change().await;
                return Ok(());
            }
            if !self.refresh().await? {
                return Ok(());
            }
        }
        Err(contended())
    }

    pub(super) async fn put(&self, record: &Record, expect: Expect) -> Result<Written, Error> {
        let kept = kept(lifetime(self.core.limits(), record));
        let text = record.text();
        if text.len() > RECORD_BYTES {
            let size = format!("{} bytes; at most {RECORD_BYTES} are allowed", text.len());
            return Err(Error::new(format!("the record of the session has {size}")));
        }
        self.core.config.store.put(&record::key(&self.id), text, kept, expect).await
    }
}

pub(super) fn contended() -> Error {
    Error::new("others change the record of the session all the time")
}
