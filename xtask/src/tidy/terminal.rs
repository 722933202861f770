//! The command prints in one place, which takes only text that was cleaned for terminals.

use crate::finding::Finding;
use crate::tree::Tree;

/// The sources of the command, and those of them that print and ask.
const COMMAND: &str = "crates/cli/src/";
const PRINTERS: &[&str] = &["crates/cli/src/print", "crates/cli/src/terminal.rs"];

/// What reaches a terminal past them.
const WAYS: &[&str] =
    &["dialoguer", "indicatif", "anstream", "io::stdout", "io::stderr", "print!", "println!"];

/// Finds what prints elsewhere in the command.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_printer = |path: &str| PRINTERS.iter().any(|printer| path.starts_with(printer));
    let sources = tree.sources().filter(|file| file.path.starts_with(COMMAND));
    let mut findings = Vec::new();
    for file in sources.filter(|file| !is_printer(&file.path)) {
        for (index, line) in file.text.lines().enumerate() {
            let way = WAYS.iter().find(|way| line.contains(**way));
            let is_code = !line.trim_start().starts_with("//") && !file.is_test_line(index + 1);
            if let Some(way) = way.filter(|_| is_code) {
                let text = format!("`{way}` prints text that may be raw; `print` takes clean text");
                findings.push(file.finding(index + 1, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn text_that_is_printed_past_the_cleaning_is_found() {
        let raw = "fn f(name: &str) {\n    eprintln!(\"{name}\");\n}\n";
        let tree = Tree::of(&[
            ("crates/cli/src/print.rs", raw),
            ("crates/cli/src/call.rs", raw),
            ("crates/cli/tests/call.rs", raw),
            ("crates/check/src/call.rs", raw),
        ]);
        assert_eq!(places(&check(&tree)), [(2, "crates/cli/src/call.rs")]);
    }
}
