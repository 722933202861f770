//! Bowline at work: builds the command, and calls its built-in server with it, also through a bridge.

use std::env::{join_paths, split_paths, var_os};
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::command::{cargo, program, run as start};
use crate::tree::root;

/// What is typed, each after a line that says why.
const TYPED: &[(&str, &str)] = &[
    ("What a server offers. This one is built in.", "bowline list -- bowline demo --stdio"),
    ("A tool is called.", "bowline call add a=40 b=2 -- bowline demo --stdio"),
    (
        "A client of 2025, a server of 2026: alone they cannot talk. `connect` stands between them.",
        "bowline call add a=40 b=2 --revision 2025-11-25 -- \
         bowline connect --revision 2026-07-28 -- bowline demo --stdio",
    ),
    (
        "The other way round.",
        "bowline call echo message=ahoy --revision 2026-07-28 -- \
         bowline connect --revision 2025-11-25 -- bowline demo --stdio",
    ),
    (
        "Whether the server keeps the rules of the protocol.",
        "bowline check -- bowline demo --stdio",
    ),
];

/// Runs `cargo xtask demo`.
pub(crate) fn run() -> Result<()> {
    start(cargo().args(["build", "--package", "bowline-cli"]))?;
    let target = var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join("debug");
    let path = var_os("PATH").unwrap_or_default();
    let path = join_paths([folder.clone()].into_iter().chain(split_paths(&path)))
        .context("the folder of the build cannot stand in PATH")?;
    for (why, line) in TYPED {
        println!("\n{why}\n$ {line}");
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let bowline = folder.join(name);
        start(program(&bowline.to_string_lossy()).args(words).env("PATH", &path))?;
    }
    println!("\nThe command is {}; `bowline demo` is next.", folder.join("bowline").display());
    Ok(())
}
