//! Collects the answers to one batch until all are there (2025-03-26).
//!
//! JSON-RPC answers an array with an array. Its requests run at the same time, and the answers are
//! sent together once the last call has ended. Notifications and cancelled calls have no answer,
//! and an array without any answer is not answered at all.

use std::collections::HashMap;

use bytes::Bytes;

use crate::splice;

/// The number of a batch on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BatchId(u64);

/// Batches whose answers are not complete. Bounded by the calls that may wait and run, since a
/// batch is open only as long as one of its calls is.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: HashMap<BatchId, Batch>,
    last: u64,
}

/// The answers of one batch so far.
#[derive(Debug, Default)]
struct Batch {
    awaited: usize,
    answers: Vec<Bytes>,
}

impl Batches {
    /// Opens a batch.
    pub(super) fn open(&mut self) -> BatchId {
        self.last += 1;
        let id = BatchId(self.last);
        self.open.insert(id, Batch::default());
        id
    }

    /// Adds one awaited answer.
    ///
    /// The connection awaits one more than there are requests until it has read the whole array.
    /// Otherwise a call that is answered at once would end the batch early.
    pub(super) fn await_one(&mut self, id: BatchId) {
        if let Some(batch) = self.open.get_mut(&id) {
            batch.awaited += 1;
        }
    }

    /// Takes an awaited answer, or `None` if there will be none. Gives the array to send if this
    /// was the last.
    pub(super) fn answer(&mut self, id: BatchId, answer: Option<Bytes>) -> Option<Bytes> {
        let batch = self.open.get_mut(&id)?;
        batch.awaited = batch.awaited.saturating_sub(1);
        batch.answers.extend(answer);
        self.finish(id)
    }

    /// Gives all answers as one message once none is missing. Gives nothing if all were
    /// notifications.
    pub(super) fn finish(&mut self, id: BatchId) -> Option<Bytes> {
        if self.open.get(&id)?.awaited > 0 {
            return None;
        }
        let answers = self.open.remove(&id)?.answers;
        (!answers.is_empty()).then(|| splice::batch(&answers))
    }
}
