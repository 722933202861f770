//! Three replicas behind nginx, with one Redis: builds the programs and becomes the one that starts
//! all of it, `tests/src/bin/three_replicas.rs`.

use std::env::var_os;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;

use anyhow::{Error, Result};

use crate::command::{cargo, program, run as start};
use crate::tree::root;

/// Runs `cargo xtask replicas`. Returns only if that fails.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let build = ["build", "--package", "bowline-tests", "--bin", "replicas"];
    start(cargo().args(build).args(["--bin", "three_replicas"]))?;
    let target = var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let launcher = target.join("debug/three_replicas");
    // In place of this program, so that Ctrl-C has only one to end.
    let error = program(&launcher.to_string_lossy()).args(options).exec();
    Err(Error::new(error).context(format!("cannot start {}", launcher.display())))
}
