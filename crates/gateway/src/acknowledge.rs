//! A subscription that several subscriptions serve, one after the other: its caller gets the first
//! acknowledgement only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Outbox, Outgoing, ReportedChange, Sink};

/// Whether a caller got its acknowledgement. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acknowledgement(Arc<AtomicBool>);

impl Acknowledgement {
    pub(crate) fn is_sent(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes that it is sent now. Whether it was sent before.
    pub(crate) fn note(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// An outbox that passes on everything but repeated acknowledgements, and calls a function with
    /// each.
    pub(crate) fn once(
        &self,
        outbox: &Outbox,
        exchange: ExchangeId,
        acknowledged: impl Fn() + Send + Sync + 'static,
    ) -> Outbox {
        let (outbox, sent) = (outbox.clone(), self.clone());
        Outbox::new(exchange, Arc::new(OnceAcknowledged { outbox, sent, acknowledged }))
    }
}

struct OnceAcknowledged<F> {
    outbox: Outbox,
    sent: Acknowledgement,
    acknowledged: F,
}

impl<F: Fn() + Send + Sync> Sink for OnceAcknowledged<F> {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::pin!(self.outbox.ready()).poll(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        if let Outgoing::Change(ReportedChange::Acknowledged(_)) = &outgoing {
            (self.acknowledged)();
            if self.sent.note() {
                return Ok(());
            }
        }
        self.outbox.emit(outgoing)
    }
}
