//! Reads YAML as the value that it has in JSON.
//!
//! The syntax is all of YAML 1.2, and plain scalars are resolved by its core schema: `yes` and a
//! date are texts, `true` is not. What JSON cannot express is refused, and so is what makes a
//! short text mean a long one: anchors, aliases and tags.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::frontmatter::{
    FrontmatterError, FrontmatterValue as Value, MOST_MEMBERS, too_many_members,
};

/// How deep lists and maps may be nested.
const MOST_NESTED: usize = 16;

/// Reads a text that is one YAML document.
///
/// # Errors
///
/// Says what is wrong, and in which line, from 1.
pub(crate) fn read(text: &str) -> Result<Value, FrontmatterError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            FrontmatterError::new(error.marker().line(), format!("not YAML: {}", error.info()))
        })?;
        let line = span.start.line();
        builder.take(event).map_err(|problem| FrontmatterError::new(line, problem))?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

/// Builds a value from the events of the parser, without recursion.
#[derive(Default)]
struct Builder {
    /// From the outermost to the innermost.
    open: Vec<Open>,
    root: Option<Value>,
}

/// A list or a map that is not complete yet.
enum Open {
    List(Vec<Value>),
    Map { members: Vec<(String, Value)>, key: Option<String> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), Cow<'static, str>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                if let Some(Open::Map { members, key: key @ None }) = self.open.last_mut() {
                    *key = Some(new_key(members, &text)?);
                } else {
                    self.complete(scalar(&text, style)?);
                }
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                self.open(Open::List(Vec::new()))?;
            }
            Event::MappingStart(anchor, tag) => {
                refuse_marks(anchor, tag.is_some())?;
                self.open(Open::Map { members: Vec::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.complete(Value::List(items)),
                Some(Open::Map { members, .. }) => self.complete(Value::Map(members)),
                None => {}
            },
            Event::Alias(_) => return Err("aliases (`*name`) are not supported".into()),
            Event::DocumentStart(_) if self.root.is_some() => {
                return Err("a second YAML document begins here".into());
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, new: Open) -> Result<(), Cow<'static, str>> {
        if self.open.len() == MOST_NESTED {
            return Err("lists and maps are nested too deeply".into());
        }
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err("a key must be a text".into());
        }
        self.open.push(new);
        Ok(())
    }

    fn complete(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map { members, key }) => {
                members.push((key.take().unwrap_or_default(), value));
            }
        }
    }
}

fn refuse_marks(anchor: usize, has_tag: bool) -> Result<(), &'static str> {
    match (anchor, has_tag) {
        (0, false) => Ok(()),
        (0, true) => Err("tags (`!type`) are not supported"),
        _ => Err("anchors (`&name`) are not supported"),
    }
}

/// A key that the map does not have yet.
fn new_key(members: &[(String, Value)], key: &str) -> Result<String, String> {
    if members.len() >= MOST_MEMBERS {
        return Err(too_many_members());
    }
    match members.iter().any(|(other, _)| other == key) {
        true => Err(format!("duplicate key `{key}`")),
        false => Ok(key.to_owned()),
    }
}

/// The value of a scalar. Only plain ones can be other things than texts.
fn scalar(text: &str, style: ScalarStyle) -> Result<Value, &'static str> {
    if style != ScalarStyle::Plain {
        return Ok(Value::Text(text.to_owned()));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Err("infinite numbers and `.nan` cannot be written as JSON; quote the text");
    }
    Ok(number(text).unwrap_or_else(|| Value::Text(text.to_owned())))
}

/// Reads a number of the core schema.
fn number(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_plain = digits.chars().all(|c| c.is_digit(radix));
            return is_plain
                .then(|| i64::from_str_radix(digits, radix).ok())
                .flatten()
                .map(Value::Integer);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let begins = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !begins.starts_with(|c: char| c.is_ascii_digit()) || !unsigned.chars().all(allowed) {
        return None;
    }
    if let Ok(integer) = text.parse() {
        return Some(Value::Integer(integer));
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        serde_json::to_string(&read(text).unwrap()).unwrap()
    }

    #[test]
    fn scalars_are_resolved_by_the_core_schema() {
        for (yaml, expected) in [
            ("a", r#""a""#),
            ("yes", r#""yes""#),
            ("2024-01-31", r#""2024-01-31""#),
            ("1.2.3", r#""1.2.3""#),
            ("'1'", r#""1""#),
            ("1", "1"),
            ("+12", "12"),
            ("-1.5e3", "-1500.0"),
            (".5", "0.5"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("0x", r#""0x""#),
            ("1e", r#""1e""#),
            ("-", r#"[null]"#),
            ("true", "true"),
            ("~", "null"),
            ("", "null"),
        ] {
            assert_eq!(json(yaml), expected, "{yaml}");
        }
    }

    #[test]
    fn lists_maps_and_long_texts_are_read() {
        let yaml =
            "a: [1, {b: c}]\nd:\n  - e\n  -\n    f: 'it''s'\ng: >-\n  one\n  two\nh: |\n  x\n  y\n";
        let expected = r#"{"a":[1,{"b":"c"}],"d":["e",{"f":"it's"}],"g":"one two","h":"x\ny\n"}"#;
        assert_eq!(json(yaml), expected);
    }

    #[test]
    fn what_json_cannot_hold_is_refused_with_its_line() {
        for (yaml, line, problem) in [
            ("a: 1\nb: &x 2", 2, "anchors"),
            ("a: 1\nb: *x", 2, "not YAML"),
            ("a: !!str 1", 1, "tags"),
            ("a: !x [1]", 1, "tags"),
            ("a: &x [1]", 1, "anchors"),
            ("a: 1\na: 2", 2, "duplicate key `a`"),
            ("? [a]\n: 1", 1, "a key must be a text"),
            ("a: .inf", 1, "cannot be written as JSON"),
            ("a: 1\n b: 2", 2, "not YAML"),
            ("a: 'b", 1, "not YAML"),
            ("a: 1\n---\nb: 2", 2, "a second YAML document"),
        ] {
            let error = read(yaml).unwrap_err();
            assert!(error.problem.contains(problem), "{yaml}: {error:?}");
            assert_eq!(error.line, line, "{yaml}: {error:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MOST_NESTED)).is_ok());
        let error = read(&nested(MOST_NESTED + 1)).unwrap_err();
        assert!(error.problem.contains("too deeply"), "{error:?}");
        assert!(read(&"[".repeat(60_000)).is_err());
    }
}
