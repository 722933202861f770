//! Finds the path of the member at which reading failed, by scanning the text again.
//!
//! Only errors pay for this: successful reads keep no path.

use std::fmt;

/// Longer names of members are cut to this many characters in error messages.
const LONGEST_NAME: usize = 64;

/// The position at which reading stopped.
pub(super) struct ErrorPosition<'a> {
    /// The number of bytes read.
    bytes: usize,
    /// The text up to there, without an incomplete character at its end.
    read: &'a str,
}

impl<'a> ErrorPosition<'a> {
    /// serde_json counts lines and columns in bytes, from 1.
    pub(super) fn of(error: &serde_json::Error, text: &'a str) -> Self {
        let lines = error.line().saturating_sub(1);
        let before: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
        let bytes = before + error.column();
        let read = text.get(..text.floor_char_boundary(bytes)).unwrap_or(text);
        Self { bytes, read }
    }

    /// The path of the value that was read last, or that was about to be read. `steps` are the
    /// members and items around it that are known: `Some` is the index of an item.
    pub(super) fn path(&self, steps: &[Option<usize>]) -> String {
        let mut walk = Walk::over(self.read);
        // The closing bracket around the value, or the comma after it, may have been read as well.
        if walk.open.len() < steps.len() {
            walk.open.extend(walk.closed);
        }
        for (level, step) in walk.open.iter_mut().zip(steps) {
            if let (Level::Array(at), Some(index)) = (level, step) {
                *at = *index;
            }
        }
        walk.open.iter().fold(String::new(), |path, level| match level {
            Level::Object(None) => path,
            Level::Object(Some(name)) => join(&path, &step(&unescaped(name))),
            Level::Array(index) => format!("{path}[{index}]"),
        })
    }
}

impl fmt::Display for ErrorPosition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}", self.bytes)
    }
}

/// Appends one path to another.
pub(super) fn join(path: &str, below: &str) -> String {
    match (path, below) {
        ("", _) | (_, "") => format!("{path}{below}"),
        _ if below.starts_with('[') => format!("{path}{below}"),
        _ => format!("{path}.{below}"),
    }
}

/// One member of a path: `name`, or `["odd name"]`.
pub(super) fn step(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-$".contains(character);
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    if !name.is_empty() && name.chars().all(is_plain) { shown } else { format!("[{shown:?}]") }
}

/// An array or object that is open at the end of the text.
enum Level<'a> {
    /// The name of the current member, as it is written.
    Object(Option<&'a str>),
    /// The index of the current item.
    Array(usize),
}

/// The arrays and objects found in the beginning of a JSON text.
#[derive(Default)]
struct Walk<'a> {
    /// Those that are open at its end.
    open: Vec<Level<'a>>,
    /// The one that was closed last.
    closed: Option<Level<'a>>,
}

impl<'a> Walk<'a> {
    /// Walks through text that was read successfully up to its end, so brackets and quotes can be
    /// trusted.
    fn over(read: &'a str) -> Self {
        let mut walk = Self::default();
        let mut bytes = read.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match (byte, walk.open.last_mut()) {
                (b'{', _) => walk.open.push(Level::Object(None)),
                (b'[', _) => walk.open.push(Level::Array(0)),
                (b'}' | b']', _) => walk.closed = walk.open.pop(),
                (b',', Some(Level::Object(name))) => *name = None,
                (b',', Some(Level::Array(index))) => *index += 1,
                (b'"', level) => {
                    let string = string(read, at);
                    // The opening quote has already been consumed.
                    bytes.by_ref().take(string.len() + 1).for_each(drop);
                    if let Some(Level::Object(name @ None)) = level {
                        *name = Some(string);
                    }
                }
                _ => {}
            }
        }
        walk
    }
}

/// The text between the quote at this position and the closing quote.
fn string(text: &str, opening: usize) -> &str {
    let rest = text.get(opening + 1..).unwrap_or_default();
    let mut is_escaped = false;
    let closing = rest.bytes().position(|byte| {
        let closes = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        closes
    });
    closing.and_then(|closing| rest.get(..closing)).unwrap_or(rest)
}

fn unescaped(name: &str) -> String {
    serde_json::from_str(&format!("\"{name}\"")).unwrap_or_else(|_| name.to_owned())
}
