//! The end of what a child wrote to standard error.
//!
//! A server that cannot start usually says why on standard error. The end of that text goes into
//! the error, where the user of the host reads it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bowline_proto::sync::lock;

/// How many bytes are kept.
const KEPT: usize = 64 * 1024;

/// How many lines and characters an error quotes.
const QUOTED_LINES: usize = 10;
const QUOTED_CHARACTERS: usize = 1000;

/// The last 64 KiB that a child wrote to standard error.
///
/// Clones share the same text. It stays readable after the child is gone.
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
}

impl StderrTail {
    /// The text so far; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        let mut bytes = lock(&self.bytes);
        String::from_utf8_lossy(bytes.make_contiguous()).into_owned()
    }

    /// Adds bytes, and drops the oldest beyond the limit.
    pub(super) fn push(&self, chunk: &[u8]) {
        let mut bytes = lock(&self.bytes);
        bytes.extend(chunk);
        let excess = bytes.len().saturating_sub(KEPT);
        bytes.drain(..excess);
    }

    /// The last lines, short enough for an error and without control characters.
    pub(super) fn last_lines(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.len().saturating_sub(QUOTED_LINES);
        let quoted = lines.iter().skip(first).copied().collect::<Vec<_>>().join("\n");
        let excess = quoted.chars().count().saturating_sub(QUOTED_CHARACTERS);
        let is_shown = |c: &char| *c == '\n' || *c == '\t' || !c.is_control();
        quoted.chars().skip(excess).filter(is_shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let tail = StderrTail::default();
        for _ in 0..100 {
            tail.push(&[b'x'; 1000]);
        }
        tail.push(b"end");
        assert_eq!(tail.text().len(), KEPT);
        assert!(tail.text().ends_with("xend"));
    }

    #[test]
    fn the_last_lines_are_quoted() {
        let tail = StderrTail::default();
        for line in 1..=20 {
            tail.push(format!("line {line}\n\n").as_bytes());
        }
        assert!(tail.last_lines().starts_with("line 11\n"));
        assert!(tail.last_lines().ends_with("line 20"));
    }

    #[test]
    fn the_quoted_lines_are_bounded_and_have_no_control_characters() {
        let tail = StderrTail::default();
        tail.push("ä".repeat(5000).as_bytes());
        tail.push(b"\x1b]0;title\x07\xff done\r\n");
        let words = tail.last_lines();
        assert!(words.chars().count() <= QUOTED_CHARACTERS);
        assert!(words.ends_with("]0;title\u{fffd} done"), "{words}");
    }
}
