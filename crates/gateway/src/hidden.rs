//! Characters that a reader does not see: a terminal obeys them, or shows nothing, or another order.
//!
//! Control characters move the cursor and change colours; bidirectional controls show text in
//! another order than it is used; invisible characters hide differences between names, and tags
//! and variation selectors can carry whole messages. Letters of any script are seen, and stay.
//!
//! A joiner (U+200C, U+200D) between two characters outside of ASCII stays: it belongs to the
//! spelling of Persian and Indic words, and holds emoji together. Beside ASCII it only hides.
//! Flags of regions such as Scotland are spelled with tags, and are shown as escapes.

use std::iter;

/// The characters of a text, each with whether a reader does not see it.
pub fn marked(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut previous = None;
    let mut rest = text.chars().peekable();
    iter::from_fn(move || {
        let c = rest.next()?;
        let is_joining = is_joiner(c)
            && previous.is_some_and(may_be_joined)
            && rest.peek().is_some_and(|next| may_be_joined(*next));
        previous = Some(c);
        Some((c, is_hidden(c) && !is_joining))
    })
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn may_be_joined(c: char) -> bool {
    !c.is_ascii() && !is_hidden(c)
}

/// Control characters, and those that Unicode calls ignorable or that format text, but for the
/// selectors U+FE00–U+FE0F, which choose between the two looks of an emoji.
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
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
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
}
