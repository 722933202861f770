//! Every dependency from outside says why it is there.
//!
//! Versions and reasons stand in one place, `[workspace.dependencies]`; a comment heads each
//! group of lines there. Other manifests only inherit.

use crate::finding::Finding;
use crate::tree::{File, Tree};

const ROOT: &str = "Cargo.toml";

/// Finds dependencies without a reason, and versions outside of the root manifest.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| file.path.ends_with(ROOT));
    manifests.flat_map(check_manifest).collect()
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
        let text = "[workspace.dependencies]\nours = { path = \"a\" }\n\n# Both for tests.\n\
                    anyhow = \"1\"\ntower = \"0.5\"\n\nserde = \"1\"\n[profile.dev]\ndebug = 1\n";
        assert_eq!(places(&check(&Tree::of(&[("Cargo.toml", text)]))), [(8, "Cargo.toml")]);
    }

    #[test]
    fn a_version_in_a_member_is_found() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nserde.workspace = true\n\
                    tokio = { workspace = true, features = [\"rt\"] }\nrand = \"0.9\"\n";
        let tree = Tree::of(&[("crates/a/Cargo.toml", text)]);
        assert_eq!(places(&check(&tree)), [(6, "crates/a/Cargo.toml")]);
    }
}
