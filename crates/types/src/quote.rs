//! Strings of JSON: where they end, and how they are written.

/// How many bytes come before the first that cannot stand for itself in a string.
pub fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    // Most strings are names, and end within the first word.
    if let Some(word) = rest(at).first_chunk() {
        at = special_in(*word);
        if at < word.len() {
            return at;
        }
    }
    // In a longer one many are looked at together, and in a long one even more.
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

/// As many short strides as it takes until long ones pay.
const FEW: usize = 8;

/// How many bytes are in strides in which none is special; which of them is, is not asked.
fn strides<const LENGTH: usize>(bytes: &[u8], most: usize) -> usize {
    let is_plain = |stride: &&[u8; LENGTH]| {
        !stride.iter().fold(false, |special, byte| special | is_special(*byte))
    };
    let (strides, _) = bytes.as_chunks();
    strides.iter().take(most).take_while(is_plain).count() * LENGTH
}

/// Whether a byte cannot stand for itself in a string.
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// How many bytes of a word come before the first special one.
fn special_in(word: [u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    // Sets the high bit of every byte below a bound, and perhaps of bytes behind such a one.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let special = (is(b'"') | is(b'\\') | below(word, 0x20)) & HIGH;
    (special.trailing_zeros() / 8) as usize
}

/// Writes a string as JSON.
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
    fn a_run_ends_where_it_does_however_long_it_is() {
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

    /// Longer than a word, the short strides and two long ones together.
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
    fn a_quoted_text_is_read_back_by_others_whatever_it_holds_and_where() {
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
