//! Finds values in text, and puts a mark in their place.
//!
//! A value is found as it is, and as JSON may write it, also inside a string that holds JSON itself:
//! after any number of backslashes, or as `\u002B`.

use std::borrow::Cow;

use bowline_types::json::RawJson;

/// What stands for a credential.
const REDACTED: &str = "[redacted]";

/// Values to look for, the longest first: a header before the token in it.
pub(super) struct Values(Vec<String>);

impl Values {
    pub(super) fn new(mut values: Vec<String>) -> Self {
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|value| next(text, value).is_some())
    }

    /// Replaces the values in a text for people.
    pub(super) fn replace(&self, text: &mut String) {
        for value in &self.0 {
            if let Some(replaced) = without(text, value) {
                *text = replaced;
            }
        }
    }

    /// Replaces the values in the strings of a JSON text; `None` if it has none of them. Numbers stay,
    /// so the text is JSON afterwards.
    pub(super) fn replace_in_strings(&self, json: &str) -> Option<String> {
        if !self.is_in(json) {
            return None;
        }
        let (mut written, mut rest) = (String::new(), json);
        while let Some(start) = rest.find('"') {
            let (before, string) = rest.split_at(start);
            let (string, after) = string.split_at(length_of_string(string));
            written.extend([before, &self.without_values(string)]);
            rest = after;
        }
        Some(written + rest)
    }

    /// A string of JSON, in its quotes, without the values.
    fn without_values<'a>(&self, string: &'a str) -> Cow<'a, str> {
        if !self.is_in(string) {
            return string.into();
        }
        // JSON can name half of a character, and no string of Rust can hold it.
        let mut text = serde_json::from_str(string).unwrap_or_else(|_| REDACTED.to_owned());
        self.replace(&mut text);
        RawJson::from_value(&text).unwrap_or_default().into_text().into()
    }
}

/// The length of the JSON string at the beginning of a text, with its quotes.
fn length_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// The text without the secret, if it has it.
fn without(text: &str, secret: &str) -> Option<String> {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((start, end)) = next(rest, secret) {
        replaced.extend([&rest[..start], REDACTED]);
        rest = &rest[end..];
    }
    (rest.len() < text.len()).then(|| replaced + rest)
}

/// Where the secret occurs first.
fn next(text: &str, secret: &str) -> Option<(usize, usize)> {
    if !text.contains('\\') {
        return text.find(secret).map(|start| (start, start + secret.len()));
    }
    let starts = text.char_indices().map(|(start, _)| start);
    let mut found =
        starts.filter_map(|start| Some((start, start + written(&text[start..], secret)?)));
    found.next()
}

/// The length of the secret at the beginning of a text. Backslashes count for nothing on both sides.
fn written(text: &str, secret: &str) -> Option<usize> {
    let mut rest = text;
    for expected in secret.chars().filter(|character| *character != '\\') {
        let plain = rest.trim_start_matches('\\');
        let is_escape = plain.len() < rest.len();
        let after_escape = is_escape.then(|| after_escape(plain, expected)).flatten();
        rest = after_escape.or_else(|| plain.strip_prefix(expected))?;
    }
    Some(text.len() - rest.len())
}

/// What follows the escape of a character, whose backslash was read.
fn after_escape(text: &str, expected: char) -> Option<&str> {
    let letter = match expected {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => return after_code_units(text, expected),
    };
    text.strip_prefix(letter).or_else(|| after_code_units(text, expected))
}

/// What follows `u002B`, or `ud83d\ude00` for a character of two units.
fn after_code_units(mut text: &str, expected: char) -> Option<&str> {
    for unit in expected.encode_utf16(&mut [0; 2]) {
        let digits = text.trim_start_matches('\\').strip_prefix('u')?;
        let is_unit = u16::from_str_radix(digits.get(..4)?, 16).is_ok_and(|it| it == *unit);
        text = is_unit.then(|| &digits[4..])?;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(value: &str, text: &str) -> String {
        let mut text = text.to_owned();
        Values::new(vec![value.to_owned()]).replace(&mut text);
        text
    }

    #[test]
    fn a_value_is_found_however_json_writes_it() {
        let secret = "a\"s3cret/+\\\ntöken😀";
        for text in [
            secret,
            r#"a\"s3cret/+\\\ntöken😀"#,
            r"a\u0022s3cret\/\u002B\\\nt\u00f6ken\ud83d\ude00",
            r#"a\\\"s3cret\\\/\\u002b\\\\\\nt\\u00F6ken\\uD83D\\uDE00"#,
        ] {
            assert_eq!(redacted(secret, &format!("({text}, {text})")), "([redacted], [redacted])");
        }
        assert_eq!(redacted("tokentoken", r"\tokentoke"), r"\tokentoke");
        assert_eq!(redacted("tokentoken", r"\n tokentoken"), r"\n [redacted]");
    }

    #[test]
    fn json_stays_json() {
        let values = Values::new(vec!["12345678".to_owned(), "1BCDEFGH".to_owned()]);
        for (json, expected) in [
            (r#"{"a":12345678,"b":["\"12345678"]}"#, r#"{"a":12345678,"b":["\"[redacted]"]}"#),
            (r#"["\u0041BCDEFGH","12345678\\"]"#, r#"["ABCDEFGH","[redacted]\\"]"#),
            (r#"["\ud800 12345678"]"#, r#"["[redacted]"]"#),
            (r#"{"12345678":1}"#, r#"{"[redacted]":1}"#),
        ] {
            assert_eq!(values.replace_in_strings(json).as_deref(), Some(expected));
        }
        assert_eq!(values.replace_in_strings(r#"["1234567"]"#), None);
    }
}
