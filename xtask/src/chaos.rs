//! `cargo xtask chaos`: builds the programs of `chaos` and runs them.

use anyhow::Result;

use crate::command::{cargo, run as start};

/// The optimized build that takes least time: hundreds of clients need more than a debug build has.
const PROFILE: &[&str] = &["--profile", "budget", "--package", "bowline-chaos"];

/// Runs `cargo xtask chaos`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    start(cargo().arg("build").args(PROFILE).arg("--bins"))?;
    start(
        cargo().args(["run", "--quiet"]).args(PROFILE).args(["--bin", "chaos", "--"]).args(options),
    )
}
