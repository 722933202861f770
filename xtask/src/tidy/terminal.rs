//! The command prints in one place, which takes only text that was cleaned for terminals. The libraries
//! run in its process too, so they print in a few known places, which clean what they print.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// The sources of the command, and those of them that print and ask.
const COMMAND: &str = "crates/cli/src/";
const PRINTERS: &[&str] = &["crates/cli/src/print", "crates/cli/src/terminal.rs"];

/// What reaches a terminal past them.
const WAYS: &[&str] =
    &["dialoguer", "indicatif", "anstream", "Term::", "stdout()", "stderr()", "print!", "println!"];

/// The sources of the libraries, and those of them that print: reasons of failures, and a page to open.
const LIBRARIES: &str = "crates/";
const LIBRARY_PRINTERS: &[&str] = &[
    "crates/auth/src/client/plan/browser.rs",
    "crates/auth/src/resource/failures.rs",
    "crates/server/src/http/reload.rs",
    "crates/store/src/outages.rs",
];

/// Finds what prints elsewhere.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources() {
        let is_one_of = |paths: &[&str]| paths.iter().any(|path| file.path.starts_with(path));
        if is_one_of(PRINTERS) || is_one_of(LIBRARY_PRINTERS) {
            continue;
        }
        match is_one_of(&[COMMAND]) {
            true => find(file, WAYS, &mut findings),
            false if is_one_of(&[LIBRARIES]) => find(file, &["print!", "println!"], &mut findings),
            false => {}
        }
    }
    findings
}

fn find(file: &File, ways: &[&str], findings: &mut Vec<Finding>) {
    for (index, line) in file.text.lines().enumerate() {
        let way = ways.iter().find(|way| line.contains(**way));
        let is_code = !line.trim_start().starts_with("//") && !file.is_test_line(index + 1);
        if let Some(way) = way.filter(|_| is_code) {
            let text = format!("`{way}` prints text that may be raw; `print` takes clean text");
            findings.push(file.finding(index + 1, text));
        }
    }
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
            ("tests/src/call.rs", raw),
        ]);
        assert_eq!(places(&check(&tree)), [(2, "crates/cli/src/call.rs")]);
    }

    #[test]
    fn a_terminal_of_the_console_crate_and_an_imported_stream_are_found() {
        let raw = "use std::io::{Write as _, stderr};\nfn f(name: &str) {\n    \
                   let _ = Term::stdout().write_line(name);\n    let _ = write!(stderr(), \"{name}\");\n}\n";
        let tree = Tree::of(&[("crates/cli/src/call.rs", raw)]);
        let path = "crates/cli/src/call.rs";
        assert_eq!(places(&check(&tree)), [(3, path), (4, path)]);
    }

    #[test]
    fn a_library_prints_only_where_it_is_known_to_clean() {
        let raw = "fn f(name: &str) {\n    eprintln!(\"{name}\");\n}\n";
        let tree =
            Tree::of(&[("crates/store/src/outages.rs", raw), ("crates/http/src/call.rs", raw)]);
        assert_eq!(places(&check(&tree)), [(2, "crates/http/src/call.rs")]);
    }
}
