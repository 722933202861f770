//! Puts what is sent on a stream into the log of the stream.

use std::sync::Arc;

use bowline_proto::transmit::Role;
use bowline_transport::BoxFuture;
use bytes::Bytes;

use super::super::session::{Recorded, StreamLog};

/// Records what is sent on a stream. Without one, messages are sent as they come, without an id.
pub(super) struct Recorder {
    pub(super) log: Arc<StreamLog>,
    /// The message that was taken off the line last, until it is in the log or the store has refused it.
    /// The last event stays here although it was refused, if other endpoints wait for it.
    pub(super) unrecorded: Option<(Role, Bytes)>,
    /// The append of that message, once it has begun. A task that takes over from the driver goes on
    /// with it: the store may have taken the message already, and would take it twice.
    append: Option<BoxFuture<Recorded>>,
}

impl Recorder {
    pub(super) fn new(log: StreamLog) -> Self {
        let (unrecorded, append) = Default::default();
        Self { log: Arc::new(log), unrecorded, append }
    }

    /// Appends the message that was taken off the line last, or the empty last event. Called again
    /// after it was dropped, it goes on with the same append.
    pub(super) async fn append(&mut self, message: &Bytes, is_last: bool) -> Recorded {
        let append = self.append.get_or_insert_with(|| {
            let (log, message) = (self.log.clone(), message.clone());
            Box::pin(async move { log.append(&message, is_last).await })
        });
        let recorded = append.as_mut().await;
        let is_owed = is_last && recorded == Recorded::Unstored && self.log.is_known_to_others();
        self.unrecorded = is_owed.then(|| (Role::Ends, message.clone()));
        self.append = None;
        recorded
    }
}
