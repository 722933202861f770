//! Gives what a child writes to standard error to a function, line by line.

use std::hash::{Hash, Hasher};

/// The longest piece of a line that the function gets, in bytes.
const LONGEST: usize = 8 * 1024;

/// A function that gets lines. All are equal, since a command stays the same wherever its lines go.
#[derive(Clone, Copy, Debug)]
pub struct LineFunction(pub(super) fn(&str));

impl PartialEq for LineFunction {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LineFunction {}

impl Hash for LineFunction {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Cuts what it gets into lines.
#[derive(Debug, Default)]
pub(super) struct StderrLines {
    function: Option<fn(&str)>,
    /// The beginning of a line.
    begun: Vec<u8>,
}

impl StderrLines {
    pub(super) fn to(function: fn(&str)) -> Self {
        Self { function: Some(function), begun: Vec::new() }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        if self.function.is_none() {
            return;
        }
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(part);
            if part.ends_with(b"\n") || self.begun.len() >= LONGEST {
                self.end();
            }
        }
    }

    /// Gives the last line to the function, which may have no end.
    pub(super) fn end(&mut self) {
        let line = std::mem::take(&mut self.begun);
        let text = String::from_utf8_lossy(&line);
        if let Some(function) = self.function.filter(|_| !line.is_empty()) {
            function(text.trim_end_matches(['\r', '\n']));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

    #[test]
    fn each_line_goes_to_the_function_once_and_long_ones_in_pieces() {
        let mut lines = StderrLines::to(|line| SEEN.lock().unwrap().push(line.to_owned()));
        lines.push(b"one\r\ntw");
        lines.push(b"o\n\n");
        lines.push(&[b'x'; LONGEST]);
        lines.push(b"\xff");
        lines.end();
        lines.end();
        let long = "x".repeat(LONGEST);
        assert_eq!(*SEEN.lock().unwrap(), ["one", "two", "", &long, "\u{fffd}"]);
    }
}
