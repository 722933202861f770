//! Files of at most 800 lines, functions of at most 60.
//!
//! The targets are 400 and 40. What makes a codebase hard to read is the tail, the few places where
//! everything happens; so the tail is capped, and the rest is shown as figures. The sessions of
//! HTTP were such a place, so their files have a lower cap.

use std::collections::BTreeMap;
use std::fmt;

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Token};
use crate::tree::{File, Tree};

const FILE_CAP: usize = 800;
const FILE_TARGET: usize = 400;
const FUNCTION_CAP: usize = 60;
const FUNCTION_TARGET: usize = 40;
const SESSION_CAP: usize = 300;

/// The files of sessions over HTTP; their tests are free.
const SESSIONS: &str = "crates/http/src/server/legacy";

/// Finds files above their cap.
pub(super) fn files(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter_map(|file| oversized(file, FILE_CAP)).collect()
}

/// Finds files of sessions above their cap.
pub(super) fn session_files(tree: &Tree) -> Vec<Finding> {
    let files = tree.sources().filter(|file| file.path.starts_with(SESSIONS));
    files.filter_map(|file| oversized(file, SESSION_CAP)).collect()
}

/// Finds functions above their cap.
pub(super) fn long_functions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        for Function { name, line, lines } in functions(file) {
            if lines > FUNCTION_CAP {
                let text = format!(
                    "function `{name}` has {lines} lines, the cap is {FUNCTION_CAP}; \
                     name its steps as functions"
                );
                findings.push(file.finding(line, text));
            }
        }
    }
    findings
}

/// How large files and functions are.
pub(super) fn summary(tree: &Tree) -> String {
    let files: Vec<_> = tree.rust().map(|file| (lines(file), file.path.clone())).collect();
    let functions = tree.rust().flat_map(|file| {
        let place =
            |function: Function| (function.lines, format!("{}:{}", file.path, function.line));
        functions(file).into_iter().map(place)
    });
    format!(
        "files: {}; target {FILE_TARGET}, cap {FILE_CAP}\nfunctions: {}; target {FUNCTION_TARGET}, cap {FUNCTION_CAP}\ndocs: {}",
        Spread::of(files),
        Spread::of(functions.collect()),
        docs(tree),
    )
}

/// The share of doc lines in the sources of each crate, tests and blank lines left out.
fn docs(tree: &Tree) -> String {
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in tree.sources() {
        let lines = file.text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        let shipped = lines.filter(|(line, text)| !text.is_empty() && !file.is_test_line(*line));
        for (_, text) in shipped {
            let is_doc = text.starts_with("///") || text.starts_with("//!");
            for name in [file.path.split('/').nth(1).unwrap_or_default(), "all"] {
                let (docs, lines) = crates.entry(name).or_default();
                *docs += usize::from(is_doc);
                *lines += 1;
            }
        }
    }
    let share = |(name, (docs, lines)): (&str, (usize, usize))| {
        format!("{name} {} %", (docs * 100).checked_div(lines).unwrap_or_default())
    };
    crates.into_iter().map(share).collect::<Vec<_>>().join(", ")
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

fn oversized(file: &File, cap: usize) -> Option<Finding> {
    let length = lines(file);
    let text = format!("{length} lines, the cap is {cap}; cut the file by responsibility");
    (length > cap).then(|| file.finding(1, text))
}

fn lines(file: &File) -> usize {
    file.text.lines().count()
}

/// The functions with a body, from `fn` to the closing bracket.
fn functions(file: &File) -> Vec<Function> {
    let mut functions = Vec::new();
    tokens::each_level(&file.tokens, &mut |level| {
        for (position, token) in level.iter().enumerate() {
            let Some(name) = level.get(position + 1).and_then(Token::word) else {
                continue;
            };
            if !token.is_word("fn") {
                continue;
            }
            let end = level[position..]
                .iter()
                .find(|token| token.is_mark(";") || token.group(Bracket::Curly).is_some());
            if let Some(body) = end.filter(|end| !end.is_mark(";")) {
                let lines = body.last_line() - token.line + 1;
                functions.push(Function { name: name.to_owned(), line: token.line, lines });
            }
        }
    });
    functions
}

/// How a set of lengths is spread, and where the longest is.
struct Spread {
    sorted: Vec<(usize, String)>,
}

impl Spread {
    fn of(mut lengths: Vec<(usize, String)>) -> Self {
        lengths.sort();
        Self { sorted: lengths }
    }

    /// The smallest length that this share of all does not exceed, in hundredths.
    fn percentile(&self, percent: usize) -> usize {
        let rank = (self.sorted.len() * percent).div_ceil(100).max(1);
        self.sorted.get(rank - 1).map_or(0, |(length, _)| *length)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, p95, p99] = [50, 95, 99].map(|percent| self.percentile(percent));
        write!(f, "{}, median {median}, p95 {p95}, p99 {p99}", self.sorted.len())?;
        match self.sorted.last() {
            Some((length, place)) => write!(f, ", longest {length} lines ({place})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_file_above_the_cap_is_found() {
        let (long, fine) = ("//! A.\n".repeat(801), "//! A.\n".repeat(800));
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", &fine), ("c.md", &long)]);
        assert_eq!(places(&files(&tree)), [(1, "a.rs")]);
    }

    #[test]
    fn a_file_of_sessions_has_a_lower_cap() {
        let long = "//! A.\n".repeat(301);
        let paths = ["legacy.rs", "legacy/session.rs", "legacy/session/tests.rs", "modern.rs"];
        let paths = paths.map(|name| format!("crates/http/src/server/{name}"));
        let tree = Tree::of(&paths.each_ref().map(|path| (path.as_str(), long.as_str())));
        assert_eq!(places(&session_files(&tree)), [(1, &*paths[0]), (1, &*paths[1])]);
    }

    #[test]
    fn a_function_above_the_cap_is_found_at_its_first_line() {
        let body = "    call();\n".repeat(59);
        let source = format!("struct A;\nimpl A {{\nfn long() {{\n{body}}}\nfn short() {{}}\n}}\n");
        assert_eq!(places(&long_functions(&Tree::of(&[("a.rs", &source)]))), [(3, "a.rs")]);
        let fine = source.replacen("    call();\n", "", 1);
        assert_eq!(long_functions(&Tree::of(&[("a.rs", &fine)])), []);
    }

    #[test]
    fn declarations_and_pointers_are_no_functions() {
        let tree = Tree::of(&[("a.rs", "trait A { fn f(&self); }\ntype B = fn(u8) -> u8;\n")]);
        assert!(functions(&tree.files[0]).is_empty());
    }

    #[test]
    fn the_summary_names_the_longest() {
        let tree = Tree::of(&[("crates/a/src/a.rs", "/// A.\nfn g() {\n    f();\n}\n")]);
        let expected = "files: 1, median 4, p95 4, p99 4, longest 4 lines (crates/a/src/a.rs); \
                        target 400, cap 800\nfunctions: 1, median 3, p95 3, p99 3, longest 3 \
                        lines (crates/a/src/a.rs:2); target 40, cap 60\ndocs: a 25 %, all 25 %";
        assert_eq!(summary(&tree), expected);
    }
}
