//! Streams that other copies of a shared session write, and their end if the endpoint of such a copy
//! dies.
//!
//! The mark of a stream names the endpoint that writes it. Once the lease of that endpoint has
//! expired, the first endpoint that looks appends the last event: an error for each request that the
//! stream was to answer. The same operation of the store removes the mark, so the event is appended
//! once, and by another endpoint if the first one fails. An endpoint that was only paused finds its
//! mark gone, and its stream ends.

use std::sync::Arc;

use bowline_proto::wire;
use bowline_store::backend::Error;
use bowline_store::events::EventLog;
use bowline_store::lease;
use bowline_transport::BoxFuture;
use bowline_types::error::ErrorObject;

use super::super::record;
use super::super::stream_mark::StreamMark;
use super::{HttpSession, StreamState};

impl HttpSession {
    /// What is known of a stream of another copy. Ends it if its endpoint is dead.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn foreign_stream_state(&self, stream: u64) -> Result<StreamState, Error> {
        let store = &self.core.config.store;
        let key = record::stream_key(&self.id, stream);
        let Some(entry) = store.get(&key).await? else { return Ok(StreamState::Ended) };
        // An endpoint of another version may have written what this one cannot read.
        let Some(mark) = StreamMark::parse(&entry.value) else { return Ok(StreamState::Open) };
        if mark.replica == self.core.replica || self.is_alive(&mark.replica).await? {
            return Ok(StreamState::Open);
        }
        answer_abandoned(&self.log(stream).in_place_of(key, entry.value), &mark).await?;
        Ok(StreamState::Ended)
    }

    /// Whether another endpoint has a lease, or may only have had no time to renew it.
    async fn is_alive(&self, endpoint: &str) -> Result<bool, Error> {
        let has_lease = lease::is_held(&self.core.config.store, endpoint).await?;
        let outages = self.core.outages.as_ref();
        let has_failed =
            outages.is_some_and(|outages| outages.was_within(lease::WAIT_AFTER_OUTAGE));
        Ok(has_lease || has_failed)
    }

    /// Resolves when a stream has ended, or the endpoint that writes it is dead.
    ///
    /// A stream of this copy wakes the waiter. A stream of another copy is asked for from time to
    /// time.
    pub(in super::super) fn stream_ended(self: &Arc<Self>, stream: u64) -> BoxFuture<()> {
        if !self.is_foreign(stream) {
            return self.until(move |state| !state.open_streams.contains_key(&stream));
        }
        let session = self.clone();
        Box::pin(async move {
            loop {
                tokio::time::sleep(lease::BEAT).await;
                let state = session.foreign_stream_state(stream).await;
                if matches!(state, Ok(StreamState::Ended | StreamState::Unknown)) {
                    return;
                }
            }
        })
    }

    /// Deletes the mark of a stream that has ended.
    ///
    /// # Errors
    ///
    /// If the store fails. The mark expires some time later.
    pub(super) async fn unmark_stream(&self, stream: u64) -> Result<(), Error> {
        if self.is_shared() {
            self.core.config.store.delete(&record::stream_key(&self.id, stream)).await?;
        }
        Ok(())
    }
}

/// Ends the log of a stream whose endpoint is dead, unless another endpoint has.
async fn answer_abandoned(log: &EventLog, mark: &StreamMark) -> Result<(), Error> {
    let error = "the endpoint that ran the call is gone; the call may have run";
    let answer = wire::refusals(&mark.requests, &ErrorObject::internal(error));
    log.append(&answer, true).await.map(drop)
}
