//! JSON for programs, and indented for people who read along.

use std::io::{self, IsTerminal as _};

use bowline_types::hidden::marked;
use bowline_types::json::RawJson;
use serde::Serialize;

use super::{bytes, held, is_terminal};

/// Prints a value as JSON to standard output, indented.
pub(crate) fn print(value: &impl Serialize) {
    print_indented(RawJson::from_value(value).unwrap_or_default().as_str());
}

/// Prints JSON text to standard output, indented.
pub(crate) fn print_indented(json: &str) {
    write(&indented(json));
}

/// Prints a value as one line of JSON.
pub(crate) fn print_line(value: &impl Serialize) {
    write(RawJson::from_value(value).unwrap_or_default().as_str());
}

/// Prints a value as one line of JSON to standard error.
pub(crate) fn note_line(value: &impl Serialize) {
    let json = RawJson::from_value(value).unwrap_or_default();
    held::line(&shown(json.as_str(), io::stderr().is_terminal()));
}

/// Writes the JSON as it is, or escaped if a terminal shows it. Colours are no part of JSON, so
/// nothing is taken out of it.
fn write(json: &str) {
    let json = shown(json, is_terminal());
    bytes(format!("{json}\n").as_bytes());
}

fn shown(json: &str, is_terminal: bool) -> String {
    if is_terminal { escaped(json) } else { json.to_owned() }
}

/// The same JSON with escapes for what a reader would not see.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for (c, is_hidden) in marked(json) {
        match c {
            // Outside of strings, where they are white space: strings have them as escapes.
            '\n' | '\t' => out.push(c),
            '\r' => out.push(' '),
            c if is_hidden => {
                let mut units = [0; 2];
                out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => out.push(c),
        }
    }
    out
}

/// JSON text with line ends and indentation. Numbers and the order of members stay as they are.
pub(crate) fn indented(json: &str) -> String {
    let mut writer = Writer { out: String::with_capacity(json.len() * 2), depth: 0 };
    let mut rest = json.chars().peekable();
    let (mut in_string, mut is_escaped) = (false, false);
    while let Some(c) = rest.next() {
        if in_string {
            writer.out.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            c if c.is_whitespace() => {}
            '"' => {
                in_string = true;
                writer.out.push(c);
            }
            '{' | '[' => {
                while rest.next_if(|c| c.is_whitespace()).is_some() {}
                match rest.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => writer.out.extend([c, end]),
                    None => writer.open(c),
                }
            }
            '}' | ']' => writer.close(c),
            ',' => writer.line(","),
            ':' => writer.out.push_str(": "),
            c => writer.out.push(c),
        }
    }
    writer.out
}

struct Writer {
    out: String,
    depth: usize,
}

impl Writer {
    fn open(&mut self, c: char) {
        self.depth += 1;
        self.line(&c.to_string());
    }

    fn close(&mut self, c: char) {
        self.depth = self.depth.saturating_sub(1);
        self.line("");
        self.out.push(c);
    }

    /// Writes a text and begins the next line.
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_its_values_stay_as_they_are() {
        let json = r#"{"b":[1e400, {"x":"a, \"{b\\"}],"a":{},"c":[ ]}"#;
        let expected = "{\n  \"b\": [\n    1e400,\n    {\n      \"x\": \"a, \\\"{b\\\\\"\n    }\n  ],\n  \"a\": {},\n  \"c\": []\n}";
        assert_eq!(indented(json), expected);
        assert_eq!(indented("7"), "7");
    }

    #[test]
    fn json_at_a_terminal_has_escapes_instead_of_what_the_terminal_would_obey() {
        let json = "{\"a\":\"\u{9b}2J\u{7f}\u{202e}ü\u{1f600}\"}\r";
        let shown = escaped(json);
        assert_eq!(shown, "{\"a\":\"\\u009b2J\\u007f\\u202eü\u{1f600}\"} ");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&shown), value(json));
    }
}
