//! Every dependency from outside says why it is there, and every crate has the lints of all.
//!
//! Versions and reasons stand in one place, `[workspace.dependencies]`; a comment heads each
//! group of lines there. Other manifests inherit them, and with `[lints] workspace = true` the
//! lints, of which one forbids `unsafe`.

use crate::finding::Finding;
use crate::tree::{File, Tree};

const ROOT: &str = "Cargo.toml";

const LINTS: &str = "[lints]\nworkspace = true\n";
const FORBIDS_UNSAFE: &str = "unsafe_code = \"forbid\"";

/// Finds dependencies without a reason, versions outside of the root manifest, missing lints.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| file.path.ends_with(ROOT));
    manifests.flat_map(|file| check_manifest(file).into_iter().chain(lints(file))).collect()
}

/// What is wrong if a manifest leaves out the lints.
fn lints(file: &File) -> Option<Finding> {
    let is_other_workspace = file.path != ROOT && file.text.contains("\n[workspace]");
    let (wanted, text) = if file.path == ROOT {
        (FORBIDS_UNSAFE, "forbid `unsafe` in [workspace.lints.rust]: `unsafe_code = \"forbid\"`")
    } else {
        (LINTS, "inherit the lints: `[lints]`, `workspace = true`")
    };
    (!is_other_workspace && !file.text.contains(wanted)).then(|| file.finding(1, text))
}

fn check_manifest(file: &File) -> Vec<Finding> {
    // A manifest outside of our workspace has nothing to inherit from.
    let is_root = file.path == ROOT || file.text.lines().any(|line| line == "[workspace]");
    let mut table = String::new();
    let mut has_reason = false;
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().map(str::trim).enumerate() {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end_matches(']').to_owned();
            has_reason = false;
        } else if line.is_empty() {
            has_reason = false;
        } else if line.starts_with('#') {
            has_reason = true;
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim();
            let is_dependency = table.ends_with("dependencies") && !value.contains("path =");
            if is_root && is_dependency && !has_reason {
                let text = format!("`{key}` needs a comment above that says what it is for");
                findings.push(file.finding(index + 1, text));
            }
            let inherits = key.ends_with(".workspace") || value.contains("workspace = true");
            if !is_root && is_dependency && !inherits {
                let text = format!("`{key}` belongs in [workspace.dependencies], with a reason");
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
    fn a_dependency_without_reason_is_found() {
        let text = "[workspace]\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n\
                    [workspace.dependencies]\nours = { path = \"a\" }\n\n# Both for tests.\n\
                    anyhow = \"1\"\ntower = \"0.5\"\n\nserde = \"1\"\n[profile.dev]\ndebug = 1\n";
        assert_eq!(places(&check(&Tree::of(&[("Cargo.toml", text)]))), [(11, "Cargo.toml")]);
    }

    #[test]
    fn a_version_in_a_member_is_found() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nserde.workspace = true\n\
                    tokio = { workspace = true, features = [\"rt\"] }\nrand = \"0.9\"\n\n[lints]\nworkspace = true\n";
        let tree = Tree::of(&[("crates/a/Cargo.toml", text)]);
        assert_eq!(places(&check(&tree)), [(6, "crates/a/Cargo.toml")]);
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace]\nresolver = \"3\"\n"),
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n\n[lints]\nworkspace = true\n"),
        ]);
        assert_eq!(places(&check(&tree)), [(1, "Cargo.toml"), (1, "crates/a/Cargo.toml")]);
    }
}
