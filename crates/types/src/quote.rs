//! Finds the end of JSON strings, and writes JSON strings.
//!
//! Every message passes through here several times, so the search looks at 8, 16 or 64 bytes at
//! once.

/// Counts the bytes before the first one that needs an escape or ends the string: `"`, `\`, or a
/// control character. The scanner of messages and the writer of plain results both use it; they are
/// the places where most time goes for long texts.
pub fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    // Most strings are short names and end within the first 8 bytes.
    if let Some(word) = rest(at).first_chunk() {
        at = special_in(*word);
        if at < word.len() {
            return at;
        }
    }
    // Longer strings are searched 16 bytes at a time, very long ones 64.
    at += strides::<16>(rest(at), FEW);
    if at >= FEW * 16 {
        at += strides::<64>(rest(at), usize::MAX);
    }
    while let Some(word) = rest(at).first_chunk() {
        let found = special_in(*word);
        at += found;
        if found < word.len() {
            return at;
        }
    }
    let rest = rest(at);
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// The number of 16-byte chunks after which the search uses 64-byte chunks.
const FEW: usize = 8;

/// Counts the bytes of the leading chunks that have no special byte. Does not look for the position
/// of the special byte within a chunk, so that the compiler can use vector instructions.
fn strides<const LENGTH: usize>(bytes: &[u8], most: usize) -> usize {
    let is_plain = |stride: &&[u8; LENGTH]| {
        !stride.iter().fold(false, |special, byte| special | is_special(*byte))
    };
    let (strides, _) = bytes.as_chunks();
    strides.iter().take(most).take_while(is_plain).count() * LENGTH
}

/// Whether a byte ends a string or must be escaped in it.
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Counts the bytes of a word before its first special byte. Eight if there is none.
fn special_in(word: [u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    // Sets the high bit of every byte below the bound. A borrow may also set it in bytes after such
    // a byte, but only the first one is used.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let special = (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH;
    (special.trailing_zeros() / 8) as usize
}

/// Appends a string as JSON, with quotes and escapes. Escapes only what JSON demands, as
/// `serde_json` does, so both write the same text.
///
/// ```
/// let mut json = String::from("[");
/// bowline_types::quote::quote(&mut json, "C:\\temp");
/// json.push(']');
/// assert_eq!(json, r#"["C:\\temp"]"#);
/// ```
pub fn quote(json: &mut String, text: &str) {
    json.push('"');
    let mut rest = text;
    while !rest.is_empty() {
        let (run, others) = rest.split_at(plain_run(rest.as_bytes()));
        json.push_str(run);
        let mut others = others.chars();
        if let Some(special) = others.next() {
            escape(json, special);
        }
        rest = others.as_str();
    }
    json.push('"');
}

fn escape(json: &mut String, special: char) {
    let short = match special {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => {
            json.push_str(&format!("\\u{:04x}", u32::from(special)));
            return;
        }
    };
    json.push_str(short);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_of_a_word_is_found() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for at in 0..8 {
                for rest in [b'a', 0x20, 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']', special] {
                    let mut word = [rest; 8];
                    word[..at].fill(0xa0);
                    word[at] = special;
                    assert_eq!(special_in(word), at, "{word:?}");
                }
            }
        }
        assert_eq!(special_in(*b"a \x7f!#[]~"), 8);
    }

    #[test]
    fn runs_of_every_length_are_counted_exactly() {
        for length in (0..300).chain([1_000, 4_095, 4_096]) {
            let mut text = "ü".repeat(length / 2) + &"a".repeat(length % 2);
            assert_eq!(plain_run(text.as_bytes()), length);
            for rest in ["\"", "\\n", "\"and more of it, up to the end of the next stride"] {
                text.truncate(length);
                text.push_str(rest);
                assert_eq!(plain_run(text.as_bytes()), length, "{rest}");
            }
        }
    }

    /// Longer than one word, all short chunks and two long chunks together.
    const LONG: usize = 8 + FEW * 16 + 2 * 64 + 9;

    #[test]
    fn every_special_byte_ends_a_run_wherever_it_stands() {
        let mut bytes = [b'a'; LONG];
        for special in (0..0x20).chain([b'"', b'\\']) {
            for at in 0..LONG {
                bytes[at] = special;
                assert_eq!(plain_run(&bytes), at, "{special:#x}");
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn every_other_byte_stands_for_itself() {
        let others = (0x20..=0xff).filter(|byte| !b"\"\\".contains(byte));
        for plain in others {
            assert_eq!(plain_run(&[plain; LONG]), LONG, "{plain:#x}");
        }
    }

    #[test]
    fn every_text_is_quoted_as_serde_json_does() {
        for special in (0..0x80).map(char::from).chain(['ü', '\u{2028}', '𝄞']) {
            for at in [0, 1, 7, 8, 20, 135, 136, 150, 199, 200, LONG] {
                let text = format!("{}{special}{}", "a".repeat(at), "b".repeat(LONG - at));
                let mut json = String::new();
                quote(&mut json, &text);
                assert_eq!(json, serde_json::to_string(&text).unwrap());
            }
        }
    }
}
