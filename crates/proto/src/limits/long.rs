//! Long messages: the room that they share while they arrive, and why one is skipped.
//!
//! A limit for one message does not bound the memory of a process with many connections. So all
//! connections that share a [`LongMessages`] have one sum of bytes for messages beyond
//! [`LongMessages::FREE`]. Nothing waits for room, because the messages that hold it might wait for
//! each other: a message that finds none is skipped, and the call that it answers fails.
//!
//! A peer may leave messages unfinished for as long as it likes. So a message takes at most half of
//! the room that the others leave, and there is always some left.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// The room for long messages, shared by all clones.
///
/// ```
/// use bowline_proto::limits::long::LongMessages;
///
/// let room = LongMessages::new(2 << 20);
/// let mut first = room.share();
/// assert!(first.grow(1 << 20).is_ok());
/// assert!(room.share().grow(1 << 20).is_err());
/// drop(first);
/// assert_eq!(room.held(), 0);
/// ```
#[derive(Clone)]
pub struct LongMessages(Arc<Room>);

struct Room {
    bytes: usize,
    held: AtomicUsize,
}

impl LongMessages {
    /// How many bytes of each message need no room.
    pub const FREE: usize = 256 * 1024;

    /// Room for this number of bytes: twice the longest message or more.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Room { bytes, held: AtomicUsize::new(0) }))
    }

    /// The bytes that there is room for.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// The bytes that are held.
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// Begins to count a message.
    pub fn share(&self) -> LongMessageShare {
        LongMessageShare { room: self.clone(), bytes: 0 }
    }
}

/// Equal if there is as much room in both.
impl PartialEq for LongMessages {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for LongMessages {}

impl fmt::Debug for LongMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.held(), self.bytes())
    }
}

/// The room that one message holds. Dropping it returns the room.
#[derive(Debug)]
pub struct LongMessageShare {
    room: LongMessages,
    bytes: usize,
}

impl LongMessageShare {
    /// Holds room for the first `length` bytes of the message.
    ///
    /// # Errors
    ///
    /// If there is not enough room. The share then still holds what it held.
    pub fn grow(&mut self, length: usize) -> Result<(), Oversize> {
        let Some(more) = length.saturating_sub(LongMessages::FREE).checked_sub(self.bytes) else {
            return Ok(());
        };
        let Room { bytes, held } = &*self.room.0;
        let sum = |held: usize| {
            let left = bytes.saturating_sub(held - self.bytes);
            (self.bytes + more <= left / 2).then_some(held + more)
        };
        let grown = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        grown.map_err(|_| Oversize::Crowded(*bytes))?;
        self.bytes += more;
        Ok(())
    }

    /// The whole text of the message. It holds the room until its last part is dropped.
    pub fn keep(self, text: Bytes) -> Bytes {
        match self.bytes {
            0 => text,
            _ => Bytes::from_owner(Kept { text, _share: self }),
        }
    }
}

impl Drop for LongMessageShare {
    fn drop(&mut self) {
        self.room.0.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A text with its room.
struct Kept {
    text: Bytes,
    _share: LongMessageShare,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

/// Why a message was skipped because of its length. Its text follows "it is".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oversize {
    /// It is longer than this many bytes, which is [`Limits::frame`](crate::limits::Limits::frame).
    Longer(usize),
    /// There was no room for it beside other long messages. All of them have this many bytes
    /// together, and each one half of what the others leave.
    Crowded(usize),
}

impl fmt::Display for Oversize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longer(most) => write!(f, "longer than {}", Size(*most)),
            Self::Crowded(room) => write!(
                f,
                "too long to be read beside other long messages, which have {} together",
                Size(*room)
            ),
        }
    }
}

/// A number of bytes, in MiB if that is a whole number.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: usize = 1024 * 1024;
        match self.0 {
            bytes if bytes >= MIB && bytes % MIB == 0 => write!(f, "{} MiB", bytes / MIB),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_its_room_until_its_last_part_is_dropped() {
        let room = LongMessages::new(1 << 20);
        let mut share = room.share();
        let length = LongMessages::FREE + 1000;
        share.grow(length).unwrap();
        share.grow(length - 500).unwrap();
        let text = share.keep(vec![b'x'; length].into());
        let part = text.slice(10..20);
        drop(text);
        assert_eq!(room.held(), 1000);
        drop(part);
        assert_eq!(room.held(), 0);
    }

    /// Such as four lines that a server leaves unfinished just below the limit of one message.
    #[test]
    fn messages_that_never_end_leave_room_for_those_of_others() {
        const MIB: usize = 1 << 20;
        let room = LongMessages::new(256 * MIB);
        let mut held: Vec<_> = (0..4).map(|_| room.share()).collect();
        for share in &mut held {
            // As the bytes arrive: until there is no room, or the message is as long as it may be.
            let _ = (1..64).try_for_each(|length| share.grow(length * MIB));
        }
        assert!(room.share().grow(16 * MIB).is_ok(), "{room:?}");
        let mut alone = LongMessages::new(128 * MIB).share();
        assert!(alone.grow(64 * MIB).is_ok());
        assert!(alone.grow(65 * MIB).is_err());
    }

    #[test]
    fn the_reason_names_the_limit() {
        assert_eq!(Oversize::Longer(64 << 20).to_string(), "longer than 64 MiB");
        assert_eq!(Oversize::Longer(400).to_string(), "longer than 400 bytes");
        assert!(Oversize::Crowded(256 << 20).to_string().ends_with("256 MiB together"));
    }
}
