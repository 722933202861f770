//! Files of at most 800 lines, functions of at most 60.
//!
//! The targets are 400 and 40. What makes a codebase hard to read is the tail, the few places where
//! everything happens; so the tail is capped, and `cargo xtask size` shows the rest. The sessions of
//! HTTP were such a place, so their files have a lower cap.

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Token};
use crate::tree::{File, Tree};

const FILE_CAP: usize = 800;
const FUNCTION_CAP: usize = 60;
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
        for Function { name, line, lines, .. } in functions(file) {
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

/// A function with a body.
pub(crate) struct Function {
    name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
    /// How many parameters it has besides `self`.
    pub(crate) parameters: usize,
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
pub(crate) fn functions(file: &File) -> Vec<Function> {
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
                let parameters = parameters(&level[position..]);
                let (name, line) = (name.to_owned(), token.line);
                functions.push(Function { name, line, lines, parameters });
            }
        }
    });
    functions
}

/// How many parameters follow the name of a function: each has one `:` between its name and type.
fn parameters(function: &[Token]) -> usize {
    let list = function.iter().find_map(|token| token.group(Bracket::Round));
    list.unwrap_or_default().iter().filter(|token| token.is_mark(":")).count()
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
    fn parameters_are_counted_without_self() {
        let tree = Tree::of(&[(
            "a.rs",
            "fn f<T: Copy>(&self, a: T, b: BTreeMap<u8, a::B>, c: impl Fn(u8, u8)) -> u8 { 1 }",
        )]);
        let counts: Vec<usize> =
            functions(&tree.files[0]).iter().map(|function| function.parameters).collect();
        assert_eq!(counts, [3]);
    }

    #[test]
    fn declarations_and_pointers_are_no_functions() {
        let tree = Tree::of(&[("a.rs", "trait A { fn f(&self); }\ntype B = fn(u8) -> u8;\n")]);
        assert!(functions(&tree.files[0]).is_empty());
    }
}
