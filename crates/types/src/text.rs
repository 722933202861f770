//! Counts, excerpts, URLs without secrets, and errors with their causes, for messages that people
//! read.

use std::error::Error;

use crate::hidden::marked;

/// The most characters of a peer's text that a message repeats.
const LONGEST: usize = 100;

/// A number with its noun, in the plural with `s` unless the number is 1.
///
/// ```
/// use bowline_types::text::counted;
///
/// assert_eq!((counted(1, "round"), counted(2, "round")), ("1 round".into(), "2 rounds".into()));
/// ```
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The beginning of a peer's text, for a message of one line: [hidden](crate::hidden) characters are
/// escaped, and text of more than 100 characters is cut.
///
/// ```
/// use bowline_types::text::excerpt;
///
/// assert_eq!(excerpt("two\nlines"), "two\\nlines");
/// assert!(excerpt(&"long".repeat(100)).ends_with('…'));
/// ```
pub fn excerpt(text: &str) -> String {
    let mut shown = escaped(marked(text).take(LONGEST));
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// A whole text in one line, for a terminal: [hidden](crate::hidden) characters are escaped.
pub fn in_one_line(text: &str) -> String {
    escaped(marked(text))
}

fn escaped(marked: impl Iterator<Item = (char, bool)>) -> String {
    let mut shown = String::new();
    for (character, is_hidden) in marked {
        match is_hidden {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// A URL for messages and logs: without its user and password, its query and its fragment, in which
/// some services put secrets.
///
/// ```
/// use bowline_types::text::bare_url;
///
/// assert_eq!(bare_url("https://ann:pass@a.example/mcp?key=1#x"), "https://a.example/mcp");
/// ```
pub fn bare_url(url: &str) -> String {
    let url = &url[..url.find(['?', '#']).unwrap_or(url.len())];
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The same, where `?…` stands for a query.
pub fn shown_url(url: &str) -> String {
    let (before_fragment, _) = url.split_once('#').unwrap_or((url, ""));
    let mark = if before_fragment.contains('?') { "?…" } else { "" };
    format!("{}{mark}", bare_url(url))
}

/// The text of an error and of its causes, joined by `: `.
///
/// A cause whose text the error ends with already is left out. For logs and terminals; send a peer only
/// what it may know.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io;

    use super::*;

    #[derive(Debug)]
    struct Failed(&'static str, io::Error);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    #[test]
    fn causes_follow_an_error_unless_it_ends_with_them() {
        let failed = |text| Failed(text, io::Error::other("disk full"));
        assert_eq!(with_causes(&failed("cannot save")), "cannot save: disk full");
        assert_eq!(with_causes(&failed("no room: disk full")), "no room: disk full");
    }

    #[test]
    fn a_url_loses_what_could_be_secret() {
        for (url, bare, shown) in [
            ("file:///docs/a.txt", "file:///docs/a.txt", "file:///docs/a.txt"),
            ("https://a.example/b?token=1#c", "https://a.example/b", "https://a.example/b?…"),
            ("https://a.example/b#c?token=1", "https://a.example/b", "https://a.example/b"),
            ("postgres://ann:secret@db/x", "postgres://db/x", "postgres://db/x"),
            ("https://ann@b:p@a.example?x", "https://a.example", "https://a.example?…"),
            ("https://a.example/@b", "https://a.example/@b", "https://a.example/@b"),
            ("memo:today#x", "memo:today", "memo:today"),
            ("a@b/c@d?e", "a@b/c@d", "a@b/c@d?…"),
        ] {
            assert_eq!((bare_url(url).as_str(), shown_url(url).as_str()), (bare, shown), "{url}");
        }
    }

    #[test]
    fn one_thing_is_not_plural() {
        assert_eq!(counted(0, "round"), "0 rounds");
        assert_eq!(counted(1, "round"), "1 round");
        assert_eq!(counted(2, "round"), "2 rounds");
    }

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(excerpt("a\nb\t\u{1b}ü\u{202e}"), "a\\nb\\t\\u{1b}ü\\u{202e}");
        assert_eq!(excerpt(&"x".repeat(100)), "x".repeat(100));
        assert_eq!(excerpt(&"x".repeat(101)), "x".repeat(100) + "…");
    }
}
