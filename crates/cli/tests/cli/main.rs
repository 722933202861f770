//! Runs the real `bowline` command against a real server, over stdio and HTTP, in both eras.
//!
//! Expected output is beside the tests, in `expected`; `UPDATE=1 cargo test` rewrites it.

mod bench;
mod bridge;
mod call;
mod check;
mod check_failures;
mod check_verdicts;
mod closing;
mod config;
mod declared;
mod demo;
mod exits;
mod gateway;
mod hints;
mod http_script;
mod inspect;
#[cfg(target_os = "linux")]
#[path = "../kernel/mod.rs"]
mod kernel;
mod list;
mod listing_server;
mod login;
mod long_messages;
mod observe;
#[cfg(target_os = "linux")]
mod promises;
mod questions;
mod read;
#[allow(dead_code, reason = "these tests need little of it")]
#[path = "../../../store-redis/tests/redis/redis_server.rs"]
mod redis_server;
#[cfg(target_os = "linux")]
mod sandbox;
mod serving;
mod shell;
mod store;
mod terminal;
mod usage;
#[path = "../user/mod.rs"]
mod user;
mod watch;
mod wire;
mod wrong_server;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The revisions that stand for the two eras.
const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The server that the tests call; `cargo test` builds it.
fn exhibit() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join("exhibit");
    assert!(program.exists(), "`exhibit` is not built; run `cargo build --examples` first");
    program
}

/// The command, away from the configuration of the user who runs the tests.
fn bowline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bowline"));
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR"));
    user::at_home(&mut command, nowhere);
    command.current_dir(nowhere).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn bowline_path() -> &'static str {
    env!("CARGO_BIN_EXE_bowline")
}

/// How a command ended, and its output.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the command to its end.
fn run(arguments: &[&str]) -> Run {
    bowline().args(arguments).output().unwrap().into()
}

/// Runs the command with text on standard input.
fn run_with(arguments: &[&str], input: &str) -> Run {
    let mut command = bowline();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Runs the command with the test's server as a child process.
fn with_exhibit(arguments: &[&str]) -> Run {
    let program = exhibit();
    run(&[arguments, &["--", program.to_str().unwrap()]].concat())
}

/// The test's server over HTTP. It ends with this value.
struct HttpExhibit {
    child: Child,
    url: String,
}

impl HttpExhibit {
    fn start() -> Self {
        let mut command = Command::new(exhibit());
        let mut child = command.arg("http").stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for HttpExhibit {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Compares output with the file of this name.
#[track_caller]
fn expect(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/expected").join(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "`UPDATE=1 cargo test` writes {}", path.display());
}
