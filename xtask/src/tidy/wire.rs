//! Messages are decoded by their method, and stay raw text until an extractor decodes them.
//!
//! serde's `untagged` and `flatten` guess by shape, buffer everything and give useless errors; a
//! `Value` between socket and handler is a needless copy of the message.

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Token};
use crate::tree::{File, Tree};

const NO_GUESSING: &[&str] = &["crates/types/src/", "crates/proto/src/"];
const NO_VALUES: &str = "crates/proto/src/";

/// Where `proto` may use `serde_json::Value`, and why.
const VALUES: &[(&str, &str)] =
    &[("crates/proto/src/mirror/x_mcp_header", "a JSON Schema is itself a JSON value")];

/// Finds decoding by shape, and values between the socket and the handler.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources() {
        let mut found = Vec::new();
        let guesses = NO_GUESSING.iter().any(|folder| file.path.starts_with(folder));
        let holds_values = file.path.starts_with(NO_VALUES) && !is_excused(file);
        tokens::each_level(&file.tokens, &mut |level| {
            for position in 0..level.len() {
                if guesses && let Some(word) = guessing(level, position) {
                    let text = format!("serde `{word}` decodes by shape; decode by hand instead");
                    found.push((level[position].line, text));
                }
                if holds_values && is_value(level, position) {
                    let text = "`serde_json::Value` copies the message; keep a `RawValue`";
                    found.push((level[position].line, text.to_owned()));
                }
            }
        });
        let shipped = found.into_iter().filter(|(line, _)| !file.is_test_line(*line));
        findings.extend(shipped.map(|(line, text)| file.finding(line, text)));
    }
    findings
}

fn is_excused(file: &File) -> bool {
    VALUES.iter().any(|(path, _why)| file.path.starts_with(path))
}

/// The forbidden word in `serde(…)` at this position.
fn guessing(level: &[Token], position: usize) -> Option<&'static str> {
    let options = level.get(position + 1)?.group(Bracket::Round)?;
    let words = ["untagged", "flatten"];
    let found = words.into_iter().find(|word| tokens::mentions(options, word));
    found.filter(|_| level[position].is_word("serde"))
}

/// Whether `serde_json::Value` is named or imported at this position.
fn is_value(level: &[Token], position: usize) -> bool {
    let is_imported = level[position].is_word("serde_json")
        && level
            .get(position + 2)
            .and_then(|token| token.group(Bracket::Curly))
            .is_some_and(|names| tokens::mentions(names, "Value"));
    is_imported
        || tokens::is_path(level, position, &["serde_json", "Value"])
        || tokens::is_path(level, position, &["serde_json", "value", "Value"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn decoding_by_shape_is_found() {
        let source =
            "#[serde(untagged)]\nenum A {}\nstruct B {\n#[serde(default, flatten)]\nc: C }";
        let tree =
            Tree::of(&[("crates/types/src/a.rs", source), ("crates/server/src/a.rs", source)]);
        let expected = [(1, "crates/types/src/a.rs"), (4, "crates/types/src/a.rs")];
        assert_eq!(places(&check(&tree)), expected);
    }

    #[test]
    fn flattening_an_iterator_is_free() {
        let tree = Tree::of(&[("crates/types/src/a.rs", "fn f() { a.flatten(); }")]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_value_is_found_however_it_is_named() {
        for code in [
            "fn f(a: serde_json::Value) {}",
            "use serde_json::Value;",
            "use serde_json::{Map, Value};",
            "use serde_json::value::Value;",
        ] {
            let tree = Tree::of(&[("crates/proto/src/a.rs", code)]);
            assert_eq!(places(&check(&tree)), [(1, "crates/proto/src/a.rs")], "{code}");
        }
    }

    #[test]
    fn raw_values_schemas_and_tests_are_free() {
        let tree = Tree::of(&[
            ("crates/proto/src/a.rs", "use serde_json::value::RawValue;"),
            ("crates/proto/src/b.rs", "#[cfg(test)]\nmod tests { use serde_json::Value; }"),
            ("crates/proto/src/mirror/x_mcp_header/check.rs", "use serde_json::Value;"),
            ("crates/types/src/a.rs", "use serde_json::Value;"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
