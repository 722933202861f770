//! Every source file of our crates opens with a sentence about its responsibility.

use crate::finding::Finding;
use crate::tree::Tree;

/// Finds source files, their tests included, that do not begin with `//!` and a sentence.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"))
        .filter(|file| !opens_with_sentence(&file.text))
        .map(|file| file.finding(1, "open the file with `//!` and what it is responsible for"))
        .collect()
}

fn opens_with_sentence(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//! ").is_some_and(|sentence| !sentence.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_source_without_header_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/good.rs", "//! Says what it is.\n"),
            ("crates/a/src/bad.rs", "use std::fmt;\n"),
            ("crates/a/src/empty.rs", "//!\n"),
            ("crates/a/tests/free.rs", "use std::fmt;\n"),
        ]);
        let expected = [(1, "crates/a/src/bad.rs"), (1, "crates/a/src/empty.rs")];
        assert_eq!(places(&check(&tree)), expected);
    }
}
