//! The mark of an open stream in a shared store: which endpoint writes it, and what it answers.
//!
//! A mark exists while its stream is open. It names the endpoint by the id of its lease
//! ([`super::replica`]), and the requests whose answers are to come. An endpoint whose client resumes
//! the stream of a dead endpoint answers them with errors.

use bowline_types::id::RequestId;
use bowline_types::read::{read, text};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// What the mark of a stream says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StreamMark {
    /// The lease of the endpoint that writes the stream.
    pub(super) replica: String,
    /// The requests of the POST.
    pub(super) requests: Vec<RequestId>,
}

impl StreamMark {
    /// The mark of the stream that answers these requests.
    pub(super) fn new(replica: &str, requests: &[RequestId]) -> Self {
        Self { replica: replica.to_owned(), requests: requests.to_vec() }
    }

    /// The mark as the store keeps it.
    pub(super) fn text(&self) -> Bytes {
        // All of its parts can be written as JSON.
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Reads a mark. `None` if another version has written it.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        read(text(bytes).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for requests in [vec![], vec![RequestId::from("a")], vec![1.into(), 1.into()]] {
            let mark = StreamMark::new("replica", &requests);
            assert_eq!(StreamMark::parse(&mark.text()), Some(mark));
        }
    }
}
