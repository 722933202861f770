//! Names and values of a file that stay short and recognizable on the screen of consent.

/// The longest name or value of a variable or header that is shown whole, in characters.
pub const LONGEST_VALUE: usize = 72;
/// How many characters of a longer one are shown at its end.
const TAIL: usize = 24;

/// A name or path that is not longer than a line of most terminals.
pub fn shortened(name: &str) -> String {
    match name.chars().count() <= LONGEST_VALUE {
        true => name.to_owned(),
        false => cut(name, LONGEST_VALUE),
    }
}

/// The beginning and the end of a text that is longer than this.
pub fn cut(text: &str, most: usize) -> String {
    let length = text.chars().count();
    let head: String = text.chars().take(most - TAIL).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} … {tail}")
}

/// The text, in quotes and with escapes unless it is one plain word.
pub fn quoted_unless_plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '`' | '\\');
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// The text in quotes, with escapes.
pub fn quoted(text: &str) -> String {
    with_counted_spaces(&format!("{text:?}"))
}

/// The longest run of spaces that is shown as it is: the indentation of a script.
const LONGEST_RUN: usize = 4;

/// A quoted text with the lengths of long runs of spaces, which could push what follows to the next row.
/// No text looks like that in quotes by itself: they double backslashes.
pub fn with_counted_spaces(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(start) = rest.find(' ') {
        let run = rest.len() - start - rest[start..].trim_start_matches(' ').len();
        out += &rest[..start];
        match run > LONGEST_RUN {
            true => out += &format!("\\{{{run} spaces}}"),
            false => out += &rest[start..start + run],
        }
        rest = &rest[start + run..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_spaces_are_counted() {
        assert_eq!(quoted("a  b\n    c"), r#""a  b\n    c""#);
        assert_eq!(quoted(&format!("a{}b ", " ".repeat(70))), r#""a\{70 spaces}b ""#);
        assert_eq!(quoted(r"\{5 spaces}"), r#""\\{5 spaces}""#);
        assert_eq!(quoted("ä\u{3000}\t"), r#""ä\u{3000}\t""#);
    }
}
