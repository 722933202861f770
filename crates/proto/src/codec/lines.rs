//! Newline framing, as on stdio: one message a line.
//!
//! [`LineReader`] is fed bytes as they arrive and gives whole lines. A line over the limit is
//! skipped and not kept. It is reported once: when it crosses the limit, if its first bytes have the
//! id of its message, and otherwise at its end. CRLF, blank lines and a byte order mark at the start
//! are tolerated.
//!
//! ```
//! use bowline_proto::codec::Received;
//! use bowline_proto::codec::lines::LineReader;
//!
//! let mut reader = LineReader::new(1024);
//! reader.buffer().extend_from_slice(b"{\"a\":1}\r\n\n{\"b\"");
//! assert_eq!(reader.next(), Some(Received::Message("{\"a\":1}".into())));
//! assert_eq!(reader.next(), None);
//! ```

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

use super::skipped::{Skipped, Skipping};
use crate::limits::long::{LongMessageShare, LongMessages, Oversize};

/// Capacity kept between lines. A larger buffer is freed after use.
const KEEP: usize = 64 * 1024;

use super::Received;

/// Cuts a stream of bytes into lines. One for each channel that is read; it lives as long as the
/// channel.
#[derive(Debug)]
pub struct LineReader {
    buffer: BytesMut,
    /// How many bytes at the start of the buffer are known to hold no newline.
    searched: usize,
    limit: usize,
    room: LongMessages,
    /// The room of the line that is arriving, if it is long.
    share: Option<LongMessageShare>,
    /// The line that is skipped, until its end.
    skipping: Option<LongLine>,
    /// Set after the first line, before which a byte order mark may stand.
    begun: bool,
}

/// A line that is skipped because it is too long.
#[derive(Debug)]
enum LongLine {
    Unreported(Skipping),
    Reported,
}

impl LineReader {
    /// A reader for lines of at most this many bytes.
    pub fn new(limit: usize) -> Self {
        Self::sharing(limit, &LongMessages::new(limit.saturating_mul(2)))
    }

    /// The same, where long lines share this room with other readers.
    pub fn sharing(limit: usize, room: &LongMessages) -> Self {
        let (buffer, room) = (BytesMut::new(), room.clone());
        Self { buffer, searched: 0, limit, room, share: None, skipping: None, begun: false }
    }

    /// The buffer to append received bytes to. Call [`next`](Self::next) afterwards until it gives
    /// nothing.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// The next line, if a whole one has arrived.
    #[allow(clippy::should_implement_trait, reason = "`None` means not yet, not never")]
    pub fn next(&mut self) -> Option<Received> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(end) = memchr(b'\n', unsearched).map(|offset| self.searched + offset) else {
                self.searched = self.buffer.len();
                return self.overlong();
            };
            self.searched = 0;
            let mut line = self.buffer.split_to(end + 1);
            line.truncate(end);
            match self.skipping.take() {
                None => {}
                Some(LongLine::Reported) => continue,
                Some(LongLine::Unreported(mut skipping)) => {
                    skipping.push(&line);
                    return Some(skipping.finish().into());
                }
            }
            let share = self.share.take();
            if let Some(text) = self.trim(line.freeze()) {
                return Some(self.measure(text, share));
            }
        }
    }

    /// The rest when the stream ends: a last line without its newline, if any. A peer that exits
    /// without a last newline has still sent its message.
    pub fn finish(&mut self) -> Option<Received> {
        let rest = self.buffer.split().freeze();
        match self.skipping.take() {
            None => {}
            Some(LongLine::Reported) => return None,
            Some(LongLine::Unreported(skipping)) => return Some(skipping.unended().into()),
        }
        let share = self.share.take();
        self.trim(rest).map(|text| self.measure(text, share))
    }

    /// A line as text, or the report that it is too long.
    fn measure(&self, text: Bytes, share: Option<LongMessageShare>) -> Received {
        match share {
            _ if text.len() > self.limit => {
                Skipped::new(&text, Oversize::Longer(self.limit)).into()
            }
            None => Received::Message(text),
            Some(share) => Received::Message(share.keep(text)),
        }
    }

    /// Drops what has arrived of a line that crosses the limit before its end, or for which there is
    /// no room. Reports the line if its id is known.
    fn overlong(&mut self) -> Option<Received> {
        let mut report = None;
        if let Some(skipping) = &mut self.skipping {
            if let LongLine::Unreported(skipping) = skipping {
                skipping.push(&self.buffer);
            }
        } else {
            let Err(why) = self.bound() else {
                if self.buffer.is_empty() {
                    self.shrink();
                }
                return None;
            };
            self.share = None;
            let mut skipping = Skipping::new(why);
            skipping.push(&self.buffer);
            report = skipping.named().map(Received::from);
            self.skipping = Some(match report {
                Some(_) => LongLine::Reported,
                None => LongLine::Unreported(skipping),
            });
        }
        self.buffer.clear();
        self.searched = 0;
        self.shrink();
        report
    }

    /// Whether the line that is arriving may go on.
    fn bound(&mut self) -> Result<(), Oversize> {
        match self.buffer.len() {
            // One byte more than the limit may be the carriage return of a line that just fits.
            length if length > self.limit + 1 => Err(Oversize::Longer(self.limit)),
            length if length <= LongMessages::FREE => Ok(()),
            length => self.share.get_or_insert_with(|| self.room.share()).grow(length),
        }
    }

    /// Frees a large buffer once it is empty, so that one big message does not keep its memory for
    /// the life of the connection.
    fn shrink(&mut self) {
        if self.buffer.capacity() > KEEP {
            self.buffer = BytesMut::new();
        }
    }

    /// Drops the carriage return, a byte order mark at the very start, and blank lines.
    fn trim(&mut self, mut line: Bytes) -> Option<Bytes> {
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.advance(3);
        }
        let blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!blank).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(reader: &mut LineReader, bytes: &[u8]) -> Vec<Received> {
        reader.buffer().extend_from_slice(bytes);
        std::iter::from_fn(|| reader.next()).collect()
    }

    fn text(text: &str) -> Received {
        Received::Message(Bytes::copy_from_slice(text.as_bytes()))
    }

    // spec: STDIO-2
    #[test]
    fn a_line_is_a_unit_however_it_is_cut() {
        let bytes = b"{\"a\":1}\n{\"b\":2}\r\n\n  \n{}\n";
        for size in 1..=bytes.len() {
            let mut reader = LineReader::new(100);
            let units: Vec<_> = bytes.chunks(size).flat_map(|c| lines(&mut reader, c)).collect();
            assert_eq!(units, [text("{\"a\":1}"), text("{\"b\":2}"), text("{}")], "{size}");
            assert_eq!(reader.finish(), None);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_once_and_skipped() {
        for size in [1, 7, 64, 4096, 100_000] {
            let mut reader = LineReader::new(10);
            let mut bytes = vec![b'x'; 50_000];
            bytes.extend_from_slice(b"\n{}\n");
            let mut units = Vec::new();
            for chunk in bytes.chunks(size) {
                units.extend(lines(&mut reader, chunk));
                assert!(reader.buffer.len() <= 11, "it keeps what it skips");
            }
            assert!(
                matches!(&units[..], [Received::TooLong(..), rest] if *rest == text("{}")),
                "{size}: {units:?}"
            );
        }
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes() {
        let bytes = b"abcd\r\nabcd\n";
        let mut reader = LineReader::new(4);
        for size in 1..=bytes.len() {
            let units: Vec<_> = bytes.chunks(size).flat_map(|c| lines(&mut reader, c)).collect();
            assert_eq!(units, [text("abcd"), text("abcd")], "{size}");
        }
        assert!(matches!(lines(&mut reader, b"abcde\n")[..], [Received::TooLong(..)]));
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        let mut reader = LineReader::new(100);
        assert_eq!(lines(&mut reader, b"\xEF\xBB\xBF{}\n"), [text("{}")]);
        assert_eq!(lines(&mut reader, b"\xEF\xBB\xBF{}\n"), [text("\u{feff}{}")]);
    }

    #[test]
    fn a_last_line_without_its_end_still_counts() {
        let mut reader = LineReader::new(100);
        assert_eq!(lines(&mut reader, b"{}\n{\"a\""), [text("{}")]);
        assert_eq!(reader.finish(), Some(text("{\"a\"")));
    }

    #[test]
    fn memory_of_a_big_line_is_given_back() {
        let mut reader = LineReader::new(1 << 20);
        let mut bytes = vec![b'x'; 1 << 19];
        bytes.push(b'\n');
        assert_eq!(lines(&mut reader, &bytes).len(), 1);
        assert!(reader.buffer.capacity() <= KEEP);
    }

    #[test]
    fn memory_that_was_reserved_is_given_back_when_nothing_is_left_in_it() {
        let mut reader = LineReader::new(1 << 20);
        reader.buffer().reserve(1 << 20);
        assert_eq!(lines(&mut reader, b"{}\n{"), [text("{}")]);
        assert!(reader.buffer.capacity() > KEEP, "something is left in it");
        assert_eq!(lines(&mut reader, b"}\n"), [text("{}")]);
        assert!(reader.buffer.capacity() <= KEEP);
    }

    #[test]
    fn memory_of_a_line_that_is_skipped_is_given_back_while_it_is_skipped() {
        let mut reader = LineReader::new(10);
        for _ in 0..3 {
            assert_eq!(lines(&mut reader, &vec![b'x'; 1 << 19]), []);
            assert!(reader.buffer.capacity() <= KEEP);
        }
    }

    #[test]
    fn a_line_whose_first_bytes_have_an_id_is_reported_before_its_end() {
        let mut reader = LineReader::new(100);
        let begin = format!(r#"{{"id":7,"result":{{"a":"{}"#, "x".repeat(100));
        let units = lines(&mut reader, begin.as_bytes());
        let [Received::TooLong(skipped)] = &units[..] else { panic!("{units:?}") };
        assert_eq!(skipped.id(), Some(7.into()));
        assert_eq!(lines(&mut reader, b"\"},\"id\":7}\n{}\n"), [text("{}")]);
    }

    #[test]
    fn the_end_of_a_line_that_is_skipped_is_no_line() {
        let mut reader = LineReader::new(10);
        assert_eq!(lines(&mut reader, &[b'x'; 50]), []);
        reader.buffer().extend_from_slice(b"{}");
        assert!(matches!(reader.finish(), Some(Received::TooLong(_))));
        assert_eq!(reader.finish(), None);
    }
}
