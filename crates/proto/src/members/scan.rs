//! One pass over JSON text that checks it and notes where its members are.
//!
//! The scanner gives a result only for text that it is sure of. For text that is wrong or merely
//! unusual it gives `None`, and the caller reads the same text again with `serde_json`, which
//! decides and writes the error. So both must agree on every text that the scanner accepts; tests
//! compare them.
//!
//! It serves two callers: [`Frame`](crate::frame::Frame), for the message itself, and [`Members`],
//! for objects inside it. Values are checked to be JSON and skipped, never built, so the cost is
//! one look at each byte. Names with escapes, names that occur twice and more than [`MANY`] members
//! in one object are left to serde.

use std::ops::Range;

use bowline_types::quote::plain_run;
use bytestring::ByteString;

use super::{MANY, Member, Members, Name};

/// Walks through a text once. After it has given `None` it is not used again.
pub(crate) struct Scanner<'a> {
    text: &'a ByteString,
    bytes: &'a [u8],
    at: usize,
    /// How many more objects and arrays may be opened inside the current one.
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// The deepest nesting of values. Each level takes some of the stack.
    pub(crate) const DEPTH: usize = 128;

    /// Starts a text whose values nest no deeper than `depth`.
    pub(crate) fn new(text: &'a ByteString, depth: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, depth: depth.min(Self::DEPTH) }
    }

    /// The next byte that is not white space. A control character that is no white space gives
    /// `None`, since it cannot begin a token.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => return None,
            }
        }
    }

    /// Enters an object that has members. `None` also if the object would nest too deep.
    pub(crate) fn enter(&mut self) -> Option<()> {
        self.expect(b'{')?;
        self.depth = self.depth.checked_sub(1)?;
        Some(())
    }

    /// After a member: whether the object ends here. If not, another member follows.
    pub(crate) fn leaves(&mut self) -> Option<bool> {
        self.ends(b'}')
    }

    /// After an item: whether `end` closes the container. If not, another item follows.
    fn ends(&mut self, mark: u8) -> Option<bool> {
        let next = self.peek()?;
        self.at += 1;
        if next == mark {
            self.depth += 1;
            return Some(true);
        }
        (next == b',').then_some(false)
    }

    /// Whether the container that was entered just now is empty.
    fn closes(&mut self, mark: u8) -> bool {
        let is_end = self.meets(mark);
        self.depth += usize::from(is_end);
        is_end
    }

    /// Skips a punctuation mark, which must come next.
    fn expect(&mut self, mark: u8) -> Option<()> {
        (self.peek()? == mark).then(|| self.at += 1)
    }

    /// Skips a punctuation mark if it comes next.
    fn meets(&mut self, mark: u8) -> bool {
        self.expect(mark).is_some()
    }

    /// Whether nothing follows.
    pub(crate) fn is_over(&mut self) -> bool {
        // `peek` shows no control characters, so they are checked for here.
        self.peek().is_none() && self.byte().is_none()
    }

    /// The name of a member and its colon. Gives `None` for a name with escapes.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        self.name_range().and_then(|range| self.text.get(range))
    }

    /// A value, as its text.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.value_range().and_then(|range| self.text.get(range))
    }

    /// An object, as its members.
    pub(crate) fn members(&mut self) -> Option<Members> {
        self.object_and_members().map(|(_, members)| members)
    }

    /// An object, as its text and its members. The ranges of the members count from the start of
    /// the object, whose text the [`Members`] share.
    pub(crate) fn object_and_members(&mut self) -> Option<(&'a str, Members)> {
        self.enter()?;
        let start = self.at - 1;
        let within = |range: Range<usize>| range.start - start..range.end - start;
        let mut members = Vec::new();
        let mut is_over = self.closes(b'}');
        while !is_over {
            let name = self.name_range()?;
            if self.is_known(&members, start, name.clone()) {
                return None;
            }
            let value = within(self.value_range()?);
            members.push(Member { name: Name::Plain(within(name)), value });
            is_over = self.leaves()?;
        }
        let text = self.text.get(start..self.at)?;
        Some((text, Members::new(self.text.slice_ref(text), members)))
    }

    /// Whether the name came before, or so many came that comparing them one by one is too slow.
    fn is_known(&self, members: &[Member], start: usize, name: Range<usize>) -> bool {
        let name = self.bytes.get(name);
        let is_same = |member: &Member| match &member.name {
            Name::Plain(other) => self.bytes.get(start + other.start..start + other.end) == name,
            Name::Decoded(_) => true,
        };
        members.len() >= MANY || members.iter().any(is_same)
    }

    /// The range of a member's name, without the quotes.
    #[inline]
    fn name_range(&mut self) -> Option<Range<usize>> {
        self.expect(b'"')?;
        let start = self.at;
        self.run();
        let range = start..self.at;
        self.expect_here(b'"')?;
        self.expect(b':')?;
        Some(range)
    }

    /// The range of a value.
    fn value_range(&mut self) -> Option<Range<usize>> {
        let first = self.peek()?;
        let start = self.at;
        self.at += 1;
        match first {
            b'"' => self.string(),
            b'{' => self.object(),
            b'[' => self.array(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'-' | b'0'..=b'9' => self.number(first),
            _ => None,
        }?;
        Some(start..self.at)
    }

    /// Skips an object.
    fn object(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        let mut is_over = self.closes(b'}');
        while !is_over {
            self.expect(b'"')?;
            self.string()?;
            self.expect(b':')?;
            self.value_range()?;
            is_over = self.ends(b'}')?;
        }
        Some(())
    }

    /// Skips an array.
    fn array(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        let mut is_over = self.closes(b']');
        while !is_over {
            self.value_range()?;
            is_over = self.ends(b']')?;
        }
        Some(())
    }

    /// The rest of a string, after its opening quote.
    fn string(&mut self) -> Option<()> {
        loop {
            self.run();
            match self.take()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    /// Skips an escape, after its backslash.
    fn escape(&mut self) -> Option<()> {
        match self.take()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => (0..4).try_for_each(|_| self.take()?.is_ascii_hexdigit().then_some(())),
            _ => None,
        }
    }

    /// Skips plain characters of a string, up to a quote, a backslash or a control character. Most
    /// bytes of most messages are skipped here.
    fn run(&mut self) {
        self.at += plain_run(self.bytes.get(self.at..).unwrap_or_default());
    }

    /// Skips a number, after its first byte. Follows the grammar of JSON: no leading zero, and at
    /// least one digit after a point or an exponent.
    fn number(&mut self, first: u8) -> Option<()> {
        let first = if first == b'-' { self.take()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Some(())
    }

    fn some_digits(&mut self) -> Option<()> {
        self.take()?.is_ascii_digit().then(|| self.digits())
    }

    fn digits(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// The rest of a literal, after its first letter.
    fn word(&mut self, word: &[u8]) -> Option<()> {
        let rest = word.get(1..)?;
        let is_here = self.bytes.get(self.at..)?.starts_with(rest);
        is_here.then(|| self.at += rest.len())
    }

    fn expect_here(&mut self, mark: u8) -> Option<()> {
        (self.take()? == mark).then_some(())
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.byte()?;
        self.at += 1;
        Some(byte)
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn accepts(text: &str) -> bool {
        let text = ByteString::from(text);
        let mut scanner = Scanner::new(&text, 128);
        scanner.value().is_some() && scanner.is_over()
    }

    #[test]
    fn what_is_usual_is_accepted() {
        let long = format!("\"{}\\n{}\"", "a".repeat(100), "ü".repeat(100));
        for text in [
            "{}",
            " [ ] ",
            "\t{ \"a\" : [ 1 , -2.5e+3 , true , false , null ] }\r\n",
            r#""\"\\\/\b\f\n\r\t\u00fC""#,
            "-0",
            "0.1E9",
            &long,
        ] {
            assert!(accepts(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_left_to_others() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "-",
            "1e",
            "+1",
            "tru",
            "nul",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "1 2",
            "1\u{b}",
            "\"\"\u{b}\"",
            "'a'",
            "[1 2]",
        ] {
            assert!(!accepts(text), "{text}");
        }
    }

    #[test]
    fn an_escape_by_number_has_four_hexadecimal_digits() {
        for at in 0..4 {
            for digit in *b"09afAF" {
                let mut digits = *b"1234";
                digits[at] = digit;
                let digits = str::from_utf8(&digits).unwrap();
                assert!(accepts(&format!("\"\\u{digits}\"")), "{digits}");
            }
            // The neighbours of the digits and letters in ASCII, and the end of the string.
            for other in *b"/:@G`g\" \\" {
                let mut digits = *b"1234";
                digits[at] = other;
                let digits = str::from_utf8(&digits).unwrap();
                assert!(!accepts(&format!("\"\\u{digits}\"")), "{digits}");
                assert!(!accepts(&format!("{{\"a\":\"\\u{digits}\"}}")), "{digits}");
            }
        }
        assert!(!accepts("\"\\u123"), "the text ends within the escape");
    }

    #[test]
    fn values_nest_as_deep_as_allowed() {
        let nested = |depth| ByteString::from("[".repeat(depth) + &"]".repeat(depth));
        assert!(Scanner::new(&nested(3), 3).value().is_some());
        assert!(Scanner::new(&nested(4), 3).value().is_none());
        let siblings = ByteString::from("[[],[],[[]]]");
        assert!(Scanner::new(&siblings, 3).value().is_some());
    }

    #[test]
    fn members_are_found_where_they_stand() {
        let text = ByteString::from(r#" {"a" : [1, {"b":2}] ,"c":"\n"} "#);
        let members = Scanner::new(&text, 8).members().unwrap();
        assert_eq!(members.as_str(), r#"{"a" : [1, {"b":2}] ,"c":"\n"}"#);
        assert_eq!(members.value("a"), Some(r#"[1, {"b":2}]"#));
        assert_eq!(members.value("c"), Some(r#""\n""#));
        for uncertain in [r#"{"a":1,"a":2}"#, r#"{"\u0061":1}"#] {
            assert!(Scanner::new(&ByteString::from(uncertain), 8).members().is_none());
        }
    }

    proptest! {
        /// Text that is close to JSON: every verdict is the one of `serde_json`.
        #[test]
        fn both_readers_agree(text in r#"([\[\]{}:, \n"\\a0-]|\\u00|1\.5|e\+|true|null|"k":|"v"){0,24}"#) {
            prop_assert_eq!(accepts(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }

        #[test]
        fn both_readers_agree_on_strings(text in r#""([^"\\]|\\["nu]|[0-9a-f]{4}|\\u[0-9a-gA-G]{4}|\PC{0,40}){0,8}""#) {
            prop_assert_eq!(accepts(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
    }
}
