//! What a child wrote to standard error: its beginning and its end.
//!
//! A server that cannot start usually says why on standard error, first or last: some print their
//! usage after the error, others a traceback before it. Both ends go into the error, where the user
//! of the host reads them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bowline_proto::secrets::Secrets;
use bowline_proto::sync::lock;

/// How many bytes of the beginning and of the end are kept.
const KEPT_HEAD: usize = 4 * 1024;
const KEPT: usize = 64 * 1024;

/// How many lines and characters of the beginning and of the end an error quotes.
const HEAD: Quoted = Quoted { lines: 4, characters: 500 };
const TAIL: Quoted = Quoted { lines: 10, characters: 1000 };

/// The bounds of a quotation.
struct Quoted {
    lines: usize,
    characters: usize,
}

/// The last 64 KiB that a child wrote to standard error.
///
/// Clones share the same text. It stays readable after the child is gone.
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    kept: Arc<Mutex<Kept>>,
    /// What quotations do not show.
    secrets: Arc<Secrets>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The first bytes, which the end may hold too.
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes were dropped between the beginning of the text and `tail`.
    dropped: usize,
}

impl StderrTail {
    pub(super) fn new(secrets: Arc<Secrets>) -> Self {
        Self { kept: Arc::default(), secrets }
    }

    /// The text so far; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        let mut kept = lock(&self.kept);
        String::from_utf8_lossy(kept.tail.make_contiguous()).into_owned()
    }

    /// Adds bytes, and drops the oldest beyond the limit.
    pub(super) fn push(&self, chunk: &[u8]) {
        let mut kept = lock(&self.kept);
        let room = KEPT_HEAD - kept.head.len();
        kept.head.extend(&chunk[..chunk.len().min(room)]);
        kept.tail.extend(chunk);
        let excess = kept.tail.len().saturating_sub(KEPT);
        kept.tail.drain(..excess);
        kept.dropped += excess;
    }

    /// The first lines and the last ones, short enough for an error and without control characters.
    /// `…` marks omitted text, and `[redacted]` a credential that this process gave the child.
    pub fn quoted(&self) -> String {
        let (mut head, is_whole) = {
            let kept = lock(&self.kept);
            (String::from_utf8_lossy(&kept.head).into_owned(), kept.dropped == 0)
        };
        let mut text = self.text();
        // Before the cuts: a part of a secret would not be recognized.
        [&mut head, &mut text].into_iter().for_each(|text| self.secrets.replace(text));
        let lines = shown_lines(&text);
        let all = lines.join("\n");
        let fits = lines.len() <= HEAD.lines + TAIL.lines
            && all.chars().count() <= HEAD.characters + TAIL.characters;
        if is_whole && fits {
            return all;
        }
        let head = shown_lines(&head);
        let head = head[..head.len().min(HEAD.lines)].join("\n");
        let head: String = head.chars().take(HEAD.characters).collect();
        let tail = lines[lines.len().saturating_sub(TAIL.lines)..].join("\n");
        let excess = tail.chars().count().saturating_sub(TAIL.characters);
        let tail: String = tail.chars().skip(excess).collect();
        format!("{head}\n…\n{tail}")
    }
}

/// The lines that are not empty, without control characters.
fn shown_lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.chars().filter(|c| *c == '\t' || !c.is_control()).collect()).collect()
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
    fn a_server_that_prints_its_error_before_its_usage_is_quoted_with_its_error() {
        let tail = StderrTail::default();
        tail.push(b"Error: no such cluster\n");
        for line in 1..=40 {
            tail.push(format!("  --option-{line}  what it does\n").as_bytes());
        }
        let quoted = tail.quoted();
        assert!(quoted.starts_with("Error: no such cluster\n  --option-1 "), "{quoted}");
        assert!(quoted.contains("  --option-3  what it does\n…\n  --option-31 "), "{quoted}");
        assert!(quoted.ends_with("  --option-40  what it does"), "{quoted}");
    }

    #[test]
    fn a_short_text_is_quoted_once_and_whole() {
        let tail = StderrTail::default();
        for line in 1..=14 {
            tail.push(format!("line {line}\n\n").as_bytes());
        }
        let lines: Vec<String> = (1..=14).map(|line| format!("line {line}")).collect();
        assert_eq!(tail.quoted(), lines.join("\n"));
        tail.push(b"line 15\n");
        assert!(tail.quoted().contains("line 4\n…\nline 6\n"), "{}", tail.quoted());
    }

    #[test]
    fn the_beginning_is_quoted_although_the_end_no_longer_holds_it() {
        let tail = StderrTail::default();
        tail.push(b"first\n");
        for _ in 0..100 {
            tail.push(format!("{}\n", "x".repeat(999)).as_bytes());
        }
        tail.push(b"last\n");
        let quoted = tail.quoted();
        assert!(quoted.starts_with("first\n") && quoted.ends_with("\nlast"), "{quoted}");
        assert!(quoted.chars().count() < HEAD.characters + TAIL.characters + 10);
    }

    #[test]
    fn the_quoted_lines_are_bounded_and_have_no_control_characters() {
        let tail = StderrTail::default();
        tail.push("ä".repeat(5000).as_bytes());
        tail.push(b"\x1b]0;title\x07\xff done\r\n");
        let words = tail.quoted();
        assert!(words.chars().count() <= HEAD.characters + TAIL.characters + 3);
        assert!(words.ends_with("]0;title\u{fffd} done"), "{words}");
    }
}
