//! The programs under test, built one package at a time, so that none has the features of another.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::options::Options;

const PACKAGES: &[&str] = &[
    "bench-load",
    "bench-ceiling",
    "bench-bowline",
    "bench-bowline-more",
    "bench-rmcp",
    "bench-rmcp-more",
];

/// Everything that a case needs to run.
pub(crate) struct Bench {
    pub(crate) options: Options,
    binaries: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    /// Builds all programs, unless the options skip the build.
    pub(crate) fn build(options: Options) -> Result<Self> {
        let binaries = workspace().join("target/release");
        let packages = if options.built { &[] } else { PACKAGES };
        for package in packages {
            let status = cargo().args(["build", "--release", "--package", package]).status()?;
            ensure!(status.success(), "cannot build {package}");
        }
        let scratch = std::env::temp_dir().join(format!("bowline-bench-{}", std::process::id()));
        fs::create_dir_all(&scratch).context("cannot make a directory for logs")?;
        Ok(Self { options, binaries, scratch })
    }

    /// The path of a program.
    pub(crate) fn binary(&self, name: &str) -> String {
        self.binaries.join(name).to_string_lossy().into_owned()
    }

    /// A file that is removed when the benchmark ends.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// A script that moves to the server's core and then becomes this program, for clients that
    /// start their server themselves.
    pub(crate) fn on_core_of_server(&self, name: &str) -> Result<String> {
        let path = self.scratch(&format!("pinned-{name}"));
        let script = format!("#!/bin/sh\nexec taskset -c 0 '{}' \"$@\"\n", self.binary(name));
        fs::write(&path, script)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path.to_string_lossy().into_owned())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // A file that cannot be removed is small.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// The cargo that started this program, in the workspace of the benchmark.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace());
    cargo
}

/// The directory `bench`.
pub(crate) fn workspace() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
