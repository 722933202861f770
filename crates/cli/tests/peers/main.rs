//! The era matrix through the bridge: clients and servers of other SDKs, which speak one era or both,
//! on the two sides of `bowline connect`, `serve` and `gateway`.

mod clients;
#[path = "../cli/http_script.rs"]
#[allow(dead_code, reason = "these tests need little of it")]
mod http_script;
mod matrix;
mod otlp;
mod reports;
mod servers;
#[path = "../user/mod.rs"]
mod user;
#[path = "../cli/wrong_server.rs"]
mod wrong_server;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const BOWLINE: &str = env!("CARGO_BIN_EXE_bowline");
const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn peers() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers");
    let installed = folder.join(".venv/installed").exists();
    assert!(
        installed,
        "the SDKs of others that this test needs are not installed: run `sh tests/peers/install.sh` \
         once, or test without them: `cargo test -p bowline-cli --bins --test cli --test gateway \
         --test pages`"
    );
    folder
}

/// The interpreter and the script of a peer.
fn peer(script: &str) -> [String; 2] {
    let folder = peers();
    let interpreter = match script.ends_with(".py") {
        true => folder.join(".venv/bin/python").display().to_string(),
        false => "node".to_owned(),
    };
    [interpreter, folder.join(script).display().to_string()]
}

/// A program, away from the folders of the user who runs the tests, and so is what it starts.
fn at_home(program: &str) -> Command {
    let mut command = Command::new(program);
    user::at_home(&mut command, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers"));
    command
}

/// A command that serves over HTTP until it is dropped.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::spawn(at_home(BOWLINE).args(arguments))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !output.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut output).unwrap(), 0, "it ended: {output}");
        }
        let url = output.split('"').nth(3).unwrap().to_owned();
        Self { child, url }
    }

    /// Ends it with SIGTERM, and waits for it.
    fn terminate(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
