//! The era of handshakes: streams that are come back to, the server's own, and what was before.

mod pauses;
mod resume;
pub(super) mod sse2024;

use bowline_proto::transmit::{FailureKind, SendFailure};

pub(super) use self::resume::Resumption;
use super::shared::Shared;

/// Statuses by which servers say that they have no stream of their own.
const NO_STREAM: [u16; 4] = [400, 404, 405, 501];

/// Hands on what the server says of its own accord, for as long as it has a stream for that. Calls
/// `tried` after each GET for it, whatever came of it.
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
                Ok(unit) => {
                    resumption.progress();
                    shared.give(unit).await;
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
