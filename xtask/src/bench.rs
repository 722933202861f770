//! Runs the benchmarks. They are a workspace of their own, so that no other command builds rmcp.

use anyhow::Result;

use crate::command::{cargo, run as start};

/// Runs `cargo xtask bench`, and passes its options on.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    start_package("bench", options)
}

/// Runs `cargo xtask beside`, and passes its options on.
pub(crate) fn beside(options: &[&str]) -> Result<()> {
    start_package("bench-beside", options)
}

fn start_package(package: &str, options: &[&str]) -> Result<()> {
    let run =
        ["run", "--release", "--manifest-path", "bench/Cargo.toml", "--package", package, "--"];
    start(cargo().args(run).args(options))
}
