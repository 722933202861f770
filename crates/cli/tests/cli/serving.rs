//! A command that serves over HTTP, as the tests of several commands start it.

use std::io::Read as _;

use serde_json::Value;

use super::*;

/// A command with `--json` that serves over HTTP. It gets SIGTERM in the end.
pub(super) struct Serving {
    pub(super) child: Child,
    pub(super) url: String,
    /// The listener of `--admin`; empty without one.
    pub(super) admin: String,
}

impl Serving {
    pub(super) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !output.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut output).unwrap(), 0, "it ended: {output}");
        }
        let printed: Value = serde_json::from_str(&output).unwrap();
        let text = |name: &str| printed[name].as_str().unwrap_or_default().to_owned();
        Self { child, url: text("url"), admin: text("admin") }
    }

    /// Starts it with these arguments, in a folder.
    pub(super) fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        Self::start(bowline().args(arguments).current_dir(folder))
    }

    /// Terminates it, and returns what it wrote to standard error.
    pub(super) fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

/// A test that fails leaves no process behind.
impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_of_serve_shows_what_is_written_at_the_start() {
    let page = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands/serve.md"),
    );
    let page = page.unwrap();
    let shown = page.split("$ bowline serve ").nth(1).unwrap().split("```").next().unwrap();
    let shown = shown.split_once('\n').unwrap().1;
    let mut command = bowline();
    command.args(["serve", "--http", "127.0.0.1:0", "--", bowline_path(), "demo", "--stdio"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    assert_eq!(line.replace(address, "127.0.0.1:8809"), shown);
}
