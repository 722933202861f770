//! Texts as values of headers: plain, or as base64 between markers.
//!
//! A header may hold visible ASCII and spaces inside; names of tools and URIs may hold anything. A
//! value that a header cannot hold is sent as `=?base64?…?=` (XMH-15), and so is one that looks as
//! if it were encoded already (XMH-17).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BEFORE: &str = "=?base64?";
const AFTER: &str = "?=";

/// A text as the value of a header. Borrowed in the usual case, where nothing has to be done.
pub fn encode(text: &str) -> Cow<'_, str> {
    let is_visible = text.bytes().all(|byte| (0x20..=0x7E).contains(&byte));
    let is_trimmed = !text.starts_with(' ') && !text.ends_with(' ');
    if is_visible && is_trimmed && encoded(text).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{BEFORE}{}{AFTER}", STANDARD.encode(text)))
}

/// The text of a header value. `None` if it is marked as base64 of UTF-8 and is not. The caller
/// answers `None` with -32020 (XMH-22).
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let Some(base64) = encoded(value) else { return Some(Cow::Borrowed(value)) };
    let bytes = STANDARD.decode(base64).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The text between the markers, if there are markers.
fn encoded(value: &str) -> Option<&str> {
    value.strip_prefix(BEFORE)?.strip_suffix(AFTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // spec: XMH-14, XMH-15, XMH-16, XMH-17
    #[test]
    fn only_what_needs_it_is_encoded() {
        for plain in ["", "us-west1", "two words", "SGVsbG8=", "=?base64?SGVsbG8=", "x=?base64?a?="]
        {
            assert_eq!(encode(plain), plain);
        }
        for (text, expected) in [
            ("é", "=?base64?w6k=?="),
            (" a", "=?base64?IGE=?="),
            ("a ", "=?base64?YSA=?="),
            ("a\tb", "=?base64?YQli?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("=?base64?a?=", "=?base64?PT9iYXNlNjQ/YT89?="),
        ] {
            assert_eq!(encode(text), expected);
        }
    }

    // spec: HDR-11, XMH-22
    #[test]
    fn what_claims_to_be_base64_must_be() {
        assert_eq!(decode("=?base64?SGVsbG8=?=").unwrap(), "Hello");
        assert_eq!(decode("=?BASE64?SGVsbG8=?=").unwrap(), "=?BASE64?SGVsbG8=?=");
        for wrong in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        // spec: XMH-15, XMH-24
        #[test]
        fn every_text_survives(text: String) {
            let value = encode(&text).into_owned();
            prop_assert!(value.bytes().all(|byte| (0x20..=0x7E).contains(&byte)));
            prop_assert_eq!(value.trim_matches(' '), &value);
            prop_assert_eq!(decode(&value).unwrap(), text);
        }
    }
}
