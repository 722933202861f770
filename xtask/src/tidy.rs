//! Rules that the compiler and clippy do not know.
//!
//! Each check takes the [`Tree`] and gives findings; the rules, and why they exist, are at the
//! top of each file. `cargo test` runs all of them on the real tree, so `tidy` cannot be
//! forgotten.

mod arrows;
mod eras;
mod headers;
mod leftovers;
mod listeners;
mod manifests;
mod places;
mod sizes;
mod transcripts;
mod wire;

use anyhow::Result;

use crate::finding::{Finding, report};
use crate::tree::Tree;

/// Checks the repository, and prints how large its files and functions are.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::load()?;
    println!("{}", sizes::summary(&tree));
    report(&findings(&tree)?)
}

fn findings(tree: &Tree) -> Result<Vec<Finding>> {
    let checks = [
        sizes::check,
        headers::check,
        eras::check,
        wire::check,
        listeners::check,
        transcripts::check,
        places::check,
        leftovers::check,
        manifests::check,
    ];
    let mut findings: Vec<Finding> = checks.iter().flat_map(|check| check(tree)).collect();
    findings.extend(arrows::check(&arrows::metadata()?)?);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = findings(&Tree::load().unwrap()).unwrap();
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
    }
}
