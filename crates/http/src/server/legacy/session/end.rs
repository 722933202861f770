//! How a session ends: for good, or only at this endpoint.
//!
//! A session ends for good by DELETE, by being idle for too long, with its stream (2024-11-05), or
//! when its record is gone. It ends only here when the endpoint stops, when another session needs
//! its place, or when the record turns out to be unreadable. A session that is not shared is over
//! in those cases too. Either way its calls are cancelled, and its streams and lines end.

use std::pin::pin;
use std::sync::Arc;

use bowline_store::events::EventLog;
use bowline_transport::BoxFuture;
use bowline_transport::task::spawn_on;
use tokio::runtime::Handle;

use super::super::event_id::GET_STREAM;
use super::{End, HttpSession, State};

impl HttpSession {
    /// Ends the session for good: cancels calls, ends streams, deletes their logs.
    pub(in super::super) fn close(self: &Arc<Self>) {
        self.end(End::Over);
    }

    /// Ends this endpoint's copy of a session: cancels calls and ends streams here. A session that
    /// is not shared is over.
    pub(in super::super) fn close_here(self: &Arc<Self>) {
        let end = if self.is_shared() { End::Elsewhere } else { End::Over };
        self.end(end);
    }

    /// Does nothing the second time. The order: the state machine cancels the calls, so that their
    /// handlers fail or are dropped; lines and streams are woken and see the end; logs that would
    /// not expire by themselves are deleted in a task, because this function cannot wait.
    fn end(self: &Arc<Self>, end: End) {
        let (subscription, streams) = {
            let mut state = self.lock();
            if state.end.is_some() {
                return;
            }
            state.end = Some(end);
            state.connection.close();
            state.places.clear();
            // Nothing is started in a session that has ended.
            let _ = state.deliver(None);
            state.standalone.wake_readers();
            let streams = self.unended_logs(&state, end);
            (std::mem::take(&mut state.subscription), streams)
        };
        self.ended.notify_waiters();
        // Dropped after the lock: a handler that is dropped may still emit.
        drop(subscription);
        if let (Ok(runtime), false) = (Handle::try_current(), streams.is_empty()) {
            let session = self.clone();
            spawn_on(&runtime, async move {
                for (stream, log) in streams {
                    session.end_log(stream, &log, end).await;
                }
            });
        }
    }

    /// Deletes or ends the log of a stream that was cut off. If the store fails, the log expires.
    async fn end_log(&self, stream: u64, log: &EventLog, end: End) {
        match end {
            End::Over => {
                let _ = log.delete().await;
                let _ = self.unmark_stream(stream).await;
            }
            // Removes the mark too.
            End::Elsewhere => {
                let _ = log.append(b"", true).await;
            }
        }
    }

    /// The logs of streams that have not ended when the session does. A stream that has ended set a
    /// short time in its log itself.
    fn unended_logs(&self, state: &State, end: End) -> Vec<(u64, EventLog)> {
        let is_written = state.get_streams.has_log() || state.copy.is_some();
        let standalone =
            (is_written && end == End::Over).then(|| (GET_STREAM, self.log(GET_STREAM)));
        let open = state.open_streams.iter().map(|(stream, log)| (*stream, log.clone()));
        open.chain(standalone).collect()
    }

    /// Whether it has ended here, for good or not.
    pub(in super::super) fn is_closed(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Whether it has ended for good.
    pub(in super::super) fn is_over(&self) -> bool {
        self.lock().end == Some(End::Over)
    }

    /// Resolves when the session has ended here.
    pub(in super::super) fn closed(self: &Arc<Self>) -> BoxFuture<()> {
        self.until(|state| state.end.is_some())
    }

    /// Resolves when the session, or one of its streams, has come to an end. `has_ended` is asked
    /// again after every end, so one signal serves the session and all of its streams.
    pub(super) fn until(
        self: &Arc<Self>,
        has_ended: impl Fn(&State) -> bool + Send + 'static,
    ) -> BoxFuture<()> {
        let session = self.clone();
        Box::pin(async move {
            loop {
                let mut ended = pin!(session.ended.notified());
                // Registered before the state is looked at: an end in between is not missed.
                ended.as_mut().enable();
                if has_ended(&session.lock()) {
                    return;
                }
                ended.await;
            }
        })
    }
}
