//! One name, one thing: no two public types of our crates have the same name.
//!
//! A search for `Session` that finds four types makes a riddle of every use. So a type of one crate is
//! qualified where another crate has the plain name (`HttpSession`). Only what is `pub` counts, in a
//! public module or not; private types are seen in one place.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::tokens::Token;
use crate::tree::{File, Tree};

const KEYWORDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// Names that every crate may have, and why.
const SHARED: &[(&str, &str)] = &[
    ("Error", "each crate has one, as crates do"),
    ("Result", "an alias beside the error of its crate"),
];

/// Finds types whose name another public type has already.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&File, usize)>> = BTreeMap::new();
    for file in tree.sources() {
        // Types stand at the top of a file; inside of brackets are associated types.
        let tokens = &file.tokens;
        for position in 0..tokens.len() {
            if let Some((name, line)) = public_type(tokens, position)
                && !file.is_test_line(line)
                && !SHARED.iter().any(|(shared, _why)| *shared == name)
            {
                places.entry(name).or_default().push((file, line));
            }
        }
    }
    let repeated = places.into_iter().filter(|(_, places)| is_repeated(places));
    repeated.flat_map(|(name, places)| findings(name, &places)).collect()
}

/// Two definitions in one file are one thing in two configurations.
fn is_repeated(places: &[(&File, usize)]) -> bool {
    places.iter().any(|(file, _)| file.path != places[0].0.path)
}

fn findings(name: &str, places: &[(&File, usize)]) -> Vec<Finding> {
    let (first, line) = places[0];
    let others = places.iter().filter(|(file, _)| file.path != first.path);
    let text = format!("`{name}` is also a type in {}:{line}; qualify one of them", first.path);
    others.map(|(file, line)| file.finding(*line, text.as_str())).collect()
}

/// The name and line of the public type that is defined at this position.
fn public_type(level: &[Token], position: usize) -> Option<(&str, usize)> {
    let token = level.get(position).filter(|token| token.is_word("pub"))?;
    let keyword = level.get(position + 1)?.word()?;
    let name = level.get(position + 2)?.word()?;
    KEYWORDS.contains(&keyword).then_some((name, token.line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_second_public_type_of_one_name_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/a.rs", "pub struct Session;\npub struct Error;"),
            ("crates/b/src/b.rs", "pub struct Error;\npub enum Session {}"),
        ]);
        assert_eq!(places(&check(&tree)), [(2, "crates/b/src/b.rs")]);
    }

    #[test]
    fn private_types_and_two_configurations_are_free() {
        let tree = Tree::of(&[
            ("crates/a/src/a.rs", "#[cfg(unix)]\npub struct A;\n#[cfg(not(unix))]\npub struct A;"),
            ("crates/b/src/b.rs", "pub(crate) struct A;\nstruct A;\nimpl B { pub type A = u8; }"),
            ("crates/b/tests/c.rs", "pub struct A;"),
        ]);
        assert_eq!(check(&tree), []);
    }
}
