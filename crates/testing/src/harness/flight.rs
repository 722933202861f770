//! Holds virtual time still while messages are on their way through the system.
//!
//! A runtime with paused time moves it on whenever it has nothing to do. It does not know that a
//! message may be in a pipe, and would let the client's time-outs fire while the answer is there
//! already. So messages are counted, and while there are any, a task keeps the runtime busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bowline::transport::tap::{Direction, Tap};
use bowline::transport::transport::Transport;
use tokio::sync::Notify;
use tokio::task::yield_now;

/// How often the runtime is kept busy for messages that nobody reads. A peer that has gone away
/// reads no more, and then time must go on.
const MOST: usize = 10_000;

/// How many messages are on their way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    count: AtomicI64,
    begun: Notify,
}

impl Flight {
    /// Watches the two ends of a channel.
    pub(super) fn watch<N: Transport, F: Transport>(
        near: N,
        far: F,
    ) -> (impl Transport, impl Transport) {
        let flight = Arc::<Self>::default();
        tokio::spawn(Arc::clone(&flight).hold());
        let near = Tap::new(near, Self::counter(Arc::clone(&flight)));
        let far = Tap::new(far, Self::counter(Arc::clone(&flight)));
        (near, far)
    }

    fn counter(flight: Arc<Self>) -> impl Fn(Direction, &[u8]) + Send + Sync + 'static {
        move |direction, _| match direction {
            Direction::Sent => {
                flight.count.fetch_add(1, Ordering::AcqRel);
                flight.begun.notify_one();
            }
            Direction::Received => {
                flight.count.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// Keeps the runtime busy while anything is on its way.
    async fn hold(self: Arc<Self>) {
        loop {
            self.begun.notified().await;
            for _ in 0..MOST {
                if self.count.load(Ordering::Acquire) <= 0 {
                    break;
                }
                yield_now().await;
            }
        }
    }
}
