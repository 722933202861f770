//! Counts and excerpts for messages that people read.

/// The most characters of a peer's text that a message repeats.
const LONGEST: usize = 100;

/// A number with its noun: `1 round`, `2 rounds`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The beginning of a peer's text, for a message of one line: control characters are escaped, and
/// long text is cut.
pub fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(LONGEST) {
        match character {
            control if control.is_control() => shown.extend(control.escape_default()),
            character => shown.push(character),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_plural() {
        assert_eq!(counted(0, "round"), "0 rounds");
        assert_eq!(counted(1, "round"), "1 round");
        assert_eq!(counted(2, "round"), "2 rounds");
    }

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        assert_eq!(excerpt("a\nb\t\u{1b}ü"), "a\\nb\\t\\u{1b}ü");
        assert_eq!(excerpt(&"x".repeat(100)), "x".repeat(100));
        assert_eq!(excerpt(&"x".repeat(101)), "x".repeat(100) + "…");
    }
}
