//! Every cargo feature says what it is for, where a user of the crate looks.
//!
//! In each manifest of `crates/` a comment stands above the feature. The features of the facade
//! have a row in the tables of its front page and of the README as well: `` | `http` | … | ``.

use crate::finding::Finding;
use crate::markdown;
use crate::tree::{File, Tree};

const FACADE: &str = "crates/bowline/Cargo.toml";

/// The pages that list the features of the facade.
const TABLES: &[&str] = &["crates/bowline/src/lib.rs", "README.md"];

/// Finds features without a comment, and features of the facade without a row.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let is_manifest =
        |file: &&File| file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml");
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(is_manifest) {
        for feature in features(&file.text) {
            let name = &feature.name;
            if !feature.has_comment {
                let text = format!("feature `{name}` needs a comment above that says what it adds");
                findings.push(file.finding(feature.line, text));
            }
            if file.path == FACADE {
                let pages = TABLES.iter().filter_map(|path| tree.file(path));
                let missing = pages.filter(|page| !has_row(page, name));
                findings.extend(missing.map(|page| {
                    let text = format!("the table of features has no row for `{name}`; add it");
                    page.finding(1, text)
                }));
            }
        }
    }
    findings
}

struct Feature {
    name: String,
    line: usize,
    has_comment: bool,
}

/// The features of a manifest, but for `default`, which only names others.
fn features(manifest: &str) -> Vec<Feature> {
    let mut features = Vec::new();
    let (mut is_table, mut has_comment) = (false, false);
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            is_table = line.trim() == "[features]";
        }
        // An indented line goes on with the list of the feature above.
        let key = line.split_once('=').filter(|_| !line.starts_with([' ', '#', '[']));
        if let Some((name, _)) = key.filter(|_| is_table) {
            let name = name.trim().to_owned();
            features.push(Feature { name, line: index + 1, has_comment });
        }
        has_comment = line.starts_with('#');
    }
    features.retain(|feature| feature.name != "default");
    features
}

/// Whether a table in Markdown, or in the header of a Rust file, has a row for this feature.
fn has_row(page: &File, name: &str) -> bool {
    let lines = page.text.lines().map(|line| line.trim_start_matches("//!"));
    let mut rows = lines.filter_map(markdown::cells);
    let name = format!("`{name}`");
    rows.any(|cells| cells.first().is_some_and(|first| first.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_feature_without_comment_is_found() {
        let manifest = "[features]\ndefault = [\"a\"]\n# Adds b.\na = [\n    \"x=y\",\n]\nb = []\n\
                        [dependencies]\nserde.workspace = true\n";
        let tree = Tree::of(&[("crates/a/Cargo.toml", manifest)]);
        assert_eq!(places(&check(&tree)), [(7, "crates/a/Cargo.toml")]);
    }

    #[test]
    fn a_feature_of_the_facade_needs_a_row_on_every_front_page() {
        let manifest = "[features]\n# Serves.\nhttp = []\n";
        let with = "//! | feature | adds |\n//! | `http` | a server |\n";
        let tree = Tree::of(&[
            (FACADE, manifest),
            ("crates/bowline/src/lib.rs", with),
            ("README.md", "| `http2` | more |"),
        ]);
        assert_eq!(places(&check(&tree)), [(1, "README.md")]);
    }
}
