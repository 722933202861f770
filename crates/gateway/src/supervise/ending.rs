//! The connections to one server that are being closed, so that a caller can wait for the end of all,
//! also of those that another one closes.

use tokio::sync::watch;

/// The connections that are being closed, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endings(watch::Sender<usize>);

/// A connection that is being closed, until it is dropped.
#[derive(Debug)]
pub(crate) struct Ending(watch::Sender<usize>);

impl Endings {
    pub(crate) fn begin(&self) -> Ending {
        self.0.send_modify(|count| *count += 1);
        Ending(self.0.clone())
    }

    /// Whether no connection is being closed.
    pub(crate) fn are_over(&self) -> bool {
        *self.0.borrow() == 0
    }

    /// Waits until no connection is being closed.
    pub(crate) async fn over(&self) {
        // Fails only if the sender is gone, which this holds.
        _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
