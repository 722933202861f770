//! One message of a transcript, with placeholders.
//!
//! | placeholder | value |
//! |---|---|
//! | `@revision` | the revision of the play; also allowed inside a string |
//! | `@client` | `_meta` of a request of 2026-07-28; `@client{elicitation,progress:1}` adds members |
//! | `@server` | `_meta` that the server adds to its results in 2026-07-28 |
//! | `@any` | any JSON value; allowed in expected messages only |
//! | `@name` | any JSON value the first time, the same value in later messages |
//!
//! Every placeholder but `@revision` takes the place of a JSON value. Another `@` inside a string has
//! no special meaning.

use std::collections::BTreeMap;
use std::fmt;

use bowline_types::revision::Revision;
use serde_json::value::RawValue;

use super::identity::ClientIdentity;

/// A message, split at the placeholders whose values are known only during the play. The same type
/// serves messages that are sent ([`fill`](Self::fill)) and messages that are expected
/// ([`matches`](Self::matches)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageTemplate(Vec<Segment>);

/// Placeholders whose values are known before the play have become plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// Literal text.
    Plain(String),
    /// `@any`.
    Any,
    /// `@name`.
    Named(String),
}

/// The values of `@name` placeholders that a play has seen. As JSON text, so that a value can be
/// repeated exactly.
pub(crate) type Values = BTreeMap<String, String>;

/// The values of the placeholders that are known before the play.
#[derive(Clone, Debug)]
pub(crate) struct Placeholders {
    pub(crate) revision: Revision,
    /// `_meta` that the server adds to its results, as JSON.
    pub(crate) server: String,
}

impl MessageTemplate {
    /// Parses a message of a transcript.
    ///
    /// # Errors
    ///
    /// If a placeholder is not valid.
    pub(crate) fn parse(line: &str, placeholders: &Placeholders) -> Result<Self, String> {
        let mut reader =
            TemplateReader { rest: line, placeholders, plain: String::new(), segments: Vec::new() };
        reader.read()?;
        Ok(Self(reader.segments))
    }

    /// Parses a message whose only placeholders are `@any` and names. A line that cannot be parsed
    /// stands for itself.
    pub(crate) fn literal(line: &str) -> Self {
        let placeholders = Placeholders { revision: Revision::LATEST, server: "{}".to_owned() };
        Self::parse(line, &placeholders).unwrap_or_else(|_| Self::plain(line))
    }

    /// A message without placeholders.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self(vec![Segment::Plain(text.into())])
    }

    /// Puts in the values of the placeholders.
    ///
    /// # Errors
    ///
    /// If it has `@any`, or a name without a value.
    pub(crate) fn fill(&self, values: &Values) -> Result<String, String> {
        let mut text = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Plain(plain) => text.push_str(plain),
                Segment::Any => {
                    return Err(
                        "`@any` cannot be sent; it is for expected messages only".to_owned()
                    );
                }
                Segment::Named(name) => match values.get(name) {
                    Some(value) => text.push_str(value),
                    None => {
                        return Err(format!(
                            "`@{name}` has no value; no expected message before this line has it"
                        ));
                    }
                },
            }
        }
        Ok(text)
    }

    /// Whether a received message matches. If it does, `values` gets the values of new names.
    pub(crate) fn matches(&self, received: &str, values: &mut Values) -> bool {
        let mut found = Values::new();
        let mut rest = received;
        for segment in &self.0 {
            let known = |name: &String| values.get(name).or_else(|| found.get(name)).cloned();
            rest = match segment {
                Segment::Plain(plain) => match rest.strip_prefix(plain.as_str()) {
                    Some(rest) => rest,
                    None => return false,
                },
                Segment::Any => match cut_value(rest) {
                    Some((_, rest)) => rest,
                    None => return false,
                },
                Segment::Named(name) => match (cut_value(rest), known(name)) {
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

impl fmt::Display for MessageTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| match segment {
            Segment::Plain(plain) => f.write_str(plain),
            Segment::Any => f.write_str("@any"),
            Segment::Named(name) => write!(f, "@{name}"),
        })
    }
}

/// Splits a text after the JSON value at its start. That is how `@any` knows where it ends.
fn cut_value(text: &str) -> Option<(&str, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    values.next()?.ok()?;
    text.split_at_checked(values.byte_offset())
}

/// Walks through a line and knows whether it is inside a JSON string.
struct TemplateReader<'a> {
    rest: &'a str,
    placeholders: &'a Placeholders,
    plain: String,
    segments: Vec<Segment>,
}

impl<'a> TemplateReader<'a> {
    /// Inside of a string only `@revision` is special, so that mail addresses need no escape.
    fn read(&mut self) -> Result<(), String> {
        let (mut in_string, mut escaped) = (false, false);
        while let Some(next) = self.rest.chars().next() {
            if next == '@' && !in_string {
                self.placeholder()?;
                continue;
            }
            if next == '@' && self.take("@revision") {
                self.plain.push_str(self.placeholders.revision.as_str());
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

    /// Reads a placeholder.
    fn placeholder(&mut self) -> Result<(), String> {
        self.take("@");
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => {
                return Err(
                    "`@` without a name; outside of a string it begins a placeholder".to_owned()
                );
            }
            "revision" => self.plain.push_str(&format!("\"{}\"", self.placeholders.revision)),
            "server" => self.plain.push_str(&self.placeholders.server),
            "client" => {
                let extras = self.extras()?;
                self.plain
                    .push_str(&ClientIdentity::parse(extras)?.meta(self.placeholders.revision));
            }
            "any" => self.segment(Segment::Any),
            name => self.segment(Segment::Named(name.to_owned())),
        }
        Ok(())
    }

    /// Reads the text in braces directly after a placeholder; empty if there are none.
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

    fn segment(&mut self, segment: Segment) {
        self.end_plain();
        self.segments.push(segment);
    }

    fn end_plain(&mut self) {
        if !self.plain.is_empty() {
            self.segments.push(Segment::Plain(std::mem::take(&mut self.plain)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders() -> Placeholders {
        Placeholders { revision: Revision::V2025_06_18, server: r#"{"by":"kit"}"#.to_owned() }
    }

    fn text(line: &str) -> MessageTemplate {
        MessageTemplate::parse(line, &placeholders()).unwrap()
    }

    #[test]
    fn the_revision_is_replaced_inside_and_outside_of_strings() {
        let filled = text(r#"{"a":@revision,"b":"in @revision, me@home"}"#).fill(&Values::new());
        assert_eq!(filled.unwrap(), r#"{"a":"2025-06-18","b":"in 2025-06-18, me@home"}"#);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        let line = r#"{"a":"\"@any\\","b":@any}"#;
        assert!(text(line).matches(r#"{"a":"\"@any\\","b":1}"#, &mut Values::new()));
    }

    #[test]
    fn any_json_value_matches_any() {
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
    fn a_named_placeholder_keeps_its_first_value() {
        let mut values = Values::new();
        assert!(text(r#"{"s":@state}"#).matches(r#"{"s":"x\"y"}"#, &mut values));
        assert!(!text(r#"{"s":@state}"#).matches(r#"{"s":"z"}"#, &mut values));
        assert_eq!(text(r#"[@state]"#).fill(&values).unwrap(), r#"["x\"y"]"#);
        assert!(!text("[@two,@two]").matches("[1,2]", &mut values));
        assert!(text("[@two,@two]").matches("[1,1]", &mut values));
    }

    #[test]
    fn a_message_that_does_not_match_sets_no_values() {
        let mut values = Values::new();
        assert!(!text("[@one,2]").matches("[1,3]", &mut values));
        assert!(values.is_empty());
    }

    #[test]
    fn a_message_that_cannot_be_sent_is_an_error() {
        assert!(text("[@any]").fill(&Values::new()).unwrap_err().contains("@any"));
        assert!(text("[@state]").fill(&Values::new()).unwrap_err().contains("@state"));
        assert!(
            MessageTemplate::parse("[@]", &placeholders()).unwrap_err().contains("without a name")
        );
        assert!(MessageTemplate::parse("@client{", &placeholders()).unwrap_err().contains("brace"));
    }

    #[test]
    fn the_server_placeholder_is_its_meta() {
        assert_eq!(text("{\"_meta\":@server}").to_string(), r#"{"_meta":{"by":"kit"}}"#);
    }
}
