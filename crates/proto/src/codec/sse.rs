//! Server-sent events, as HTTP carries streams: fed in pieces, bounded.
//!
//! [`SseReader`] is fed bytes as they arrive and gives whole events. Lines end with LF, CR or CRLF,
//! also when the CRLF is split between two reads, and with nothing else: U+2028 is text. Comments,
//! unknown fields and events without data are skipped. [`write_event`] escapes the characters that
//! some readers take for line ends.

use std::mem;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use memchr::{memchr2, memchr2_iter};

use super::Received;
use super::skipped::Skipping;
use crate::limits::long::{LongMessageShare, LongMessages, Oversize};

/// The longest line that is not `data`, in bytes. Longer ones are skipped.
const FIELD: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event that has data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The type of the event; `None` means `message`.
    pub name: Option<String>,
    /// The data of the event.
    pub data: Received,
}

/// Cuts a stream of bytes into events. One for each connection of a stream. A client that resumes
/// makes a new one, and takes the last id over itself.
#[derive(Debug)]
pub struct SseReader {
    buffer: BytesMut,
    /// How many bytes at the start of the buffer are known to hold no line end.
    searched: usize,
    /// Of the data of one event, over all of its lines.
    limit: usize,
    room: LongMessages,
    /// The room of the event that is being read, if it is long.
    share: Option<LongMessageShare>,
    begun: bool,
    /// The last line ended with CR, so a LF that follows belongs to it.
    after_return: bool,
    /// Set if the rest of this line is not kept.
    skipping: Option<SkippedField>,
    /// Of the event that is being read.
    name: Option<String>,
    data: Data,
    /// The id of the event that is being read. It counts only once that event is complete.
    next_id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// The data of the event that is being read. A message is nearly always one line, which is then not
/// copied.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    /// One line, a slice of the received bytes.
    Line(Bytes),
    /// Several lines, joined.
    Lines(BytesMut),
    /// More than the limits allow; only its ends are kept.
    TooLong(Box<Skipping>),
}

/// What a line is whose rest is not kept.
#[derive(Clone, Copy, Debug)]
enum SkippedField {
    Data,
    Other,
}

impl SseReader {
    /// A reader for events with at most this many bytes of data.
    pub fn new(limit: usize) -> Self {
        Self::sharing(limit, &LongMessages::new(limit.saturating_mul(2)))
    }

    /// The same, where long events share this room with other readers.
    pub fn sharing(limit: usize, room: &LongMessages) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            room: room.clone(),
            share: None,
            begun: false,
            after_return: false,
            skipping: None,
            name: None,
            data: Data::None,
            next_id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Takes bytes; call [`next`](Self::next) afterwards until it gives nothing.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event with data, if a whole one has arrived.
    #[allow(clippy::should_implement_trait, reason = "`None` means not yet, not never")]
    pub fn next(&mut self) -> Option<SseEvent> {
        if !self.begin() {
            return None;
        }
        loop {
            self.swallow_newline();
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(end) = memchr2(b'\n', b'\r', unsearched).map(|at| self.searched + at) else {
                self.searched = self.buffer.len();
                self.hold_bounds();
                return None;
            };
            self.searched = 0;
            let line = self.buffer.split_to(end).freeze();
            self.after_return = self.buffer.get_u8() == b'\r';
            if let Some(field) = self.skipping.take() {
                self.skip_more(field, &line);
                continue;
            }
            if !line.is_empty() {
                self.field(&line);
            } else if let Some(event) = self.dispatch() {
                return Some(event);
            }
        }
    }

    /// The id to resume after: that of the last complete event that had one. An event that is cut
    /// off does not change it, so that the server sends that event again.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long to wait before reconnecting, as the server last set it (`retry`).
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Drops a byte order mark at the very start. Gives whether reading can begin.
    fn begin(&mut self) -> bool {
        if !self.begun {
            let seen = self.buffer.len().min(BYTE_ORDER_MARK.len());
            let is_mark = self.buffer.get(..seen) == BYTE_ORDER_MARK.get(..seen);
            if is_mark && seen < BYTE_ORDER_MARK.len() {
                return false;
            }
            if is_mark {
                self.buffer.advance(BYTE_ORDER_MARK.len());
            }
            self.begun = true;
        }
        true
    }

    /// Skips the LF of a CRLF whose CR ended the last line.
    fn swallow_newline(&mut self) {
        if self.after_return && !self.buffer.is_empty() {
            self.after_return = false;
            if self.buffer.first() == Some(&b'\n') {
                self.buffer.advance(1);
            }
        }
    }

    /// Drops a line that grows too long before its end has arrived. Memory stays bounded even if a
    /// line never ends.
    fn hold_bounds(&mut self) {
        if let Some(field) = self.skipping {
            let rest = mem::take(&mut self.buffer);
            self.skip_more(field, &rest);
        } else {
            let is_data = self.buffer.starts_with(b"data");
            // The limit is for the data; the field name, the colon and one space come on top.
            let most = if is_data { self.limit.max(FIELD) + b"data: ".len() } else { FIELD };
            let outcome = match self.buffer.len() {
                length if length > most => Err(Oversize::Longer(self.limit)),
                length => self.hold(length),
            };
            let Err(why) = outcome else { return };
            self.share = None;
            let line = mem::take(&mut self.buffer);
            self.skipping = match is_data {
                true => Some(SkippedField::Data),
                false => Some(SkippedField::Other),
            };
            if is_data {
                self.skip(value_of(&line).1, why);
            }
        }
        self.searched = 0;
    }

    /// Keeps only the ends of the data, with this line of it.
    fn skip(&mut self, line: &[u8], why: Oversize) {
        let mut skipping = match mem::take(&mut self.data) {
            Data::TooLong(skipping) => skipping,
            shorter => {
                let mut skipping = Box::new(Skipping::new(why));
                match &shorter {
                    Data::Line(first) => skipping.push(first),
                    Data::Lines(lines) => skipping.push(lines),
                    Data::None | Data::TooLong(_) => {
                        skipping.push(line);
                        self.data = Data::TooLong(skipping);
                        return;
                    }
                }
                skipping
            }
        };
        skipping.push(b"\n");
        skipping.push(line);
        self.data = Data::TooLong(skipping);
    }

    /// Takes more of a line that is not kept.
    fn skip_more(&mut self, field: SkippedField, bytes: &[u8]) {
        if let (SkippedField::Data, Data::TooLong(skipping)) = (field, &mut self.data) {
            skipping.push(bytes);
        }
    }

    /// Holds room for so many more bytes beside the data that has arrived.
    fn hold(&mut self, more: usize) -> Result<(), Oversize> {
        let length = match &self.data {
            Data::None | Data::TooLong(_) => more,
            Data::Line(line) => line.len() + more,
            Data::Lines(lines) => lines.len() + more,
        };
        match length {
            length if length <= LongMessages::FREE => Ok(()),
            length => self.share.get_or_insert_with(|| self.room.share()).grow(length),
        }
    }

    /// Handles one line: a field, a comment, or the end of an event. Fields that are malformed or
    /// unknown are ignored, as the standard of server-sent events demands.
    fn field(&mut self, line: &Bytes) {
        let (name, value) = value_of(line);
        match name {
            b"data" => {
                let value = line.slice_ref(value);
                self.add(value);
            }
            b"event" => self.name = text(value).filter(|name| name != "message"),
            b"id" if value.len() <= FIELD && !value.contains(&0) => {
                self.next_id = text(value).or(self.next_id.take());
            }
            b"retry" => {
                let digits = text(value).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
                let milliseconds = digits.and_then(|digits| digits.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }

    /// Adds a line of data to the event.
    fn add(&mut self, line: Bytes) {
        let too_long = Oversize::Longer(self.limit);
        if line.len() > self.limit || matches!(self.data, Data::TooLong(_)) {
            return self.skip(&line, too_long);
        }
        let joined = match mem::take(&mut self.data) {
            Data::None => Data::Line(line),
            Data::Line(first) => {
                let mut lines = BytesMut::with_capacity(first.len() + 1 + line.len());
                lines.put(first);
                lines.put_u8(b'\n');
                lines.put(line);
                Data::Lines(lines)
            }
            Data::Lines(mut lines) => {
                lines.put_u8(b'\n');
                lines.put(line);
                Data::Lines(lines)
            }
            // Handled above.
            Data::TooLong(skipping) => Data::TooLong(skipping),
        };
        self.data = match joined {
            Data::Lines(lines) if lines.len() > self.limit => {
                let mut skipping = Skipping::new(too_long);
                skipping.push(&lines);
                Data::TooLong(Box::new(skipping))
            }
            fits => fits,
        };
    }

    /// Ends an event. An event without data only sets the id and the reconnection time. The id
    /// counts from now on, also for an event without data: a server begins a stream so (HTTP-16).
    fn dispatch(&mut self) -> Option<SseEvent> {
        self.last_id = self.next_id.take().or(self.last_id.take());
        let name = self.name.take();
        let share = self.share.take();
        let text = match mem::take(&mut self.data) {
            Data::None => return None,
            Data::Line(line) if line.is_empty() => return None,
            Data::Line(line) => line,
            Data::Lines(lines) => lines.freeze(),
            Data::TooLong(skipping) => {
                return Some(SseEvent { name, data: skipping.finish().into() });
            }
        };
        let data = Received::Message(match share {
            Some(share) => share.keep(text),
            None => text,
        });
        Some(SseEvent { name, data })
    }
}

/// The name of a field and its value, without the one space that may stand before it.
fn value_of(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default();
            (name, value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

/// A value as text; `None` if it is not UTF-8.
fn text(value: &[u8]) -> Option<String> {
    std::str::from_utf8(value).ok().map(str::to_owned)
}

/// Appends an event that carries one message, which is JSON without line ends.
///
/// `id` is made by this crate and plain ASCII.
///
/// Without an id the client cannot resume after this event.
pub fn write_event(out: &mut BytesMut, id: Option<&str>, message: &[u8]) {
    out.reserve(message.len() + id.map_or(0, str::len) + 16);
    write_id(out, id);
    out.put_slice(b"data: ");
    write_escaped(out, message);
    out.put_slice(b"\n\n");
}

/// Appends an event without data: an id to resume after, and when to reconnect. With an id at the
/// beginning of a stream (HTTP-16), with `retry` before the server closes the connection early
/// (HTTP-19).
pub fn write_empty_event(out: &mut BytesMut, id: Option<&str>, retry: Option<Duration>) {
    write_id(out, id);
    if let Some(retry) = retry {
        out.put_slice(format!("retry: {}\n", retry.as_millis()).as_bytes());
    }
    out.put_slice(b"data:\n\n");
}

/// A comment, which keeps a silent stream alive. Clients must ignore it (HTTP-35); proxies see that
/// the connection is in use.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// Writes the `id` field, if there is an id.
fn write_id(out: &mut BytesMut, id: Option<&str>) {
    if let Some(id) = id {
        out.put_slice(b"id: ");
        out.put_slice(id.as_bytes());
        out.put_slice(b"\n");
    }
}

/// Writes JSON with U+0085, U+2028 and U+2029 escaped, because some readers take them for line
/// ends. In JSON they occur only inside strings, where the escape means the same.
fn write_escaped(out: &mut BytesMut, json: &[u8]) {
    let mut written = 0;
    for at in memchr2_iter(0xC2, 0xE2, json) {
        let (length, escape) = match json.get(at..).unwrap_or_default() {
            [0xC2, 0x85, ..] => (2, "\\u0085"),
            [0xE2, 0x80, 0xA8, ..] => (3, "\\u2028"),
            [0xE2, 0x80, 0xA9, ..] => (3, "\\u2029"),
            _ => continue,
        };
        out.put_slice(json.get(written..at).unwrap_or_default());
        out.put_slice(escape.as_bytes());
        written = at + length;
    }
    out.put_slice(json.get(written..).unwrap_or_default());
}

#[cfg(test)]
mod tests;
