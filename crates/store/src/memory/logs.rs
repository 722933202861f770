//! One log of the memory backend.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;

use super::limits::{MemoryLimits, OVERHEAD};
use crate::backend::{LogItem, LogSlice, Position};

/// Kept even when all items were dropped, so that positions go on and a gap is noticed.
pub(super) struct StoredLog {
    pub(super) items: VecDeque<Bytes>,
    /// The position of the first item, or of the next one if the log is empty.
    pub(super) oldest: u64,
    pub(super) bytes: usize,
    pub(super) expires: Instant,
}

impl StoredLog {
    pub(super) fn new(expires: Instant) -> Self {
        Self { items: VecDeque::new(), oldest: 1, bytes: 0, expires }
    }

    /// The position of the next item.
    pub(super) fn next(&self) -> Position {
        Position(self.oldest + self.items.len() as u64)
    }

    /// Drops all items if the position of the next one would not exceed this.
    pub(super) fn go_above(&mut self, above: Position) {
        if self.next() <= above {
            self.items.clear();
            self.bytes = 0;
            self.oldest = above.0.saturating_add(1);
        }
    }

    /// Appends an item, and drops the oldest beyond the limits.
    pub(super) fn push(&mut self, value: Bytes, limits: &MemoryLimits) -> Position {
        let position = self.next();
        self.bytes += value.len() + OVERHEAD;
        self.items.push_back(value);
        // The newest item stays even if it exceeds the limit alone.
        while (self.bytes > limits.log_bytes || self.items.len() > limits.log_items)
            && self.items.len() > 1
        {
            self.forget_oldest();
        }
        position
    }

    /// The positions of the others stay.
    pub(super) fn forget_oldest(&mut self) {
        if let Some(item) = self.items.pop_front() {
            self.oldest += 1;
            self.bytes -= item.len() + OVERHEAD;
        }
    }

    /// The items after a position, at most `limit`.
    pub(super) fn slice(&self, after: Position, limit: usize) -> LogSlice {
        let skipped = after.0.saturating_add(1).saturating_sub(self.oldest);
        let skip = usize::try_from(skipped).unwrap_or(usize::MAX);
        let positions = (self.oldest..).map(Position);
        let items = positions.zip(&self.items).skip(skip).take(limit);
        let items =
            items.map(|(position, value)| LogItem { position, value: value.clone() }).collect();
        LogSlice { oldest: Position(self.oldest), next: self.next(), items }
    }
}
