//! Which copy of a shared session has the GET stream: the record says so.

use std::sync::Arc;

use bowline_store::backend::Error;
use bowline_transport::task::spawn_on;

use super::super::record::Record;
use super::HttpSession;

impl HttpSession {
    /// Writes into the record that this copy has the GET stream. A copy that has one ends it: each
    /// message goes to one stream only.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(in super::super) async fn claim_get_stream(self: &Arc<Self>) -> Result<(), Error> {
        self.take_number().await?;
        let claim = |record: &mut Record, copy| {
            record.listener = copy;
            record.get_streams = record.get_streams.saturating_add(1);
        };
        self.write(claim).await
    }

    /// Writes into the record, in a task, that this copy has no GET stream any more.
    pub(super) fn release_get_stream(self: &Arc<Self>) {
        let (Ok(runtime), true) = (tokio::runtime::Handle::try_current(), self.is_shared()) else {
            return;
        };
        let session = self.clone();
        spawn_on(&runtime, async move {
            // If the store fails, the next claim of a GET stream overwrites ours.
            let _ = session
                .write(|record, copy| {
                    record.listener = record.listener.filter(|&listener| Some(listener) != copy);
                })
                .await;
            // A newer stream may have claimed the session before we wrote.
            if session.is_listened_to() {
                let _ = session.write(|record, copy| record.listener = copy).await;
            }
        });
    }
}
