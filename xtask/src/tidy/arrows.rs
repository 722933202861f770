//! Which of our crates may use which.
//!
//! A crate uses only what its row names. Tests, examples and tools are free, and so are
//! dev-dependencies, but for those of the core: their tests must run without anything above.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::command;
use crate::finding::Finding;
use crate::tree::{Tree, root};

/// A crate, those of our crates that it may use, and whether that limits its dev-dependencies too.
struct Row {
    name: &'static str,
    uses: &'static [&'static str],
    strict: bool,
}

const ROWS: &[Row] = &[
    Row { name: "types", uses: &[], strict: true },
    Row { name: "json-schema", uses: &[], strict: true },
    Row { name: "proto", uses: &["types"], strict: true },
    Row { name: "transport", uses: &["proto", "types"], strict: false },
    Row { name: "store", uses: &[], strict: true },
    Row { name: "store-sqlite", uses: &["store"], strict: false },
    Row { name: "store-redis", uses: &["store"], strict: false },
    Row { name: "auth", uses: &["proto", "types"], strict: true },
    Row { name: "skills", uses: &["types"], strict: true },
    Row { name: "http-front", uses: &[], strict: true },
    Row {
        name: "http",
        uses: &["auth", "http-front", "proto", "store", "transport", "types"],
        strict: false,
    },
    Row {
        name: "server",
        uses: &["auth", "http", "json-schema", "proto", "skills", "transport", "types", "store"],
        strict: false,
    },
    Row {
        name: "client",
        uses: &["auth", "http", "json-schema", "proto", "skills", "transport", "types"],
        strict: false,
    },
    Row {
        name: "gateway",
        uses: &["auth", "client", "http", "proto", "server", "transport", "types"],
        strict: false,
    },
    Row { name: "otel", uses: &["http", "proto", "store", "transport", "types"], strict: false },
    Row { name: "macros", uses: &[], strict: false },
    Row {
        name: "bowline",
        uses: &[
            "auth",
            "types",
            "proto",
            "transport",
            "store",
            "store-sqlite",
            "store-redis",
            "skills",
            "http",
            "server",
            "client",
            "otel",
            "macros",
        ],
        strict: false,
    },
    Row {
        name: "cli",
        uses: &["auth", "bowline", "check", "gateway", "http", "ops", "transport", "types"],
        strict: false,
    },
    Row { name: "ops", uses: &["gateway", "json-schema", "types"], strict: false },
    Row {
        name: "check",
        uses: &["http", "json-schema", "proto", "transport", "types"],
        strict: false,
    },
    Row {
        name: "testing",
        uses: &["auth", "bowline", "http", "proto", "store", "transport", "types"],
        strict: false,
    },
];

/// Finds arrows that no row allows.
pub(super) fn check(_tree: &Tree) -> Vec<Finding> {
    let findings = metadata().and_then(|metadata| check_metadata(&metadata));
    findings.unwrap_or_else(|error| vec![Finding::new("Cargo.toml", 1, format!("{error:#}"))])
}

fn check_metadata(metadata: &str) -> Result<Vec<Finding>> {
    let metadata: Value =
        serde_json::from_str(metadata).context("`cargo metadata` gave no JSON")?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` gave no packages")?;
    Ok(packages.iter().flat_map(check_package).collect())
}

/// The output of `cargo metadata`, as JSON.
fn metadata() -> Result<String> {
    let output = command::cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("cannot run `cargo metadata`")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`cargo metadata` failed: {}", complaint.trim());
    Ok(String::from_utf8(output.stdout)?)
}

fn check_package(package: &Value) -> Vec<Finding> {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let root = root();
    let manifest = manifest.strip_prefix(&*root.to_string_lossy()).unwrap_or(manifest);
    let manifest = manifest.trim_start_matches('/');
    if !manifest.starts_with("crates/") {
        return Vec::new();
    }
    let name = short(package["name"].as_str().unwrap_or_default());
    let Some(row) = ROWS.iter().find(|row| row.name == name) else {
        let text = format!("`{name}` has no row; say in xtask/src/tidy/arrows.rs what it may use");
        return vec![Finding::new(manifest, 1, text)];
    };
    let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let ours = dependencies.iter().filter(|dependency| dependency["path"].is_string());
    ours.filter(|dependency| row.strict || dependency["kind"] != "dev")
        .map(|dependency| short(dependency["name"].as_str().unwrap_or_default()))
        .filter(|used| !row.uses.contains(used))
        .map(|used| {
            let text = format!("`{name}` must not use `{used}`; move the code below both of them");
            Finding::new(manifest, 1, text)
        })
        .collect()
}

/// The name of the folder: packages are called `bowline-…`, the facade just `bowline`.
fn short(package: &str) -> &str {
    package.strip_prefix("bowline-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(manifest: &str, name: &str, dependencies: &str) -> Vec<String> {
        let metadata = format!(
            r#"{{"packages":[{{"name":"{name}","manifest_path":"{manifest}",
            "dependencies":[{dependencies}]}}]}}"#
        );
        check_metadata(&metadata).unwrap().iter().map(Finding::to_string).collect()
    }

    const TYPES: &str = r#"{"name":"bowline-types","kind":null,"path":"x"}"#;
    const SERVER: &str = r#"{"name":"bowline-server","kind":null,"path":"x"}"#;
    const DEV_SERVER: &str = r#"{"name":"bowline-server","kind":"dev","path":"x"}"#;
    const SERDE: &str = r#"{"name":"serde","kind":null}"#;

    #[test]
    fn an_allowed_arrow_passes() {
        let allowed = format!("{TYPES},{SERDE}");
        assert_eq!(findings("crates/proto/Cargo.toml", "bowline-proto", &allowed), [""; 0]);
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        let expected = "crates/proto/Cargo.toml:1: `proto` must not use `server`; move the code \
                        below both of them";
        assert_eq!(findings("crates/proto/Cargo.toml", "bowline-proto", SERVER), [expected]);
    }

    #[test]
    fn an_arrow_between_neighbours_is_found() {
        assert_eq!(findings("crates/client/Cargo.toml", "bowline-client", SERVER).len(), 1);
    }

    #[test]
    fn tests_may_use_more_but_not_those_of_the_core() {
        assert_eq!(findings("crates/client/Cargo.toml", "bowline-client", DEV_SERVER), [""; 0]);
        assert_eq!(findings("crates/proto/Cargo.toml", "bowline-proto", DEV_SERVER).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(findings("crates/novel/Cargo.toml", "bowline-novel", "").len(), 1);
    }

    #[test]
    fn examples_are_free() {
        assert_eq!(findings("examples/Cargo.toml", "bowline-examples", SERVER), [""; 0]);
    }
}
