//! The text of one message in a transcript, with what stands for something else.
//!
//! | in the file | stands for |
//! |---|---|
//! | `@revision` | the revision that the transcript is played in, inside a string too |
//! | `@client` | `_meta` of a request of 2026-07-28; `@client{elicitation,progress:1}` says more in it |
//! | `@server` | `_meta` with which the server stamps its results in 2026-07-28 |
//! | `@any` | any JSON value, in what is expected |
//! | `@name` | any JSON value the first time, and the same value from then on |
//!
//! All but `@revision` stand where a JSON value would; an `@` in a string is just that.

use std::collections::BTreeMap;
use std::fmt;

use bowline_types::revision::Revision;
use serde_json::value::RawValue;

use super::identity::Identity;

/// The text of a message, cut at what only the play can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Text as it is sent.
    Plain(String),
    /// A value that may be anything.
    Any,
    /// A value that is remembered by its name.
    Named(String),
}

/// Values that were met during a play, by the names that the transcript gives them.
pub(crate) type Values = BTreeMap<String, String>;

/// What the words of a transcript stand for.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) revision: Revision,
    /// `_meta` with which the server stamps its results.
    pub(crate) server: String,
}

impl Text {
    /// Reads a line of a transcript.
    ///
    /// # Errors
    ///
    /// If a word that begins with `@` has no meaning.
    pub(crate) fn parse(line: &str, words: &Words) -> Result<Self, String> {
        let mut reader = TextReader { rest: line, words, plain: String::new(), pieces: Vec::new() };
        reader.read()?;
        Ok(Self(reader.pieces))
    }

    /// Text in which only `@any` and names stand for something else.
    pub(crate) fn literal(line: &str) -> Self {
        let words = Words { revision: Revision::LATEST, server: "{}".to_owned() };
        Self::parse(line, &words).unwrap_or_else(|_| Self::plain(line))
    }

    /// Text that holds nothing but itself.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self(vec![Piece::Plain(text.into())])
    }

    /// The text to send.
    ///
    /// # Errors
    ///
    /// If it names a value that nobody has said yet.
    pub(crate) fn fill(&self, values: &Values) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Plain(plain) => text.push_str(plain),
                Piece::Any => {
                    return Err(
                        "`@any` cannot be sent; only what is expected may hold it".to_owned()
                    );
                }
                Piece::Named(name) => match values.get(name) {
                    Some(value) => text.push_str(value),
                    None => {
                        return Err(format!(
                            "`@{name}` has no value yet; no message before it held it"
                        ));
                    }
                },
            }
        }
        Ok(text)
    }

    /// Whether this is what was said. Values that are named for the first time are remembered.
    pub(crate) fn matches(&self, said: &str, values: &mut Values) -> bool {
        let mut found = Values::new();
        let mut rest = said;
        for piece in &self.0 {
            let known = |name: &String| values.get(name).or_else(|| found.get(name)).cloned();
            rest = match piece {
                Piece::Plain(plain) => match rest.strip_prefix(plain.as_str()) {
                    Some(rest) => rest,
                    None => return false,
                },
                Piece::Any => match cut_value(rest) {
                    Some((_, rest)) => rest,
                    None => return false,
                },
                Piece::Named(name) => match (cut_value(rest), known(name)) {
                    (Some((value, rest)), Some(known)) if value == known => rest,
                    (Some((value, rest)), None) => {
                        found.insert(name.clone(), value.to_owned());
                        rest
                    }
                    _ => return false,
                },
            };
        }
        let matches = rest.is_empty();
        if matches {
            values.append(&mut found);
        }
        matches
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Plain(plain) => f.write_str(plain),
            Piece::Any => f.write_str("@any"),
            Piece::Named(name) => write!(f, "@{name}"),
        })
    }
}

/// The JSON value at the start of a text, and what follows it.
fn cut_value(text: &str) -> Option<(&str, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    values.next()?.ok()?;
    text.split_at_checked(values.byte_offset())
}

struct TextReader<'a> {
    rest: &'a str,
    words: &'a Words,
    plain: String,
    pieces: Vec<Piece>,
}

impl<'a> TextReader<'a> {
    fn read(&mut self) -> Result<(), String> {
        let (mut in_string, mut escaped) = (false, false);
        while let Some(next) = self.rest.chars().next() {
            if next == '@' && !in_string {
                self.word()?;
                continue;
            }
            if next == '@' && self.take("@revision") {
                self.plain.push_str(self.words.revision.as_str());
                continue;
            }
            in_string ^= next == '"' && !escaped;
            escaped = in_string && next == '\\' && !escaped;
            self.plain.push(next);
            self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        }
        self.end_plain();
        Ok(())
    }

    /// Reads a word that stands for a value.
    fn word(&mut self) -> Result<(), String> {
        self.take("@");
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => return Err("`@` stands alone; outside of a string it begins a word".to_owned()),
            "revision" => self.plain.push_str(&format!("\"{}\"", self.words.revision)),
            "server" => self.plain.push_str(&self.words.server),
            "client" => {
                let extras = self.extras()?;
                self.plain.push_str(&Identity::parse(extras)?.meta(self.words.revision));
            }
            "any" => self.piece(Piece::Any),
            name => self.piece(Piece::Named(name.to_owned())),
        }
        Ok(())
    }

    /// What stands in braces directly after a word; nothing if there are none.
    fn extras(&mut self) -> Result<&'a str, String> {
        let Some(inside) = self.rest.strip_prefix('{') else { return Ok("") };
        let (extras, rest) = inside.split_once('}').ok_or("`@client{` lacks its closing brace")?;
        self.rest = rest;
        Ok(extras)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn piece(&mut self, piece: Piece) {
        self.end_plain();
        self.pieces.push(piece);
    }

    fn end_plain(&mut self) {
        if !self.plain.is_empty() {
            self.pieces.push(Piece::Plain(std::mem::take(&mut self.plain)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words { revision: Revision::V2025_06_18, server: r#"{"by":"kit"}"#.to_owned() }
    }

    fn text(line: &str) -> Text {
        Text::parse(line, &words()).unwrap()
    }

    #[test]
    fn the_revision_stands_in_strings_and_for_one() {
        let filled = text(r#"{"a":@revision,"b":"in @revision, me@home"}"#).fill(&Values::new());
        assert_eq!(filled.unwrap(), r#"{"a":"2025-06-18","b":"in 2025-06-18, me@home"}"#);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        let line = r#"{"a":"\"@any\\","b":@any}"#;
        assert!(text(line).matches(r#"{"a":"\"@any\\","b":1}"#, &mut Values::new()));
    }

    #[test]
    fn anything_may_stand_for_any() {
        let expected = text(r#"{"a":@any,"b":2}"#);
        for value in ["1", "-2.5e3", "\"}\"", "{\"c\":[1,2]}", "null"] {
            assert!(
                expected.matches(&format!("{{\"a\":{value},\"b\":2}}"), &mut Values::new()),
                "{value}"
            );
        }
        for other in [r#"{"a":,"b":2}"#, r#"{"a":1,"b":3}"#, r#"{"a":1,"b":2}x"#, r#"{"a":1"#] {
            assert!(!expected.matches(other, &mut Values::new()), "{other}");
        }
    }

    #[test]
    fn a_named_value_is_the_same_ever_after() {
        let mut values = Values::new();
        assert!(text(r#"{"s":@state}"#).matches(r#"{"s":"x\"y"}"#, &mut values));
        assert!(!text(r#"{"s":@state}"#).matches(r#"{"s":"z"}"#, &mut values));
        assert_eq!(text(r#"[@state]"#).fill(&values).unwrap(), r#"["x\"y"]"#);
        assert!(!text("[@two,@two]").matches("[1,2]", &mut values));
        assert!(text("[@two,@two]").matches("[1,1]", &mut values));
    }

    #[test]
    fn a_message_that_does_not_match_leaves_no_values() {
        let mut values = Values::new();
        assert!(!text("[@one,2]").matches("[1,3]", &mut values));
        assert!(values.is_empty());
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        assert!(text("[@any]").fill(&Values::new()).unwrap_err().contains("@any"));
        assert!(text("[@state]").fill(&Values::new()).unwrap_err().contains("@state"));
        assert!(Text::parse("[@]", &words()).unwrap_err().contains("stands alone"));
        assert!(Text::parse("@client{", &words()).unwrap_err().contains("brace"));
    }

    #[test]
    fn the_server_stamps_as_it_does() {
        assert_eq!(text("{\"_meta\":@server}").to_string(), r#"{"_meta":{"by":"kit"}}"#);
    }
}
