//! One file opens all listeners, so that every connection passes the same gate.

use crate::finding::Finding;
use crate::tokens;
use crate::tree::Tree;

/// Where else a listener may be opened, and why.
const EXCUSED: &[(&str, &str)] = &[
    (
        "crates/testing/src/oauth/loopback_listener.rs",
        "an authorization server for tests, on this machine only; it serves no MCP",
    ),
    (
        "crates/http/src/client/redirect.rs",
        "the answer of an authorization server, on this machine only; it checks path and Host",
    ),
    (
        "crates/testing/src/proxy.rs",
        "a proxy in front of databases of tests, on this machine only; it serves no MCP",
    ),
    (
        "crates/cli/src/observe/admin.rs",
        "metrics and health, on this machine only and if asked for; it checks Host, and serves no MCP",
    ),
];

/// Finds `TcpListener::bind` in a second file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut binds = Vec::new();
    let is_excused = |path: &str| EXCUSED.iter().any(|(excused, _why)| path == *excused);
    for file in tree.sources().filter(|file| !is_excused(&file.path)) {
        tokens::each_level(&file.tokens, &mut |level| {
            let lines = (0..level.len())
                .filter(|position| tokens::is_path(level, *position, &["TcpListener", "bind"]))
                .map(|position| level[position].line);
            binds.extend(lines.filter(|line| !file.is_test_line(*line)).map(|line| (file, line)));
        });
    }
    let Some((first, _)) = binds.first().copied() else {
        return Vec::new();
    };
    let others = binds.into_iter().filter(|(file, _)| file.path != first.path);
    let text = format!("a second file that listens; use what {} opens, it is gated", first.path);
    others.map(|(file, line)| file.finding(line, text.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const BIND: &str = "fn f() { tokio::net::TcpListener::bind(a); TcpListener::bind(b); }";

    #[test]
    fn one_file_may_listen() {
        let tree = Tree::of(&[("crates/a/src/a.rs", BIND), ("crates/a/tests/b.rs", BIND)]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_second_file_is_found() {
        let tree = Tree::of(&[("crates/a/src/a.rs", BIND), ("crates/b/src/b.rs", BIND)]);
        assert_eq!(places(&check(&tree)), [(1, "crates/b/src/b.rs"); 2]);
    }
}
