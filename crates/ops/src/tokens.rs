//! What text costs a model, estimated.
//!
//! A real tokenizer needs its table of 200,000 words, which is larger than this whole program. The
//! rules here were compared with one on the lists of real servers; `docs/tokens.md` has the
//! figures.

use bowline_types::json::{RawJson, Schema};
use bowline_types::tool::ToolDefinition;
use serde::Serialize;

/// What hosts show a model of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a Schema,
}

/// The tokens of a list of tools, as hosts show it to a model.
pub fn of_tools(tools: &[ToolDefinition]) -> usize {
    tools.iter().map(of_tool).sum()
}

/// The tokens of one tool.
pub fn of_tool(tool: &ToolDefinition) -> usize {
    let description = tool.description.as_deref();
    let shown = Shown { name: &tool.name, description, input_schema: &tool.input_schema };
    estimate(RawJson::from_value(&shown).unwrap_or_default().as_str()) + 1
}

/// The letters of a word that one token holds. Longer words take more.
const LETTERS: usize = 12;
const DIGITS: usize = 3;
/// Signs that follow each other, such as `":{"`, share a token.
const SIGNS: usize = 4;

/// The tokens of a text.
///
/// Text is cut into runs of one kind. A capital letter after a small one begins a new word, a
/// single space belongs to the word after it, and each character outside of ASCII counts by itself.
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = Kind::of(first);
        let end = kind.end_of_run(rest);
        let (run, after) = rest.split_at(end);
        tokens += match kind {
            Kind::Letter => run.len().div_ceil(LETTERS),
            Kind::Digit => run.len().div_ceil(DIGITS),
            Kind::Sign => run.len().div_ceil(SIGNS),
            Kind::Space if run == " " => 0,
            Kind::Space | Kind::Other => 1,
        };
        rest = after;
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Sign,
    Space,
    /// Every character outside of ASCII.
    Other,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            c if c.is_ascii_alphabetic() => Self::Letter,
            c if c.is_ascii_digit() => Self::Digit,
            c if c.is_ascii_whitespace() => Self::Space,
            c if c.is_ascii() => Self::Sign,
            _ => Self::Other,
        }
    }

    /// Where the run of this kind ends that the text begins with.
    fn end_of_run(self, text: &str) -> usize {
        let mut before: Option<char> = None;
        for (at, c) in text.char_indices() {
            let is_new_word =
                before.is_some_and(|it| it.is_ascii_lowercase()) && c.is_ascii_uppercase();
            if at > 0 && (Self::of(c) != self || self == Self::Other || is_new_word) {
                return at;
            }
            before = Some(c);
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_digits_and_signs_are_counted_by_their_length() {
        for (text, tokens) in [
            ("", 0),
            ("message", 1),
            ("two words", 2),
            ("internationalization", 2),
            ("inputSchema", 2),
            ("12345", 2),
            (r#"{"a":"#, 3),
            ("日本", 2),
            ("a\n\nb", 3),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
