//! Collects the answers to one batch until all are there (2025-03-26).

use std::collections::HashMap;

use bytes::Bytes;

use crate::wire::splice;

/// The number of a batch on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BatchId(u64);

/// Batches whose answers are not complete.
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
    pub(super) fn await_one(&mut self, id: BatchId) {
        if let Some(batch) = self.open.get_mut(&id) {
            batch.awaited += 1;
        }
    }

    /// Takes an awaited answer, or `None` if there will be none.
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
