//! Notes that a server asks questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Outbox, Outgoing, Parts, Sink};

/// Wraps the outbox of a call, so that its first question is noted.
pub(super) fn note_questions(parts: &mut Parts, asks: &Arc<AtomicBool>) {
    let noting = NotingQuestions { outbox: parts.outbox.clone(), asks: asks.clone() };
    parts.outbox = Outbox::new(parts.exchange, Arc::new(noting));
}

struct NotingQuestions {
    outbox: Outbox,
    asks: Arc<AtomicBool>,
}

impl Sink for NotingQuestions {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        if matches!(outgoing, Outgoing::Ask(_)) {
            self.asks.store(true, Ordering::Relaxed);
        }
        self.outbox.emit(outgoing)
    }
}
