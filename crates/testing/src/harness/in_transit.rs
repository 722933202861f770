//! Stops virtual time while messages are in a pipe or socket.
//!
//! A runtime with paused time advances it whenever all tasks are idle. It does not know that a
//! message may be in a pipe, so the client's timeouts would fire although the answer was sent. To
//! prevent that, messages are counted when sent and when received, and a task keeps the runtime busy
//! while the count is not zero.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bowline_transport::tap::{Tap, TapDirection};
use bowline_transport::transport::{ServerTransport, Transport};
use tokio::sync::Notify;
use tokio::task::yield_now;

/// How many polls the runtime is kept busy for one message. A peer that is gone never reads it, and
/// then time must continue.
const MAX_POLLS: usize = 10_000;

/// Counts the messages between two transports. One for each connection. It ends with the runtime.
#[derive(Debug, Default)]
pub(super) struct MessagesInTransit {
    count: AtomicI64,
    sent: Notify,
}

impl MessagesInTransit {
    /// Wraps both ends of a channel so that their messages are counted.
    pub(super) fn watch<N: Transport, F: ServerTransport>(
        near: N,
        far: F,
    ) -> (impl Transport, impl ServerTransport) {
        let in_transit = Arc::<Self>::default();
        tokio::spawn(Arc::clone(&in_transit).keep_busy());
        let near = Tap::new(near, Self::counter(Arc::clone(&in_transit)));
        let far = Tap::new(far, Self::counter(Arc::clone(&in_transit)));
        (near, far)
    }

    /// Sent on one end and received on the other meet in one counter.
    fn counter(in_transit: Arc<Self>) -> impl Fn(TapDirection, &[u8]) + Send + Sync + 'static {
        move |direction, _| match direction {
            TapDirection::Sent => {
                in_transit.count.fetch_add(1, Ordering::AcqRel);
                in_transit.sent.notify_one();
            }
            TapDirection::Received => {
                in_transit.count.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// Keeps the runtime busy while a message is in transit.
    async fn keep_busy(self: Arc<Self>) {
        loop {
            self.sent.notified().await;
            for _ in 0..MAX_POLLS {
                if self.count.load(Ordering::Acquire) <= 0 {
                    break;
                }
                yield_now().await;
            }
        }
    }
}
