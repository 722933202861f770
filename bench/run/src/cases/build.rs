//! The build of an echo server: time, crates, size of the binary.

use std::collections::HashSet;
use std::fs;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::case::{Case, Figure, Repeats, Role, Subject};
use crate::programs::{Bench, cargo};

pub(super) fn cases() -> Vec<Case> {
    let packages = [
        (Role::Ceiling, ["bench-ceiling", "ceiling"]),
        (Role::Bowline, ["bench-bowline", "echo"]),
        (Role::RmcpBest, ["bench-rmcp", "rmcp-best"]),
    ];
    let subject = |(role, words): (Role, [&str; 2])| Subject {
        role,
        command: words.map(str::to_owned).into(),
    };
    vec![Case {
        name: "build".to_owned(),
        measures: "a clean release build on all cores; its crates; the stripped binary".to_owned(),
        figures: vec![
            Figure::lower("seconds"),
            Figure::lower("crates"),
            Figure::lower("MB binary"),
        ],
        subjects: packages.map(subject).into(),
        repeats: Repeats::Once,
        round: Box::new(build),
    }]
}

fn build(bench: &Bench, subject: &Subject) -> Result<Vec<f64>> {
    let [package, binary] = &subject.command[..] else { anyhow::bail!("a package and a binary") };
    let target = bench.scratch(&format!("target-{package}"));
    let mut command = cargo();
    command.args(["build", "--release", "--quiet", "--package", package, "--bin", binary]);
    let begin = Instant::now();
    let status = command.env("CARGO_TARGET_DIR", &target).status()?;
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(status.success(), "cannot build {package}");
    let size = fs::metadata(target.join("release").join(binary))?.len() as f64 / 1e6;
    fs::remove_dir_all(&target).context("cannot remove what was built")?;
    Ok(vec![seconds, crates(package)? as f64, size])
}

/// How many crates a package is built from, itself included.
fn crates(package: &str) -> Result<usize> {
    let arguments = ["tree", "--package", package, "--edges", "normal,build", "--prefix", "none"];
    let output = cargo().args(arguments).output()?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let names = text.lines().map(|line| line.trim_end_matches(" (*)"));
    Ok(names.filter(|name| !name.is_empty()).collect::<HashSet<_>>().len())
}
