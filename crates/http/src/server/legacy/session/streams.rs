//! The streams of a session and their logs, which a client can resume from.
//!
//! A POST gets a stream number when its answer becomes a stream, not before: answers in JSON have
//! nothing to resume. The number and the position in the log make the event id. The log outlives
//! the connection, so a client that lost it reads on from the log while the calls still write to
//! it.

use std::sync::Arc;
use std::time::Duration;

use bowline_store::backend::{Appended, Error, Position};
use bowline_store::events::EventLog;
use tokio::time::Instant;

use super::super::event_id::GET_STREAM;
use super::super::posted::Posted;
use super::super::record;
use super::super::stream_mark::StreamMark;
use super::HttpSession;
use super::copy::kept;

/// How long the store is left alone after it has refused the end of a stream.
pub(in super::super) const AGAIN: Duration = Duration::from_secs(1);

/// What is known of a stream that a client wants to resume. Decides whether a resumed stream waits
/// for more events, ends after those in the log, or is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum StreamState {
    /// More events may come.
    Open,
    /// It has ended, its endpoint is gone, or it is a number of another copy that was never used.
    Ended,
    /// The session never had a stream with this number.
    Unknown,
}

/// What became of a message that was to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Recorded {
    /// It is in the log, at this position.
    At(Position),
    /// There is no log, or the store failed: the message is sent without an id.
    Unstored,
    /// Another endpoint has ended the stream, because this one seemed to be dead. Nothing more is
    /// sent.
    Fenced,
}

impl HttpSession {
    /// Opens the stream of a POST. `None` if the session serves one request: the client
    /// cannot come back, so no log is kept. Also `None` if the store fails.
    pub(in super::super) async fn open_stream(
        self: &Arc<Self>,
        posted: &Posted,
    ) -> Option<StreamLog> {
        if self.is_for_one_request() || self.take_number().await.is_err() {
            return None;
        }
        let is_shared = self.is_shared();
        let mut state = self.lock();
        state.last_stream += 1;
        let number = state.last_stream;
        let mut log = self.new_log(number);
        if is_shared {
            let mark = StreamMark::new(&self.core.replica, posted.ids());
            log = log.written_by(record::stream_key(&self.id, number), mark.text());
        }
        state.open_streams.insert(number, log.clone());
        drop(state);
        Some(StreamLog { number, log, session: self.clone() })
    }

    /// What is known of a stream. A stream of another copy is looked up by its mark in the store
    /// (see `abandoned.rs`).
    ///
    /// # Errors
    ///
    /// If the stream belongs to another endpoint and the store fails.
    pub(in super::super) async fn stream_state(&self, stream: u64) -> Result<StreamState, Error> {
        if stream == GET_STREAM {
            return Ok(StreamState::Open);
        }
        if self.is_foreign(stream) {
            return self.foreign_stream_state(stream).await;
        }
        let state = self.lock();
        Ok(match state.open_streams.contains_key(&stream) {
            true => StreamState::Open,
            false if stream <= state.last_stream => StreamState::Ended,
            false => StreamState::Unknown,
        })
    }

    /// Whether another copy opened a stream.
    pub(super) fn is_foreign(&self, stream: u64) -> bool {
        let state = self.lock();
        let Some(copy) = state.copy.as_ref().filter(|_| self.core.config.is_shared) else {
            return false;
        };
        let is_own = match copy.number {
            None => false,
            // The first copy has a number that no other gets.
            Some(0) => record::copy_of(stream) == 0,
            // After the store lost data another copy may have the same number.
            Some(_) => copy.counts_from < stream && stream <= state.last_stream,
        };
        !is_own
    }

    /// The log of a stream. Makes a handle; nothing is read or written yet.
    pub(in super::super) fn log(&self, stream: u64) -> EventLog {
        if stream == GET_STREAM {
            let log = self.get_log.get_or_init(|| Box::new(self.new_log(GET_STREAM)));
            return EventLog::clone(log);
        }
        self.new_log(stream)
    }

    /// The log of a shared session lasts as long as its record without being renewed, so that the logs
    /// of an endpoint that was killed expire.
    fn new_log(&self, stream: u64) -> EventLog {
        let limits = self.core.limits();
        let store = self.core.config.store.clone();
        let log = EventLog::new(store, &self.id, stream, limits.resumption);
        match self.core.config.is_shared {
            true => log.kept_while_open(kept(limits.session_idle)),
            false => log,
        }
    }

    /// Appends a message to a log. If the store fails, the message is still sent, but a client cannot
    /// resume after it.
    pub(in super::super) async fn append(
        &self,
        log: &EventLog,
        message: &[u8],
        is_last: bool,
    ) -> Recorded {
        let recorded = match log.append(message, is_last).await {
            Ok(Appended::At(position)) => Recorded::At(position),
            Ok(Appended::Fenced) => Recorded::Fenced,
            Err(_) => Recorded::Unstored,
        };
        // The session may have ended, and deleted its logs, while we wrote.
        if matches!(recorded, Recorded::At(_)) && self.is_over() {
            let _ = log.delete().await;
        }
        recorded
    }
}

/// The log of a POST's stream that is open. Dropping it ends the stream. The driver's recorder
/// holds it, and after the client hung up, the task that takes over.
pub(in super::super) struct StreamLog {
    pub(in super::super) number: u64,
    log: EventLog,
    session: Arc<HttpSession>,
}

impl StreamLog {
    /// Tells other endpoints that the stream is open, before the client can know the stream. If the
    /// store fails, a client cannot resume it at another endpoint.
    pub(in super::super) async fn begin(&self) {
        if self.session.core.config.is_shared {
            let _ = self.log.keep().await;
        }
    }

    /// Appends a message, as [`HttpSession::append`]. After its last event the stream has ended. If the
    /// store refuses that event, it has ended too, unless [others know it](Self::is_known_to_others).
    pub(in super::super) async fn append(&self, message: &[u8], is_last: bool) -> Recorded {
        // Of such a mark the log does not know, so its last event does not remove it.
        let may_be_marked = self.log.may_have_begun() && !self.log.has_begun();
        let recorded = self.session.append(&self.log, message, is_last).await;
        let is_refused = recorded == Recorded::Unstored;
        if is_refused && is_last && self.is_known_to_others() {
            return recorded;
        }
        if is_refused {
            self.log.note_unstored();
        }
        if is_last {
            self.end();
            if may_be_marked {
                let _ = self.session.unmark_stream(self.number).await;
            }
        }
        recorded
    }

    /// Whether other endpoints may take the stream for open until its last event is in the log.
    pub(in super::super) fn is_known_to_others(&self) -> bool {
        self.log.may_have_begun()
    }

    /// Ends the stream without its last event, once the store works again. A client that resumes it
    /// learns that there is a gap.
    pub(in super::super) async fn end_unrecorded(&self) {
        self.log.note_unstored();
        self.end();
        // After that time the mark has expired.
        let until = Instant::now() + kept(self.session.core.limits().session_idle);
        while !self.session.is_closed() && Instant::now() < until {
            if self.session.unmark_stream(self.number).await.is_ok() {
                // Wakes other endpoints that follow the log, so that they see that it has ended.
                let _ = self.log.wake_readers().await;
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Wakes resumed streams that wait for more events.
    fn end(&self) {
        if self.session.lock().open_streams.remove(&self.number).is_some() {
            self.session.ended.notify_waiters();
        }
    }
}

impl Drop for StreamLog {
    fn drop(&mut self) {
        self.end();
    }
}
