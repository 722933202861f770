//! Finds the member at which reading stopped, by walking over the text once more.
//!
//! Only errors need it, so nothing is kept track of while all goes well.

use std::fmt;

/// Names of members are cut to this many characters in messages.
const LONGEST_NAME: usize = 64;

/// Where reading stopped.
pub(super) struct Place<'a> {
    /// How many bytes were read until then.
    bytes: usize,
    /// These bytes, but for the beginning of a character.
    read: &'a str,
}

impl<'a> Place<'a> {
    pub(super) fn of(error: &serde_json::Error, text: &'a str) -> Self {
        let lines = error.line().saturating_sub(1);
        let before: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
        let bytes = before + error.column();
        let read = text.get(..text.floor_char_boundary(bytes)).unwrap_or(text);
        Self { bytes, read }
    }

    /// The path of the value that was read last, or was about to be read. It is known to be within
    /// these: members of objects, and items of arrays at an index.
    pub(super) fn path(&self, steps: &[Option<usize>]) -> String {
        let mut walk = Walk::over(self.read);
        // The end of what it stands in may have been read as well, or the comma after it.
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

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}", self.bytes)
    }
}

/// One path below another.
pub(super) fn join(path: &str, below: &str) -> String {
    match (path, below) {
        ("", _) | (_, "") => format!("{path}{below}"),
        _ if below.starts_with('[') => format!("{path}{below}"),
        _ => format!("{path}.{below}"),
    }
}

/// A member in a path: `name`, or `["odd name"]`.
pub(super) fn step(name: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-$".contains(character);
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    if !name.is_empty() && name.chars().all(is_plain) { shown } else { format!("[{shown:?}]") }
}

/// An array or object that is open where reading stopped.
enum Level<'a> {
    /// With the name of the member that is being read, as it is written.
    Object(Option<&'a str>),
    /// With the index of the item that is being read.
    Array(usize),
}

/// A walk over the beginning of a JSON text.
#[derive(Default)]
struct Walk<'a> {
    /// What is open at its end.
    open: Vec<Level<'a>>,
    /// What was closed last.
    closed: Option<Level<'a>>,
}

impl<'a> Walk<'a> {
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
                    // The quote that opens it has been taken.
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

/// What stands between the quote at this place and the one that closes it.
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
