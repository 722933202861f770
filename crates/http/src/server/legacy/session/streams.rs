//! The streams of a session and their logs, which a client can resume from.
//!
//! A POST gets a stream number when its answer becomes a stream, not before: answers in JSON have
//! nothing to resume. The number and the position in the log make the event id. The log outlives
//! the connection, so a client that lost it reads on from the log while the calls still write to
//! it.

use std::sync::Arc;

use bowline_store::backend::{Error, Position};
use bowline_store::events::EventLog;

use super::super::event_id::GET_STREAM;
use super::super::record;
use super::HttpSession;

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

impl HttpSession {
    /// Opens the stream of a POST. `None` if the session serves one request: the client cannot come
    /// back, so no log is kept.
    pub(in super::super) fn open_stream(self: &Arc<Self>) -> Option<StreamLog> {
        if self.is_for_one_request() {
            return None;
        }
        let number = {
            let mut state = self.lock();
            state.last_stream += 1;
            let number = state.last_stream;
            state.open_streams.insert(number);
            number
        };
        Some(StreamLog { number, log: self.log(number), session: self.clone() })
    }

    /// What is known of a stream. A stream of another copy is looked up by its mark in the store
    /// (see `upkeep.rs`).
    ///
    /// # Errors
    ///
    /// If the stream belongs to another endpoint and the store fails.
    pub(in super::super) async fn stream_state(&self, stream: u64) -> Result<StreamState, Error> {
        if stream == GET_STREAM {
            return Ok(StreamState::Open);
        }
        let copy = self.copy_number();
        if copy.is_some_and(|copy| record::copy_of(stream) != u64::from(copy)) {
            return Ok(match self.is_stream_marked(stream).await? {
                true => StreamState::Open,
                false => StreamState::Ended,
            });
        }
        let state = self.lock();
        Ok(match state.open_streams.contains(&stream) {
            true => StreamState::Open,
            false if stream <= state.last_stream => StreamState::Ended,
            false => StreamState::Unknown,
        })
    }

    /// The log of a stream. Makes a handle; nothing is read or written yet.
    pub(in super::super) fn log(&self, stream: u64) -> EventLog {
        let kept = self.core.limits().resumption;
        EventLog::new(self.core.config.store.clone(), &self.id, stream, kept)
    }

    /// Appends a message to a log and returns its position. `None` if the store fails: the message
    /// is still sent, but a client cannot resume after it.
    pub(in super::super) async fn append(
        &self,
        log: &EventLog,
        message: &[u8],
        is_last: bool,
    ) -> Option<Position> {
        let position = log.append(message, is_last).await.ok()?;
        // The session may have ended, and deleted its logs, while we wrote.
        if self.is_over() {
            let _ = log.delete().await;
        }
        Some(position)
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
    /// Tells other endpoints that the stream is open, before the client can know the stream.
    pub(in super::super) async fn begin(&self) {
        self.session.mark_stream(self.number).await;
    }

    /// Appends a message and returns its position, as [`HttpSession::append`]. After the last message
    /// the stream has ended, even if the store refused the message.
    pub(in super::super) async fn append(&self, message: &[u8], is_last: bool) -> Option<Position> {
        let position = self.session.append(&self.log, message, is_last).await;
        if is_last {
            self.end();
            self.session.unmark_stream(self.number).await;
            if position.is_none() {
                // Wakes other endpoints that follow the log, so that they see that it has ended.
                let _ = self.log.wake_readers().await;
            }
        }
        position
    }

    /// Wakes resumed streams that wait for more events.
    fn end(&self) {
        if self.session.lock().open_streams.remove(&self.number) {
            self.session.ended.notify_waiters();
        }
    }
}

impl Drop for StreamLog {
    fn drop(&mut self) {
        self.end();
    }
}
