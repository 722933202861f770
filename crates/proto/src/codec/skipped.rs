//! Messages that are skipped because of their length, and the parts of them that are kept.
//!
//! The first and the last bytes are kept: with the id of the message, its failure reaches the call
//! that caused it. The members of a message have no order, and some SDKs write the id last.

use bowline_types::id::RequestId;
use bytes::Bytes;

use super::Received;
use crate::frame::{last_members, value_within, whole_characters};
use crate::limits::long::Oversize;

/// The most bytes kept of each end of a message.
pub(super) const END: usize = 4096;

/// A message that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its first bytes.
    pub head: Bytes,
    /// Its last bytes. Empty if it was reported before its end.
    pub tail: Bytes,
    /// Why it was skipped.
    pub why: Oversize,
}

impl Skipped {
    /// What is kept of a whole message.
    pub fn new(message: &[u8], why: Oversize) -> Self {
        let mut skipping = Skipping::new(why);
        skipping.push(message);
        skipping.finish()
    }

    /// The id, if it is certain: a member of the message itself, near the beginning or the end.
    pub fn id(&self) -> Option<RequestId> {
        self.member("id").and_then(|id| RequestId::from_json(&id).ok())
    }

    /// Whether it is seen to be a request or a notification, and so no answer.
    pub fn is_call(&self) -> bool {
        self.member("method").is_some()
    }

    /// The text of a member of the message.
    fn member(&self, name: &str) -> Option<String> {
        let first = value_within(whole_characters(&self.head), name).map(str::to_owned);
        first.or_else(|| {
            let last = last_members(&self.tail)?;
            value_within(&last, name).map(str::to_owned)
        })
    }
}

/// A message that is being skipped. Takes a bounded amount of memory, however long the message is.
#[derive(Debug)]
pub(super) struct Skipping {
    head: Vec<u8>,
    tail: Vec<u8>,
    why: Oversize,
}

impl Skipping {
    pub(super) fn new(why: Oversize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), why }
    }

    /// Takes the next bytes of the message.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = END.saturating_sub(self.head.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.tail.extend_from_slice(last(bytes));
        // Not for every few bytes, which would move the rest each time.
        if self.tail.len() > 2 * END {
            self.tail.drain(..self.tail.len() - END);
        }
    }

    /// The report of a message that has not ended, if its first bytes have the id already.
    pub(super) fn named(&self) -> Option<Skipped> {
        let skipped = self.unended();
        skipped.id().is_some().then_some(skipped)
    }

    /// The report of a message whose end does not come. Its last bytes may be in the middle of a
    /// result, where a member has another meaning.
    pub(super) fn unended(&self) -> Skipped {
        let head = Bytes::copy_from_slice(&self.head);
        Skipped { head, tail: Bytes::new(), why: self.why }
    }

    /// The report of a message that has ended.
    pub(super) fn finish(self) -> Skipped {
        let tail = Bytes::copy_from_slice(last(&self.tail));
        Skipped { head: self.head.into(), tail, why: self.why }
    }
}

impl From<Skipped> for Received {
    fn from(skipped: Skipped) -> Self {
        Self::TooLong(Box::new(skipped))
    }
}

/// The last bytes.
fn last(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(END)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(message: &str) -> Skipped {
        Skipped::new(message.as_bytes(), Oversize::Longer(100))
    }

    #[test]
    fn the_id_of_a_message_is_found_at_either_end_and_nowhere_else() {
        let long = r#"\",\"id\":77,{\"id\":78}"#.repeat(1000);
        let nested = format!(r#"{{"content":[{{"text":"{long}"}}],"last":{{"id":79,"s":"\\"}}}}"#);
        for (message, id) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,"result":{nested}}}"#), Some(7)),
            (format!(r#"{{"result":{nested},"jsonrpc":"2.0","id":7}}"#), Some(7)),
            (format!(r#"{{"result":{nested}, "id" : 7 , "jsonrpc":"2.0"}} "#), Some(7)),
            (format!(r#"{{"result":{nested},"id":7,"error":{{"message":"a,]}}"}}}}"#), Some(7)),
            (format!(r#"{{"result":{nested},"id":7,"other":{nested}}}"#), None),
            (format!(r#"{{"result":{nested},"jsonrpc":"2.0"}}"#), None),
            (format!(r#"{{"jsonrpc":"2.0","result":{nested}}}"#), None),
            (format!(r#"{{"result":{nested},"id":[7]}}"#), None),
            (format!(r#"[{{"result":{nested},"id":7}}]"#), None),
            (long.clone(), None),
        ] {
            assert_eq!(skipped(&message).id(), id.map(RequestId::from), "{message:.60}");
        }
        let short = skipped(r#"{"result":{"id":1},"id":"x"}"#);
        assert_eq!(short.id(), Some("x".into()));
    }

    #[test]
    fn the_end_of_what_has_not_ended_is_not_read() {
        let begun = format!(r#"{{"result":[{{"a":"{}","id":7}}"#, "x".repeat(10_000));
        let mut skipping = Skipping::new(Oversize::Longer(100));
        skipping.push(begun.as_bytes());
        assert_eq!(skipping.unended().id(), None);
        assert!(skipping.named().is_none());
    }

    #[test]
    fn a_request_or_notification_is_no_answer() {
        let long = "x".repeat(10_000);
        assert!(
            skipped(&format!(r#"{{"id":1,"method":"a","params":{{"x":"{long}"}}}}"#)).is_call()
        );
        assert!(skipped(&format!(r#"{{"params":{{"x":"{long}"}},"method":"a"}}"#)).is_call());
        assert!(!skipped(&format!(r#"{{"result":{{"method":"{long}"}},"id":1}}"#)).is_call());
    }

    #[test]
    fn the_ends_are_the_same_however_a_message_arrives() {
        let message: Vec<u8> = (0..20_000_u32).map(|n| (n % 251) as u8).collect();
        let whole = Skipped::new(&message, Oversize::Longer(100));
        assert_eq!((whole.head.len(), whole.tail.len()), (END, END));
        for size in [1, 7, 4096, 5000] {
            let mut skipping = Skipping::new(Oversize::Longer(100));
            message.chunks(size).for_each(|piece| skipping.push(piece));
            assert!(skipping.tail.capacity() <= 4 * END);
            assert_eq!(skipping.finish(), whole, "{size}");
        }
    }
}
