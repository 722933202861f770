//! The last words of a child: the end of what it wrote to standard error.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes kept.
const KEPT: usize = 64 * 1024;

/// Lines and characters quoted in an error.
const QUOTED_LINES: usize = 10;
const QUOTED_CHARACTERS: usize = 1000;

/// What a child wrote to standard error lately: its last 64 KiB.
///
/// Clones share what they hold, and it stays readable after the child is gone.
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
}

impl StderrTail {
    /// The text so far; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(bytes.make_contiguous()).into_owned()
    }

    pub(super) fn push(&self, chunk: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(chunk);
        let excess = bytes.len().saturating_sub(KEPT);
        bytes.drain(..excess);
    }

    /// The end of the text, short enough for an error and safe to show on a terminal.
    pub(super) fn last_words(&self) -> String {
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
    fn last_words_are_the_last_lines() {
        let tail = StderrTail::default();
        for line in 1..=20 {
            tail.push(format!("line {line}\n\n").as_bytes());
        }
        assert!(tail.last_words().starts_with("line 11\n"));
        assert!(tail.last_words().ends_with("line 20"));
    }

    #[test]
    fn last_words_are_bounded_and_cannot_steer_a_terminal() {
        let tail = StderrTail::default();
        tail.push("ä".repeat(5000).as_bytes());
        tail.push(b"\x1b]0;title\x07\xff done\r\n");
        let words = tail.last_words();
        assert!(words.chars().count() <= QUOTED_CHARACTERS);
        assert!(words.ends_with("]0;title\u{fffd} done"), "{words}");
    }
}
