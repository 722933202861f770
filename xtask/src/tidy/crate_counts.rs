//! How many crates a program gets with `bowline`, by the features that it chooses.
//!
//! A dependency is quickly added and hard to remove, and every one of them is built, reviewed and
//! trusted by all users. So the numbers may fall, and rise only with a reason. Above all, a server
//! without authorization has no TLS and no cryptography of it. Documents that state a number state
//! today's.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::command;
use crate::finding::Finding;
use crate::tree::Tree;

const MANIFEST: &str = "crates/bowline/Cargo.toml";

/// Features, the most crates that they may bring (ours included), and a crate that must not be
/// among them.
const ROWS: &[(&str, usize, Option<&str>)] = &[
    ("server,macros", 44, Some("ring")),
    ("http,macros", 56, Some("ring")),
    ("http,macros,auth-server", 87, None),
    ("http-client", 73, Some("bowline-auth")),
    ("auth-client", 74, None),
    ("server,macros,skills", 53, Some("bowline-auth")),
];

/// Features, and a sentence of a document about them. `N` stands for the number of crates.
const SENTENCES: &[(&str, &str, &str)] = &[
    ("server,macros", "README.md", "A stdio server with macros has N crates in all"),
    (
        "server,macros",
        "docs/design/0006-dependencies.md",
        "A stdio server with macros depends on N crates",
    ),
];

/// Finds features that bring more crates than their row allows, and documents with another number.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    ROWS.iter().flat_map(|row| check_row(tree, *row)).collect()
}

fn check_row(tree: &Tree, (features, most, never): (&str, usize, Option<&str>)) -> Vec<Finding> {
    let listing = match list(features) {
        Ok(listing) => listing,
        Err(error) => return vec![Finding::new(MANIFEST, 1, format!("{error:#}"))],
    };
    let mut all = findings(&listing, features, (most, never));
    all.extend(sentences(tree, features, crates(&listing).len()));
    all
}

/// The documents that do not state this number.
fn sentences(tree: &Tree, features: &str, count: usize) -> Vec<Finding> {
    let of_features = SENTENCES.iter().filter(|(named, ..)| *named == features);
    let expected =
        of_features.map(|(_, path, text)| (*path, text.replace('N', &count.to_string())));
    let is_absent =
        |(path, text): &(&str, String)| !tree.file(path).is_some_and(|it| it.text.contains(text));
    expected
        .filter(is_absent)
        .map(|(path, text)| Finding::new(path, 1, format!("it must say: {text}")))
        .collect()
}

/// The crates that a program with these features gets, one in each line, some of them repeatedly. The
/// platform is fixed, because some crates are for others only.
fn list(features: &str) -> Result<String> {
    let output = command::cargo()
        .args(["tree", "--package", "bowline", "--no-default-features", "--features", features])
        .args(["--edges", "normal", "--prefix", "none", "--target", "x86_64-unknown-linux-gnu"])
        .output()
        .context("cannot run `cargo tree`")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`cargo tree` failed: {}", complaint.trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// The crates of a listing, by name and version: two versions of a crate are two crates.
fn crates(listing: &str) -> BTreeSet<Vec<&str>> {
    listing.lines().map(|line| line.split(' ').take(2).collect()).collect()
}

fn findings(listing: &str, features: &str, (most, never): (usize, Option<&str>)) -> Vec<Finding> {
    let crates = crates(listing);
    let mut texts = Vec::new();
    if crates.len() > most {
        let (count, place) = (crates.len(), "xtask/src/tidy/crate_counts.rs");
        texts.push(format!("`{features}` brings {count} crates; {place} allows {most}"));
    }
    if let Some(name) = never.filter(|name| crates.iter().any(|it| it.first() == Some(name))) {
        texts.push(format!("`{features}` brings `{name}`, which it does not need"));
    }
    texts.into_iter().map(|text| Finding::new(MANIFEST, 1, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "bowline v0.1.0 (/src/bowline)\nring v0.17.1\nhttp v1.0.0\nhttp v0.2.0\n\
                           ring v0.17.1 (*)\n";

    fn texts(most: usize, never: Option<&str>) -> Vec<String> {
        findings(LISTING, "http", (most, never)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn one_crate_too_many_is_found_and_two_versions_are_two_crates() {
        assert_eq!(texts(4, None), [""; 0]);
        let expected = "crates/bowline/Cargo.toml:1: `http` brings 4 crates; \
                        xtask/src/tidy/crate_counts.rs allows 3";
        assert_eq!(texts(3, None), [expected]);
    }

    #[test]
    fn a_crate_that_must_not_be_there_is_found() {
        assert_eq!(texts(4, Some("bow")), [""; 0]);
        let expected = "crates/bowline/Cargo.toml:1: `http` brings `ring`, which it does not need";
        assert_eq!(texts(4, Some("ring")), [expected]);
    }

    #[test]
    fn a_document_with_another_number_is_found() {
        let tree = Tree::of(&[
            ("README.md", "A stdio server with macros has 43 crates in all."),
            ("docs/design/0006-dependencies.md", "A stdio server with macros depends on 40 crates"),
        ]);
        let texts: Vec<String> =
            sentences(&tree, "server,macros", 43).iter().map(Finding::to_string).collect();
        let expected = "docs/design/0006-dependencies.md:1: it must say: A stdio server with macros \
                        depends on 43 crates";
        assert_eq!(texts, [expected]);
        assert!(sentences(&tree, "http,macros", 43).is_empty());
    }
}
