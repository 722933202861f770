//! Checks before a release, beside the tests.
//!
//! These tools need the network and time, so they are not part of every run.

use std::process::Stdio;

use anyhow::{Result, bail};

use crate::command::{cargo, run as start};

/// A cargo subcommand, its arguments, and the package to install it from.
const CHECKS: &[(&str, &[&str], &str)] = &[
    ("deny", &["check"], "cargo-deny"),
    ("audit", &[], "cargo-audit"),
    ("semver-checks", &["--workspace"], "cargo-semver-checks"),
];

/// Runs `cargo xtask release-check`: runs the installed tools and names the missing ones.
pub(crate) fn run() -> Result<()> {
    let mut missing = Vec::new();
    for (subcommand, arguments, package) in CHECKS {
        if is_installed(subcommand) {
            println!("==> cargo {subcommand}");
            start(cargo().arg(subcommand).args(*arguments))?;
        } else {
            println!("==> cargo {subcommand} is missing: cargo install --locked {package}");
            missing.push(*package);
        }
    }
    match missing[..] {
        [] => Ok(()),
        _ => bail!("{} did not run; a release needs them", missing.join(", ")),
    }
}

fn is_installed(subcommand: &str) -> bool {
    let mut command = cargo();
    command.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
