//! What one copy of a shared session knows of the record in the store.
//!
//! Every endpoint with the same store can serve a session. It reads the record, makes a copy of the
//! session from it, and counts itself in before it opens a stream or asks a question. From then on
//! the copy reads the record at every request, and adopts what other copies have changed.

use std::time::{Duration, Instant};

use bowline_proto::pace::Pace;
use bowline_proto::request::ReportedChange;
use bowline_store::backend::Version;

use super::super::super::clock::now;
use super::super::super::limits::{HttpLimits, SWEEP};
use super::super::broadcast_pace;
use super::super::record::Record;

/// The changes of lists.
const LISTS: [ReportedChange; 3] =
    [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources];

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
    /// How many GET streams the session had had when this copy began to note changes. `None` if it has
    /// noted all changes since the stream before last: those of the time between two streams, too.
    pub(super) notes_since: Option<u64>,
    /// When upkeep was due last.
    pub(super) kept_up: Instant,
    /// The pace of the client's messages that this copy passes on ([`broadcast_pace`]).
    pub(super) passed_on: Pace,
    /// Whether a task reads the record because another copy has changed it.
    pub(super) reading: Reading,
    /// How many messages' changes were taken back ([`super::unsaved`]).
    pub(super) taken_back: u64,
}

/// Whether a task reads the record of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    #[default]
    Idle,
    UnderWay,
    /// The record has changed since the task began, so it reads once more.
    AndOnceMore,
}

impl SharedCopy {
    pub(super) fn new(number: Option<u32>, record: Record, version: Version) -> Self {
        Self {
            number,
            counts_from: 0,
            record,
            version,
            notes_since: None,
            kept_up: now(),
            passed_on: broadcast_pace::new(),
            reading: Reading::Idle,
            taken_back: 0,
        }
    }

    /// A copy of a session that another one has opened.
    pub(super) fn restored(record: Record, version: Version) -> Self {
        Self { notes_since: Some(record.get_streams), ..Self::new(None, record, version) }
    }

    /// Notes that changes may have been missed until now.
    pub(super) fn misses_changes(&mut self) {
        self.notes_since = Some(self.record.get_streams);
    }

    /// What the GET stream that this copy has just claimed must report, because perhaps no endpoint
    /// has noted it between that stream and the one before. From now on this copy does.
    ///
    /// A client that opens its first stream has read the lists a moment ago, so they are left out.
    pub(super) fn take_missed(&mut self) -> Option<&'static [ReportedChange]> {
        let since = self.notes_since.take()?;
        let has_missed = since.saturating_add(1) >= self.record.get_streams;
        let lists = if self.record.get_streams > 1 { &LISTS[..] } else { &[] };
        has_missed.then_some(lists)
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

#[cfg(test)]
mod tests {
    use bowline_proto::request::Owner;
    use bowline_proto::server::SessionSnapshot;
    use bowline_types::deprecated::logging::LoggingLevel;
    use bowline_types::revision::Revision;

    use super::*;

    // The store may have any number.
    #[tokio::test]
    async fn a_record_with_the_highest_number_of_streams_is_a_record() {
        let session = SessionSnapshot::new(Revision::V2025_11_25, LoggingLevel::Info);
        let mut record = Record::new(&Owner::anonymous(), session);
        record.get_streams = u64::MAX;
        let mut copy = SharedCopy::new(Some(0), record, Version(1));
        copy.misses_changes();
        assert_eq!(copy.take_missed().map(<[_]>::len), Some(3));
        assert!(copy.take_missed().is_none(), "they are reported once");
    }
}
