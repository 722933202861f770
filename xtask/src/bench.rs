//! The benchmark, a workspace of its own, so that nobody else builds what we are measured against.

use anyhow::Result;

use crate::command::{cargo, run as start};

const BENCH: &[&str] =
    &["run", "--release", "--manifest-path", "bench/Cargo.toml", "--package", "bench", "--"];

/// Runs `cargo xtask bench`, with its options handed on.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    start(cargo().args(BENCH).args(options))
}
