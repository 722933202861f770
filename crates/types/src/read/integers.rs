//! Integers that are spelled with a fraction or an exponent.
//!
//! To JSON Schema `1`, `1.0` and `10e-1` are the same integer, but serde reads only the first as
//! one. Where a type refuses a text, [`plain_integers`] rewrites its integers without fraction and
//! exponent. It works on digits, so no number is rounded.

use std::borrow::Cow;

/// The most digits of a rewritten number: those of `u128::MAX`.
const MOST_DIGITS: i64 = 39;

/// Rewrites every integer of a JSON text without fraction and exponent, and `-0` as `0`. Numbers
/// that no integer type can hold are left unchanged.
///
/// ```
/// use bowline_types::read::plain_integers;
///
/// assert_eq!(plain_integers(r#"[1.0, 25e-1, 3e2, "4.0"]"#), r#"[1, 25e-1, 300, "4.0"]"#);
/// ```
pub fn plain_integers(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut copied = 0;
    for (start, number) in (Numbers { text, at: 0 }) {
        if let Some(integer) = integer(number) {
            plain.push_str(text.get(copied..start).unwrap_or_default());
            plain.push_str(&integer);
            copied = start + number.len();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(plain)
}

/// Iterates over the numbers in a JSON text, with their positions.
struct Numbers<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Numbers<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            match bytes.get(start)? {
                b'"' => self.at = end_of_string(bytes, start),
                b'-' | b'0'..=b'9' => {
                    let is_part =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let rest = bytes.get(start..).unwrap_or_default();
                    let length = rest.iter().take_while(|byte| is_part(byte)).count();
                    self.at = start + length;
                    return Some((start, self.text.get(start..self.at).unwrap_or_default()));
                }
                _ => self.at += 1,
            }
        }
    }
}

/// The position after the string that begins at this quote.
fn end_of_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => return at + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    at
}

/// An integer without fraction and exponent. `None` if the number is not an integer, or is already
/// plain.
fn integer(number: &str) -> Option<String> {
    let (sign, magnitude) = match number.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", number),
    };
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() == magnitude.len() && number != "-0" {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    // The number of digits before the decimal point, with the exponent applied.
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let before = i64::try_from(whole.len()).ok()?;
    let before = before.checked_add(exponent.parse().ok()?)?.checked_sub(zeros)?;
    let significant = significant.trim_end_matches('0');
    let missing = before.checked_sub(i64::try_from(significant.len()).ok()?)?;
    if before > MOST_DIGITS || missing < 0 {
        return None;
    }
    let missing = usize::try_from(missing).ok()?;
    Some(format!("{sign}{significant}{}", "0".repeat(missing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_lose_fraction_and_exponent_and_nothing_else() {
        let cases = [
            ("1.0", "1"),
            ("-1.000", "-1"),
            ("0.0", "0"),
            ("-0", "0"),
            ("-0.0e7", "0"),
            ("0e99999999999999999999", "0"),
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("12.5e1", "125"),
            ("1200e-2", "12"),
            ("0.001e3", "1"),
            ("9007199254740993.0", "9007199254740993"),
            ("1e38", "100000000000000000000000000000000000000"),
        ];
        for (number, integer) in cases {
            assert_eq!(plain_integers(number), integer, "{number}");
            let (within, plain) =
                (format!("[{number},\"1.0\\\"1.0\"]"), format!("[{integer},\"1.0\\\"1.0\"]"));
            assert_eq!(plain_integers(&within), plain);
        }
    }

    #[test]
    fn other_numbers_are_left_as_they_are() {
        let others = ["1", "-17", "1.5", "1e-1", "12.34e1", "1e39", "1e400", "1e-400"];
        let odd = ["1.0000000000000000001", "1e99999999999999999999", "1e-99999999999999999999"];
        for number in others.into_iter().chain(odd) {
            assert_eq!(plain_integers(number), number);
        }
        for text in [r#"{"1.0":"2.0","a\\":"\"3.0"}"#, "", "\"1.0", "\"\\"] {
            assert!(matches!(plain_integers(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
