//! What the store holds of a session, so that every endpoint with the same store can serve it.
//!
//! The record also counts the copies of the session. The number of a copy is the upper part of the
//! numbers of its streams and questions, so no two endpoints use the same event id (RESUME-2) or
//! request id (RPC-4).

use bowline_proto::request::Owner;
use bowline_proto::server::SessionSnapshot;
use bowline_store::{Error, Key};
use bowline_types::read::{read, text};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The format that is written. A record in an older format is treated as missing.
///
/// A number that changes whenever old endpoints could misread the record. During an update both
/// versions may run at once. An old endpoint then refuses a session of a newer one with 503, not 404:
/// the session exists, and the client may reach an endpoint that can serve it.
const FORMAT: u32 = 1;

/// How many copies may be made of a session. Ids of questions must stay below 2^53: beyond that,
/// JavaScript cannot tell them apart.
const COPIES: u32 = 1 << 21;

/// By how many bits the number of a copy is shifted to begin the numbers of its streams and questions.
const SHIFT: u32 = 32;

/// A session, as all endpoints that serve it agree on it.
///
/// Each endpoint writes it with a comparison of versions, so no change of another is overwritten
/// unread. It holds nothing of calls: a call runs at one endpoint, and its outcome goes to the
/// client from there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    format: u32,
    /// Issuer and subject, unless anonymous. Compared at every restore: an id alone does not give
    /// access to the session.
    owner: Option<(String, String)>,
    /// How many copies there were so far.
    copies: u32,
    /// The copy that has the GET stream, if any has.
    pub(super) listener: Option<u32>,
    /// How many GET streams there were so far, at all endpoints.
    #[serde(default)]
    pub(super) get_streams: u64,
    #[serde(with = "snapshot")]
    pub(super) session: SessionSnapshot,
}

/// What all formats have in common.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Reads and writes the session within a record in the form that `proto` defines.
mod snapshot {
    use bowline_proto::server::SessionSnapshot;
    use bowline_types::json::RawJson;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(
        session: &SessionSnapshot,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        session.to_json().map_err(ser::Error::custom)?.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<SessionSnapshot, D::Error> {
        SessionSnapshot::from_json(&RawJson::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl Record {
    /// The record of a session of which there is one copy, with the number 0.
    pub(super) fn new(owner: &Owner, session: SessionSnapshot) -> Self {
        let owner = identity(owner);
        Self { format: FORMAT, owner, copies: 1, listener: None, get_streams: 0, session }
    }

    /// Reads a record. `None` if it is in an older format, or none.
    ///
    /// # Errors
    ///
    /// If it is in a newer format.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Error> {
        let Ok(text) = text(bytes) else { return Ok(None) };
        match read::<Format>(text) {
            Ok(Format { format }) if format > FORMAT => Err(Error::new(format!(
                "the record of the session has format {format}, and this server reads up to \
                 {FORMAT}: update it, as the others on this store"
            ))),
            Ok(Format { format: FORMAT }) => Ok(read(text).ok()),
            _ => Ok(None),
        }
    }

    /// The record as the store keeps it.
    pub(super) fn text(&self) -> Bytes {
        // All of its parts can be written as JSON; an empty record would be treated as missing.
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Anonymous sessions belong to every anonymous caller; their id is their only secret.
    pub(super) fn belongs_to(&self, owner: &Owner) -> bool {
        self.owner == identity(owner)
    }

    /// Counts one more copy and returns its number. `None` if there were too many.
    pub(super) fn add_copy(&mut self) -> Option<u32> {
        let copy = self.copies;
        self.copies = self.copies.saturating_add(1);
        (copy < COPIES).then_some(copy)
    }
}

fn identity(owner: &Owner) -> Option<(String, String)> {
    owner.identity().map(|(issuer, subject)| (issuer.to_owned(), subject.to_owned()))
}

/// The number before the first stream and the first question of a copy. Copy 0 begins at 0, so a
/// session that is never shared counts its streams from 1.
pub(super) fn before_first(copy: u32) -> u64 {
    u64::from(copy) << SHIFT
}

/// A random number below 2^31, by which a copy begins to count later. If the store loses the record
/// that counts a copy, the next copy gets the same number; its ids still differ. 0 if the system has
/// no randomness.
pub(super) fn random_start() -> u64 {
    let mut bytes = [0; 4];
    let _ = getrandom::fill(&mut bytes);
    u64::from(u32::from_le_bytes(bytes) >> 1)
}

/// The copy that gave a stream or a question its number.
pub(super) fn copy_of(number: u64) -> u64 {
    number >> SHIFT
}

/// The key of the record of a session. The id must be [one of ours](super::super::random_id::is_id).
pub(super) fn key(session: &str) -> Key {
    Key::new(["session", session])
}

/// The key of the value that exists while a stream of a session is open.
pub(super) fn stream_key(session: &str, stream: u64) -> Key {
    Key::new(["stream", session, &stream.to_string()])
}

#[cfg(test)]
mod tests {
    use bowline_types::deprecated::logging::LoggingLevel;
    use bowline_types::revision::Revision;

    use super::*;

    fn record() -> Record {
        let session = SessionSnapshot::new(Revision::V2025_06_18, LoggingLevel::Info);
        Record::new(&Owner::known("issuer", "ann"), session)
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(Record::parse(&record().text()).unwrap(), Some(record()));
    }

    #[test]
    fn a_record_in_an_older_format_is_treated_as_missing() {
        let older = Record { format: FORMAT - 1, ..record() };
        for text in [older.text(), Bytes::new(), Bytes::from_static(b"{}")] {
            assert_eq!(Record::parse(&text).unwrap(), None, "{text:?}");
        }
    }

    #[test]
    fn a_record_in_a_newer_format_is_an_error() {
        let error = Record::parse(br#"{"format":2,"news":[]}"#).unwrap_err().to_string();
        assert!(error.contains("has format 2, and this server reads up to 1"), "{error}");
    }

    // spec: SESS-16
    #[test]
    fn a_record_belongs_to_its_owner_only() {
        let owned = record();
        assert!(owned.belongs_to(&Owner::known("issuer", "ann")));
        for other in [Owner::known("issuer", "bob"), Owner::known("x", "ann"), Owner::anonymous()] {
            assert!(!owned.belongs_to(&other), "{other:?}");
        }
    }

    // spec: RPC-4, RESUME-2
    #[test]
    fn no_two_copies_share_a_number_and_all_are_safe_in_javascript() {
        let mut record = Record { copies: COPIES - 2, ..record() };
        let copies: Vec<_> = std::iter::from_fn(|| record.add_copy()).collect();
        assert_eq!(copies, [COPIES - 2, COPIES - 1]);
        let last = before_first(COPIES - 1) + u64::from(u32::MAX);
        assert_eq!(copy_of(last), u64::from(COPIES - 1));
        assert!(last < 1 << 53);
    }

    #[test]
    fn a_record_that_counts_too_many_copies_has_no_number_for_another() {
        let mut record = Record { copies: u32::MAX, ..record() };
        assert_eq!(record.add_copy(), None);
    }
}
