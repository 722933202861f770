//! Runs the benchmark. It is a workspace of its own, so that no other command builds rmcp.

use anyhow::Result;

use crate::command::{cargo, run as start};

const BENCH: &[&str] =
    &["run", "--release", "--manifest-path", "bench/Cargo.toml", "--package", "bench", "--"];

/// Runs `cargo xtask bench`, and passes its options on.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    start(cargo().args(BENCH).args(options))
}
