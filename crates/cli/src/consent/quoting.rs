//! Names and values of a file that stay short and recognizable on the screen of consent.

/// The longest name or value of a variable or header that is shown whole, in characters.
pub(super) const LONGEST_VALUE: usize = 72;
/// How many characters of a longer one are shown at its end.
const TAIL: usize = 24;

/// A name or path that is not longer than a line of most terminals.
pub(super) fn shortened(name: &str) -> String {
    match name.chars().count() <= LONGEST_VALUE {
        true => name.to_owned(),
        false => cut(name, LONGEST_VALUE),
    }
}

/// The beginning and the end of a text that is longer than this.
pub(super) fn cut(text: &str, most: usize) -> String {
    let length = text.chars().count();
    let head: String = text.chars().take(most - TAIL).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} … {tail}")
}

/// The text, in quotes and with escapes unless it is one plain word.
pub(super) fn quoted_unless_plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '`' | '\\');
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}
