//! Servers with a handshake: the GET stream, resumption, and the transport of 2024-11-05.
//!
//! The GET stream carries what the server sends outside of calls: changes, and for some servers
//! questions (HTTP-41). Having none is fine: such a server answers 405. A stream that was open and
//! cannot be opened again is reported, since the application would otherwise miss changes without
//! knowing.

mod pauses;
mod resume;
pub(super) mod sse2024;

use bowline_proto::transmit::{FailureKind, SendFailure};

pub(super) use self::resume::Resumption;
use super::shared::Shared;

/// Statuses of servers that have no GET stream.
const NO_STREAM: [u16; 4] = [400, 404, 405, 501];

/// Reads the GET stream and delivers its messages, as long as the server has one. Calls `tried`
/// after each GET, successful or not. Returns only when the stream is gone for good; the task that
/// runs it ends with the session.
pub(super) async fn listen(shared: &Shared, tried: impl Fn()) {
    let mut resumption = Resumption::default();
    let mut is_new = true;
    loop {
        let mut events = match resumption.resume(shared, &tried).await {
            Ok(events) => events,
            Err(failure) if is_new && has_no_stream(&failure) => return,
            Err(failure) => {
                let reason = format!("the server's own messages are not heard: {}", failure.reason);
                return shared.fail(SendFailure { error: None, reason, ..failure }).await;
            }
        };
        is_new = false;
        let ended = loop {
            match events.message().await {
                Ok(received) => {
                    resumption.progress();
                    shared.deliver(received).await;
                }
                Err(ended) => break ended,
            }
        };
        resumption.note(&events, &ended);
    }
}

fn has_no_stream(failure: &SendFailure) -> bool {
    matches!(failure.kind, FailureKind::Refused(status) if NO_STREAM.contains(&status))
}
