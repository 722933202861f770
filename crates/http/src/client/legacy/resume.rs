//! Comes back to a stream that ended before everything was said.

use std::time::Duration;

use bowline_proto::transmit::{FailureKind, SendFailure};
use http::StatusCode;

use super::super::events::{Ended, Events};
use super::super::shared::Shared;
use super::pauses::Pauses;

/// Where to go on with a stream, and how eagerly.
#[derive(Debug, Default)]
pub(in super::super) struct Resumption {
    last_id: Option<String>,
    retry: Option<Duration>,
    pauses: Pauses,
    /// Whether there was a connection before.
    is_return: bool,
}

/// Why an attempt brought no stream.
struct Refusal {
    failure: SendFailure,
    /// Whether the next attempt would end like this one.
    is_final: bool,
    /// Whether the server waits for the end of an older connection to the stream.
    is_taken: bool,
    /// The pause that the server asked for.
    retry_after: Option<Duration>,
}

impl Resumption {
    /// A message came.
    pub(in super::super) fn progress(&mut self) {
        self.pauses.restart();
    }

    /// A connection ended.
    pub(in super::super) fn note(&mut self, events: &Events, ended: &Ended) {
        self.is_return = true;
        let id = events.last_id().filter(|id| self.last_id.as_deref() != Some(id));
        let is_further = id.is_some();
        self.last_id = id.map(str::to_owned).or(self.last_id.take());
        let retry = events.retry();
        self.retry = retry.or(self.retry);
        // Who names a new place and a time wants to be polled, and one that stayed open for so long
        // is no storm.
        if (is_further && retry.is_some()) || matches!(ended, Ended::Silent(_)) {
            self.pauses.restart();
        }
    }

    /// Where the stream goes on, if the server said.
    pub(in super::super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Opens the stream where it was left, after a pause unless it is new. Calls `tried` after each
    /// attempt, whatever came of it.
    ///
    /// # Errors
    ///
    /// If the server will not, or nothing came of it too often.
    pub(in super::super) async fn resume(
        &mut self,
        shared: &Shared,
        tried: impl Fn(),
    ) -> Result<Events, SendFailure> {
        let mut asked_pause = self.retry;
        let mut last: Option<SendFailure> = None;
        loop {
            if self.is_return {
                let Some(pause) = self.pauses.next(asked_pause, &shared.limits) else {
                    return Err(last.unwrap_or_else(|| tired(shared)));
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
                // It may take the server a quarter of an hour to notice that the older one is dead.
                self.pauses.persist(&shared.limits);
            }
            asked_pause = refusal.retry_after.or(self.retry);
            last = Some(refusal.failure);
        }
    }

    /// Asks for the stream once.
    async fn attempt(&self, shared: &Shared) -> Result<Events, Refusal> {
        match shared.get(self.last_id.as_deref()).await {
            Ok(reply) if reply.is_stream() => Ok(reply.into_events(shared)),
            Ok(reply) => Err(Refusal {
                is_final: !is_passing(reply.status()),
                is_taken: reply.status() == StatusCode::CONFLICT,
                retry_after: reply.retry_after(),
                failure: reply.into_refusal(shared).await,
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

/// Whether a status may be another one the next time.
fn is_passing(status: StatusCode) -> bool {
    const AGAIN: [u16; 4] = [408, 409, 425, 429];
    status.is_server_error() || AGAIN.contains(&status.as_u16())
}

fn tired(shared: &Shared) -> SendFailure {
    let (address, most) = (&shared.address, shared.limits.reconnects);
    let reason = format!("GET {address}: nothing new came on {most} streams in a row");
    SendFailure { id: None, kind: FailureKind::Lost, error: None, reason }
}
