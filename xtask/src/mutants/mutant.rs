//! One small change of the source, and its name.

use std::fmt;
use std::ops::Range;

/// A change that a test should notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// The file, from the root of the repository.
    pub(super) file: String,
    pub(super) line: usize,
    /// The function that is changed, with its type if it has one.
    pub(super) function: String,
    /// The change in words; it stays the same until the line changes.
    pub(super) change: String,
    /// The bytes of the file that the change replaces; empty if it only inserts.
    pub(super) range: Range<usize>,
    pub(super) form: Form,
}

/// How a change is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The expression becomes this one.
    Replace(String),
    /// The statement is left out.
    Remove,
    /// The function returns this at once.
    Return(String),
    /// The arm of a `match` never matches.
    SkipArm,
}

impl Mutant {
    /// The name by which an excuse finds it: everything but the line.
    pub(super) fn name(&self) -> String {
        format!("`{}`: {}", self.function, self.change)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.name())
    }
}

/// Source text on one line, cut off where it is long.
pub(super) fn quoted(source: &str) -> String {
    const MOST: usize = 60;
    let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("`{}…`", line.get(..cut).unwrap_or(&line)),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_quoted_on_one_short_line() {
        assert_eq!(quoted("a\n    .b( c )"), "`a .b( c )`");
        let long = quoted(&"é".repeat(61));
        assert_eq!(long, format!("`{}…`", "é".repeat(60)));
    }
}
