//! Hidden characters: control characters and others that are invisible or reorder text.
//!
//! Control characters move the cursor and change colours. Bidirectional controls display text in
//! another order than programs read it. Invisible characters hide differences between names, and tags
//! and variation selectors can carry whole messages. Letters of all scripts are visible.
//!
//! A joiner (U+200C, U+200D) between two characters outside of ASCII is not hidden: it belongs to the
//! spelling of Persian and Indic words, and joins emoji. Neither is one variation selector directly
//! after such a character, where it chooses between two glyphs, or in a keycap such as 1️⃣. Next to
//! ASCII characters both are hidden. Flags of regions such as Scotland are spelled with tags, and some
//! ideographs with selectors from U+E0100; these are shown as escapes.

use std::iter;

/// The characters of a text, each with whether it is hidden.
pub fn marked(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let (mut previous, mut has_look) = (None, false);
    let mut rest = text.chars().peekable();
    iter::from_fn(move || {
        let c = rest.next()?;
        let follows_seen = previous.is_some_and(is_seen_beyond_ascii);
        let next = rest.peek().copied();
        let belongs = match c {
            '\u{200c}' | '\u{200d}' => {
                (follows_seen || has_look) && next.is_some_and(is_seen_beyond_ascii)
            }
            _ if is_selector(c) => {
                follows_seen || previous.is_some_and(is_key) && next == Some(KEYCAP)
            }
            _ => false,
        };
        (previous, has_look) = (Some(c), belongs && is_selector(c));
        Some((c, is_hidden(c) && !belongs))
    })
}

/// Whether a text has a hidden character.
///
/// ```
/// use bowline_types::hidden::has_hidden;
///
/// assert!(has_hidden("pay\u{200b}pal") && has_hidden("\u{1b}[2J") && has_hidden("a\nb"));
/// assert!(!has_hidden("naïve 雨 👍🏽"));
/// ```
pub fn has_hidden(text: &str) -> bool {
    marked(text).any(|(_, is_hidden)| is_hidden)
}

/// Encloses the digit before it.
const KEYCAP: char = '\u{20e3}';

fn is_key(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// A character that chooses between looks of the one before it.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}')
}

fn is_seen_beyond_ascii(c: char) -> bool {
    !c.is_ascii() && !is_hidden(c)
}

/// Control characters, those that Unicode calls ignorable or that format text, and two that are blank.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<char> {
        marked(text).filter(|(_, is_hidden)| *is_hidden).map(|(c, _)| c).collect()
    }

    #[test]
    fn what_a_reader_does_not_see_is_found() {
        for c in "\u{0}\u{7f}\u{9b}\u{61c}\u{200b}\u{200e}\u{2028}\u{2029}\u{2066}\u{feff}\u{e0041}\u{e0101}".chars() {
            assert_eq!(hidden(&format!("a{c}b")), [c]);
        }
    }

    #[test]
    fn letters_of_all_scripts_and_emoji_stay() {
        for text in [
            "zażółć",
            "工具 ツール",
            "שלום",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "❤\u{fe0f}\u{200d}🔥",
        ] {
            assert_eq!(hidden(text), Vec::<char>::new(), "{text}");
        }
    }

    #[test]
    fn a_joiner_in_a_name_of_ascii_is_found() {
        assert_eq!(hidden("ad\u{200d}min"), ['\u{200d}']);
        assert_eq!(hidden("é\u{200d}\u{200d}é"), ['\u{200d}', '\u{200d}']);
        assert_eq!(hidden("\u{200c}é"), ['\u{200c}']);
    }

    #[test]
    fn a_variation_selector_stays_only_after_a_character_that_has_variants() {
        for text in
            ["❤\u{fe0f}", "葛\u{fe00}", "1\u{fe0f}\u{20e3}", "#\u{fe0f}\u{20e3}", "ᠠ\u{180b}"]
        {
            assert_eq!(hidden(text), Vec::<char>::new(), "{text:?}");
        }
        assert_eq!(hidden("admin\u{fe0f}"), ['\u{fe0f}']);
        assert_eq!(hidden("1\u{fe0f}"), ['\u{fe0f}']);
        assert_eq!(hidden("a\u{fe0f}\u{20e3}"), ['\u{fe0f}']);
        assert_eq!(hidden("\u{fe0f}❤"), ['\u{fe0f}']);
        // A run of them could carry a hidden text.
        assert_eq!(hidden("❤\u{fe0f}\u{fe01}\u{fe02}"), ['\u{fe01}', '\u{fe02}']);
        assert_eq!(hidden("admin\u{180b}"), ['\u{180b}']);
    }

    #[test]
    fn characters_without_ink_are_found() {
        for c in ['\u{2800}', '\u{180f}', '\u{e0100}', '\u{e01ef}', '\u{3164}', '\u{1d159}'] {
            assert_eq!(hidden(&format!("a{c}b")), [c]);
        }
    }
}
