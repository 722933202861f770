//! No file depends on one machine: no home directories, no package mirrors.

use crate::finding::Finding;
use crate::tree::Tree;

// Written in pieces, so that this file passes its own check.
const FOLDERS: &[&str] = &["work", "root", "home"];
const HOSTS: &[[&str; 2]] = &[
    ["registry", "npmjs"],
    ["registry", "yarnpkg"],
    ["pypi", "org"],
    ["files", "pythonhosted"],
    ["index", "crates.io"],
    ["static", "crates.io"],
];

/// User names of examples; those of the specification use `user`.
const EXAMPLE_USERS: &[&str] = &["user", "me"];

/// Finds paths and hosts of the machine that a file was written on.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let folders = FOLDERS.iter().map(|name| format!("/{name}/"));
    let hosts = HOSTS.iter().map(|parts| parts.join("."));
    let words: Vec<String> = folders.chain(hosts).collect();
    let mut findings = Vec::new();
    for file in &tree.files {
        for (index, line) in file.text.lines().enumerate() {
            let found = words.iter().filter(|word| holds(line, word));
            findings.extend(found.map(|word| {
                let text = format!("`{word}` is a place on one machine; leave it out");
                file.finding(index + 1, text)
            }));
        }
    }
    findings
}

/// Whether the word begins somewhere in the line, and is neither the middle of a longer one nor
/// part of an example.
fn holds(line: &str, word: &str) -> bool {
    let mut places = line.match_indices(word).map(|(at, _)| line.split_at(at));
    places.any(|(before, rest)| {
        let after = rest.strip_prefix(word).unwrap_or_default();
        let next = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        !EXAMPLE_USERS.contains(&next)
            && !before.ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_place_on_one_machine_is_found() {
        for text in [
            format!("see /{}/bowline", "work"),
            format!("file:///{}/anna/.cargo", "home"),
            format!("\"resolved\": \"https://{}.npmjs.org/a\"", "registry"),
            format!("index-url = https://{}.org/simple", "pypi"),
        ] {
            let tree = Tree::of(&[("a.txt", &format!("fine\n{text}\n"))]);
            assert_eq!(places(&check(&tree)), [(2, "a.txt")], "{text}");
        }
    }

    #[test]
    fn the_middle_of_a_longer_path_is_free() {
        let text = format!("https://example.com/{}/page, src/{}/lib.rs", "home", "work");
        assert_eq!(check(&Tree::of(&[("a.txt", &text)])), []);
    }

    #[test]
    fn an_example_is_free() {
        let text = format!("file:///{}/user/project, /{0}/me", "home");
        assert_eq!(check(&Tree::of(&[("a.txt", &text)])), []);
    }
}
