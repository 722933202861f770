//! Strings of JSON: where they end, and how they are written.

/// Bytes of a long string that are looked at together.
const STRIDE: usize = 64;

/// From this many words on a string is long.
const LONG: usize = 8;

/// How many bytes come before the first that cannot stand for itself in a string.
pub fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    for words in 1_usize.. {
        let Some(word) = rest(at).first_chunk() else { break };
        let found = special_in(*word);
        at += found;
        if found < word.len() {
            return at;
        }
        // In a long string many are looked at together, without asking which of them is special.
        while words >= LONG
            && let Some(stride) = rest(at).first_chunk::<STRIDE>()
            && !stride.iter().fold(false, |special, byte| special | is_special(*byte))
        {
            at += STRIDE;
        }
    }
    let rest = rest(at);
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
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
}
