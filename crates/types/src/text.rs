//! Parts of messages for people: counts, and what a peer wrote.

/// How much of a peer's text is repeated in a message.
const LONGEST: usize = 100;

/// A number of things: `1 round`, `2 rounds`.
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The beginning of a text that a peer chose, fit to stand in a message of one line.
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
