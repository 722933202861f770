//! Messages that take one line on the wire.

use bytes::Bytes;
use memchr::memchr2;

/// Replaces the line ends inside a message by spaces, so that it takes one line on the wire.
///
/// In JSON a raw line end can only be white space between tokens, since strings escape theirs.
///
/// On stdio a message must not hold a newline (STDIO-2).
pub fn in_one_line(message: Bytes) -> Bytes {
    if memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}
