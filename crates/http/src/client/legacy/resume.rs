//! Resumes a stream that ended before its answer.
//!
//! A stream of a POST and the GET stream resume in the same way: by GET with `Last-Event-ID`
//! (RESUME-7). The server decides what follows: the missed events, a refusal because they are gone,
//! or nothing new. Attempts are spaced by [`Pauses`], or as the server asks with `retry` (HTTP-20).

use std::time::Duration;

use bowline_proto::transmit::{FailureKind, SendFailure};
use http::StatusCode;

use super::super::events::{Ended, EventStream};
use super::super::shared::Shared;
use super::pauses::Pauses;

/// From which event to resume a stream, and when. One for each stream, kept over all of its
/// connections.
#[derive(Debug, Default)]
pub(in super::super) struct Resumption {
    /// Where to resume. `None` for a stream whose server sends no ids: a POST's stream is then
    /// lost, the GET stream begins anew.
    last_id: Option<String>,
    /// The pause that the server asked for last, with `retry`.
    retry: Option<Duration>,
    pauses: Pauses,
    /// Whether the stream was opened before.
    is_return: bool,
}

/// Why an attempt failed.
struct Refusal {
    failure: SendFailure,
    /// Whether a further attempt would fail too.
    is_final: bool,
    /// Whether the server still has an older connection to the stream (409).
    is_taken: bool,
    /// The pause that the server asked for.
    retry_after: Option<Duration>,
}

impl Resumption {
    /// Notes that a message came.
    pub(in super::super) fn progress(&mut self) {
        self.pauses.restart();
    }

    /// Notes that a connection ended.
    pub(in super::super) fn note(&mut self, events: &EventStream, ended: &Ended) {
        self.is_return = true;
        let id = events.last_id().filter(|id| self.last_id.as_deref() != Some(id));
        let is_further = id.is_some();
        self.last_id = id.map(str::to_owned).or(self.last_id.take());
        let retry = events.retry();
        self.retry = retry.or(self.retry);
        // A server that sends a new event id and a `retry` wants to be polled. A stream that ended
        // by silence was open for long. Neither counts as a failed attempt.
        if (is_further && retry.is_some()) || matches!(ended, Ended::Silent(_)) {
            self.pauses.restart();
        }
    }

    /// The id of the last event, if there is one.
    pub(in super::super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Opens the stream after the last event, after a pause unless it is new. Calls `tried` after
    /// each attempt, successful or not.
    ///
    /// # Errors
    ///
    /// If the server refuses for good, or too many attempts failed.
    pub(in super::super) async fn resume(
        &mut self,
        shared: &Shared,
        tried: impl Fn(),
    ) -> Result<EventStream, SendFailure> {
        let mut asked_pause = self.retry;
        let mut last: Option<SendFailure> = None;
        loop {
            if self.is_return {
                let Some(pause) = self.pauses.next(asked_pause, &shared.limits) else {
                    return Err(last.unwrap_or_else(|| gave_up(shared)));
                };
                tokio::time::sleep(pause).await;
            }
            self.is_return = true;
            let attempt = self.attempt(shared).await;
            tried();
            let refusal = match attempt {
                Ok(events) => return Ok(events),
                Err(refusal) if refusal.is_final => return Err(refusal.failure),
                Err(refusal) => refusal,
            };
            if refusal.is_taken {
                // A server may take a quarter of an hour to notice that the older one is dead.
                self.pauses.persist(&shared.limits);
            }
            asked_pause = refusal.retry_after.or(self.retry);
            last = Some(refusal.failure);
        }
    }

    /// Sends one GET for the stream.
    async fn attempt(&self, shared: &Shared) -> Result<EventStream, Refusal> {
        match shared.get(self.last_id.as_deref()).await {
            Ok(reply) if reply.is_stream() => Ok(reply.into_events(shared.body_limits())),
            Ok(reply) => Err(Refusal {
                is_final: !is_passing(reply.status()),
                is_taken: reply.status() == StatusCode::CONFLICT,
                retry_after: reply.retry_after(),
                failure: reply.into_refusal(shared.body_limits(), &shared.secrets).await,
            }),
            Err(failure) => Err(Refusal {
                is_final: matches!(failure.kind, FailureKind::Refused(_)),
                is_taken: false,
                retry_after: None,
                failure,
            }),
        }
    }
}

/// Whether a status is temporary.
fn is_passing(status: StatusCode) -> bool {
    const AGAIN: [u16; 4] = [408, 409, 425, 429];
    status.is_server_error() || AGAIN.contains(&status.as_u16())
}

/// The server accepts each GET and ends each stream without a message.
fn gave_up(shared: &Shared) -> SendFailure {
    let (address, most) = (&shared.address, shared.limits.reconnects);
    let reason = format!("GET {address}: nothing new came on {most} streams in a row");
    SendFailure { id: None, kind: FailureKind::Lost, error: None, reason }
}
