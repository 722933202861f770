//! Keeps what the store holds of a shared session from expiring: its record, and the marks of its
//! open streams.
//!
//! A mark is a value in the store that exists while a stream is open. An endpoint that resumes the
//! stream of another waits as long as the mark exists. The mark of an endpoint that died expires, so
//! the stream ends instead of being silent.

use std::sync::Arc;
use std::time::Instant;

use bowline_store::backend::{Error, Expect};
use bowline_transport::BoxFuture;
use bytes::Bytes;

use super::super::record;
use super::HttpSession;
use super::copy::{kept, lifetime};
use super::shared::Write;

/// What the record of a session needs. The sweep does it from time to time, so requests need not
/// write the record just to keep it alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Upkeep {
    /// The session was in use here: its time begins anew.
    Renew,
    /// It may have been in use elsewhere, or be gone.
    Check,
}

impl HttpSession {
    /// What the record needs. `None` until a quarter of its lifetime has passed since the last time.
    pub(in super::super) fn due_upkeep(&self, now: Instant) -> Option<Upkeep> {
        let mut state = self.lock();
        let is_used = |since| self.is_in_use() || since < state.used;
        let copy = state.copy.as_ref()?;
        let pause = lifetime(self.core.limits(), &copy.record) / 4;
        if now.saturating_duration_since(copy.kept_up) < pause {
            return None;
        }
        let upkeep = if is_used(copy.kept_up) { Upkeep::Renew } else { Upkeep::Check };
        state.copy.as_mut()?.kept_up = now;
        Some(upkeep)
    }

    /// Renews or checks the record and the marks. What fails is tried again when upkeep is due next.
    pub(in super::super) async fn keep_up(self: &Arc<Self>, upkeep: Upkeep) {
        if upkeep == Upkeep::Check {
            let _ = self.refresh().await;
            return;
        }
        let _ = self.write(Write::Anyway, |_, _| ()).await;
        let streams: Vec<_> = self.lock().open_streams.iter().copied().collect();
        for stream in streams {
            self.mark_stream(stream).await;
        }
    }

    /// Marks a stream as open. If the store fails, a client cannot resume it at another endpoint.
    pub(super) async fn mark_stream(&self, stream: u64) {
        if self.copy_number().is_some() {
            let kept = kept(self.core.limits().session_idle);
            let key = record::stream_key(&self.id, stream);
            let _ = self.core.config.store.put(&key, Bytes::new(), kept, Expect::Anything).await;
        }
    }

    /// Deletes the mark of a stream that has ended. If the store fails, the mark expires.
    pub(super) async fn unmark_stream(&self, stream: u64) {
        if self.copy_number().is_some() {
            let _ = self.core.config.store.delete(&record::stream_key(&self.id, stream)).await;
        }
    }

    /// Whether a stream of another copy is marked as open.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn is_stream_marked(&self, stream: u64) -> Result<bool, Error> {
        let key = record::stream_key(&self.id, stream);
        Ok(self.core.config.store.get(&key).await?.is_some())
    }

    /// Resolves when a stream has ended, or the endpoint that writes it is gone.
    ///
    /// A stream of this copy wakes the waiter. A stream of another copy is asked for from time to
    /// time, in case that its endpoint died without deleting the mark.
    pub(in super::super) fn stream_ended(self: &Arc<Self>, stream: u64) -> BoxFuture<()> {
        let copy = self.copy_number();
        let is_foreign = copy.is_some_and(|copy| record::copy_of(stream) != u64::from(copy));
        if !is_foreign {
            return self.until(move |state| !state.open_streams.contains(&stream));
        }
        let session = self.clone();
        Box::pin(async move {
            let pause = kept(session.core.limits().session_idle) / 4;
            loop {
                tokio::time::sleep(pause).await;
                if let Ok(false) = session.is_stream_marked(stream).await {
                    return;
                }
            }
        })
    }
}
