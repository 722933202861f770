//! What one copy of a shared session knows of the record in the store.
//!
//! Every endpoint with the same store can serve a session. It reads the record, makes a copy of the
//! session from it, and counts itself in before it opens a stream or asks a question. From then on
//! the copy reads the record at every request, and adopts what other copies have changed.

use std::time::{Duration, Instant};

use bowline_store::backend::Version;

use super::super::super::clock::now;
use super::super::super::limits::{HttpLimits, SWEEP};
use super::super::record::Record;

/// One endpoint's copy of a session that several endpoints serve. Part of the session's state, so
/// the session's lock guards it. A session without a shared store has none.
pub(super) struct SharedCopy {
    /// The number of this copy, counted in the record, once it has opened a stream or asked a question.
    pub(super) number: Option<u32>,
    /// The number before its first stream.
    pub(super) counts_from: u64,
    /// The record as this copy last read or wrote it.
    pub(super) record: Record,
    /// The version of that record in the store. A write names it, and fails if another copy has
    /// written since.
    pub(super) version: Version,
    /// When upkeep was due last.
    pub(super) kept_up: Instant,
}

impl SharedCopy {
    pub(super) fn new(number: Option<u32>, record: Record, version: Version) -> Self {
        Self { number, counts_from: 0, record, version, kept_up: now() }
    }

    /// Whether no other copy has the GET stream.
    pub(super) fn may_listen(&self) -> bool {
        self.record.listener.is_none() || self.record.listener == self.number
    }
}

/// How long a session may be idle.
pub(super) fn lifetime(limits: &HttpLimits, record: &Record) -> Duration {
    match record.session.is_initialized {
        true => limits.session_idle,
        false => limits.session_opening,
    }
}

/// How long the store keeps the record of a session with this lifetime, and its logs. Longer than the
/// lifetime: a request renews the record only when less than three quarters of this remain, and the
/// sweep may come late.
pub(super) fn kept(lifetime: Duration) -> Duration {
    lifetime.saturating_add(lifetime / 3).saturating_add(SWEEP * 2)
}
