//! `types`, `json-schema`, `proto` and the table of a gateway's lanes compute: they never wait, read a
//! clock, draw randomness or do I/O.
//!
//! So every rule can be tested with plain values and a time that the test chooses.
//! Which crates they use is the business of [`super::arrows`]; this is about the standard library.

use crate::finding::Finding;
use crate::tokens::{self, Token};
use crate::tree::{File, Tree};

const FOLDERS: &[&str] = &[
    "crates/types/src/",
    "crates/json-schema/src/",
    "crates/proto/src/",
    "crates/gateway/src/lanes/table",
];

/// Paths that reach outside of the program, and what to do instead.
const OUTSIDE: &[(&[&str], &str)] = &[
    (&["Instant", "now"], "take the time as a parameter"),
    (&["SystemTime", "now"], "take the time as a parameter"),
    (&["std", "fs"], "leave it to a crate above"),
    (&["std", "env"], "leave it to a crate above"),
    (&["std", "process"], "leave it to a crate above"),
    (&["std", "thread"], "leave it to a crate above"),
    (&["TcpStream"], "leave it to `transport`"),
    (&["getrandom"], "take the random bytes as a parameter"),
    (&["tokio"], "leave it to `transport`"),
    (&["await"], "return what is to be done next; the driver waits"),
];

/// Files that may, and why.
const EXCUSED: &[(&str, &str)] = &[(
    "crates/proto/src/request/outbox.rs",
    "a handler awaits room in the outbox; the driver that owns the other end wakes it",
)];

/// Finds waiting, clocks, randomness and I/O.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let core = tree.sources().filter(|file| FOLDERS.iter().any(|it| file.path.starts_with(it)));
    core.filter(|file| !is_excused(file)).flat_map(check_file).collect()
}

fn is_excused(file: &File) -> bool {
    EXCUSED.iter().any(|(path, _why)| file.path == *path)
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    tokens::each_level(&file.tokens, &mut |level| {
        for (position, token) in level.iter().enumerate() {
            if let Some((path, instead)) = outside(level, position)
                && !file.is_test_line(token.line)
            {
                let text = format!("`{}` in the sans-IO core; {instead}", path.join("::"));
                findings.push(file.finding(token.line, text));
            }
        }
    });
    findings
}

fn outside(level: &[Token], position: usize) -> Option<(&'static [&'static str], &'static str)> {
    OUTSIDE.iter().find(|(path, _)| tokens::is_path(level, position, path)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_clock_and_an_await_are_found_in_the_core() {
        let source = "use std::time::Instant;\nasync fn f() {\nInstant::now();\ng().await\n}\n\
                      #[cfg(test)]\nmod tests { fn f() { Instant::now(); } }";
        let tree = Tree::of(&[
            ("crates/proto/src/a.rs", source),
            ("crates/proto/src/request/outbox.rs", source),
            ("crates/transport/src/a.rs", source),
        ]);
        let expected = [(3, "crates/proto/src/a.rs"), (4, "crates/proto/src/a.rs")];
        assert_eq!(places(&check(&tree)), expected);
    }
}
