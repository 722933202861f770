//! Drives the calls that send on one line, for the HTTP answer that reads the line.
//!
//! The driver takes items off the line: it polls the calls among them, and passes messages to its
//! owner. A call that ends puts its answer onto the same line, behind what it sent before.

mod recorder;
mod running;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::transmit::Role;
use bowline_transport::task::spawn_on;
use bowline_types::error::InsufficientScope;
use bytes::Bytes;
use tokio::time::Instant;

use self::recorder::Recorder;
use self::running::RunningCalls;
use super::item::{Item, Line};
use super::session::{AGAIN, HttpSession, Received, Recorded, SessionUse, StreamLog};

/// Something to send to the client.
pub(super) enum ToClient {
    /// A message.
    Message(Role, Bytes),
    /// End the stream and ask the client to reconnect after this time.
    Pause(Duration),
}

/// Drives one line on behalf of an HTTP answer.
///
/// A client that hangs up cancels nothing (HTTP-27). So when the driver is dropped before the end, a
/// task takes over its work, and records messages in the log for a client that comes back. If the
/// answer was not a stream yet, there is no log, and no message can reach the client: the task
/// discards messages, and questions fail. A session for a single request is the exception: its client
/// cannot come back, so hanging up cancels.
pub(super) struct Driver {
    work: Work,
}

/// What is driven, by a [`Driver`] or by the task that takes over from it.
struct Work {
    session: SessionUse,
    line: Arc<Line>,
    calls: RunningCalls,
    /// Set from the time when the answer becomes a stream until its last event is recorded, or other
    /// endpoints cannot wait for it.
    recorder: Option<Box<Recorder>>,
    /// What the call that ended last was refused for, if its caller lacked scopes.
    lacking: Option<Box<InsufficientScope>>,
}

impl Driver {
    /// Drives what a message led to.
    pub(super) fn new(session: SessionUse, received: Received) -> Self {
        Self::of_line(session, received.line)
    }

    /// Drives what comes on a line.
    pub(super) fn of_line(session: SessionUse, line: Arc<Line>) -> Self {
        let (calls, recorder, lacking) = Default::default();
        Self { work: Work { session, line, calls, recorder, lacking } }
    }

    /// The scopes that the answered call needed, if its caller lacked some of them.
    pub(super) fn lacking(&self) -> Option<&InsufficientScope> {
        self.work.lacking.as_deref()
    }

    pub(super) fn session(&self) -> &Arc<HttpSession> {
        &self.work.session.session
    }

    /// Records what is sent from now on, beginning with `first`, which was taken off the line before.
    pub(super) fn record_in(&mut self, log: StreamLog, first: &ToClient) {
        self.work.recorder = Some(Box::new(Recorder::new(log)));
        self.work.note(first);
    }

    /// Marks the recorded stream as open, before the client can know it. An event does the same.
    pub(super) async fn begin(&mut self) {
        if let Some(recorder) = &self.work.recorder {
            recorder.log.begin().await;
        }
    }

    /// The next thing to send. `None` at the end of the line. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<ToClient> {
        self.work.next().await
    }

    /// As [`next`](Self::next), for a session without a log.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<ToClient>> {
        self.work.poll_next(cx)
    }

    /// Records a message that [`next`](Self::next) gave, before it is sent.
    pub(super) async fn record(&mut self, role: Role, message: &Bytes) -> Recorded {
        self.work.record(role, message).await
    }

    /// Ends the log of a stream whose line ended without an answer, because the call was cancelled.
    pub(super) async fn finish(&mut self) {
        self.work.finish().await;
    }

    /// Whether no call runs and nothing waits to be sent.
    pub(super) fn is_quiet(&self) -> bool {
        self.work.calls.is_empty() && self.work.line.is_empty()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let work = &mut self.work;
        let session = &work.session.session;
        if work.is_done() || session.is_for_one_request() || session.is_closed() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if work.recorder.is_none() {
            session.lose_client(&work.line);
        }
        let rest = Work {
            session: work.session.successor(),
            line: work.line.clone(),
            calls: std::mem::take(&mut work.calls),
            recorder: work.recorder.take(),
            lacking: None,
        };
        spawn_on(&runtime, rest.drive_to_end());
    }
}

impl Work {
    /// Drives without a client: messages are only recorded, or discarded if there is no log.
    async fn drive_to_end(mut self) {
        if let Some((role, message)) = self.take_unrecorded() {
            self.keep(role, &message).await;
        }
        while let Some(next) = self.next().await {
            if let ToClient::Message(role, message) = next {
                self.keep(role, &message).await;
            }
        }
        self.finish().await;
        self.record_end_later().await;
    }

    /// Records a message for a client that comes back. If the store refuses it, it is lost, unless it is
    /// the last, and it may be a question, so the questions of the call fail. Otherwise its handler
    /// would wait until they time out.
    async fn keep(&mut self, role: Role, message: &Bytes) {
        let has_log = self.recorder.is_some();
        let recorded = self.record(role, message).await;
        if has_log && !matches!(recorded, Recorded::At(_)) {
            self.session.session.lose_client(&self.line);
        }
    }

    /// Records a last event that the store refused, once the store works again. Until then a client
    /// that resumes the stream at another endpoint waits for it. After the time for which an ended
    /// stream can be resumed, no client comes for it any more.
    async fn record_end_later(&mut self) {
        let until = Instant::now() + self.session.session.core.limits().resumption;
        while let Some((_, last)) = self.take_unrecorded() {
            tokio::time::sleep(AGAIN).await;
            if until <= Instant::now() || self.session.session.is_closed() {
                break;
            }
            self.append(&last, true).await;
        }
        if let Some(recorder) = self.recorder.take() {
            self.session.free_calls();
            recorder.log.end_unrecorded().await;
        }
    }

    fn take_unrecorded(&mut self) -> Option<(Role, Bytes)> {
        self.recorder.as_mut()?.unrecorded.take()
    }

    async fn next(&mut self) -> Option<ToClient> {
        let next = std::future::poll_fn(|cx| self.poll_next(cx)).await?;
        self.note(&next);
        Some(next)
    }

    /// Remembers a message that is off the line and not yet in the log, in case that the driver is
    /// dropped before it is recorded.
    fn note(&mut self, next: &ToClient) {
        if let (Some(recorder), ToClient::Message(role, message)) = (&mut self.recorder, next) {
            recorder.unrecorded = Some((*role, message.clone()));
        }
    }

    /// With the last message, changes of the session are saved first. If the store fails, the
    /// message is still sent, without an id.
    async fn record(&mut self, role: Role, message: &Bytes) -> Recorded {
        let is_last = role == Role::Ends;
        if is_last {
            // If the store fails, the next request of the client writes the change.
            let _ = self.session.session.save().await;
        }
        self.append(message, is_last).await
    }

    /// An empty last event marks a stream that ended without an answer.
    async fn finish(&mut self) {
        if self.recorder.as_ref().is_some_and(|recorder| recorder.unrecorded.is_none()) {
            self.append(&Bytes::new(), true).await;
        }
    }

    async fn append(&mut self, message: &Bytes, is_last: bool) -> Recorded {
        let Some(recorder) = &mut self.recorder else { return Recorded::Unstored };
        let recorded = recorder.append(message, is_last).await;
        if recorded == Recorded::Fenced || (is_last && recorder.unrecorded.is_none()) {
            self.recorder = None;
        }
        recorded
    }

    /// The line first, then the calls: what is ready to be sent is sent before a handler runs on.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<ToClient>> {
        loop {
            while let Some(item) = self.line.take() {
                if let Some(next) = self.handle(item) {
                    return Poll::Ready(Some(next));
                }
            }
            if self.poll_calls(cx) {
                continue;
            }
            self.line.register(cx);
            // Looked at after registering: an item that came before has woken no one.
            if !self.line.is_empty() {
                continue;
            }
            if self.line.is_over() || self.session.session.is_closed() {
                return Poll::Ready(None);
            }
            return Poll::Pending;
        }
    }

    /// Does what an item says. Returns what there is to send.
    fn handle(&mut self, item: Item) -> Option<ToClient> {
        match item {
            Item::Call(request) => {
                let number = request.parts.exchange;
                let call = self.session.session.core.call(*request);
                self.calls.add(number, call);
                None
            }
            Item::Cancelled(number) => {
                self.calls.remove(number);
                None
            }
            Item::Message(role, message) => Some(ToClient::Message(role, message)),
            Item::Pause(after) => Some(ToClient::Pause(after)),
        }
    }

    /// Polls every call. Returns whether one has ended; then its answer is on the line.
    fn poll_calls(&mut self, cx: &mut Context<'_>) -> bool {
        let mut has_ended = false;
        while let Some((number, outcome)) = self.calls.poll(cx) {
            self.lacking = self.session.session.core.config.verification.lacking(&outcome);
            self.session.session.complete(number, outcome);
            has_ended = true;
        }
        has_ended
    }

    /// Whether the line is over, and the last event of its log is recorded.
    fn is_done(&self) -> bool {
        self.recorder.is_none() && self.line.is_over()
    }
}
