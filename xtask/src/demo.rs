//! Bowline at work: the tour example starts the echo server and calls it.

use anyhow::Result;

use crate::command::{cargo, run as start};

const ECHO: &[&str] = &["build", "--package", "bowline-examples", "--example", "echo"];
const TOUR: &[&str] = &["run", "--package", "bowline-examples", "--example", "tour"];

/// Runs `cargo xtask demo`.
pub(crate) fn run() -> Result<()> {
    start(cargo().args(ECHO))?;
    start(cargo().args(TOUR))
}
