//! A command that serves over HTTP, as the tests of several commands start it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

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

/// The demo behind `serve`, started with these limits of open files.
#[cfg(target_os = "linux")]
fn serving_within(limits: &str) -> Serving {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limits}; exec \"$0\" \"$@\""), bowline_path()]);
    command.args(["serve", "--http", "127.0.0.1:0", "--json", "--"]);
    Serving::start(command.args([bowline_path(), "demo", "--stdio"]))
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_over_http_raises_its_limit_of_open_files() {
    for (limits, expected) in [("-Sn 64", None), ("-Sn 64; ulimit -Hn 200", Some("200"))] {
        let serving = serving_within(limits);
        let file = format!("/proc/{}/limits", serving.child.id());
        let text = std::fs::read_to_string(file).unwrap();
        let line = text.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let numbers: Vec<&str> = line.split_whitespace().skip(3).collect();
        let (soft, hard): (u64, u64) = (numbers[0].parse().unwrap(), numbers[1].parse().unwrap());
        assert_eq!(soft, hard.min(65_536), "{line}");
        assert!(expected.is_none_or(|expected| numbers[0] == expected), "{line}");
        serving.stop();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn clients_that_never_finish_a_request_do_not_use_up_the_files_of_a_server() {
    let serving = serving_within("-n 100");
    let address = serving.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let connect = || TcpStream::connect(&address).unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{";
    let slow: Vec<TcpStream> = (0..120)
        .map(|_| {
            let mut stream = connect();
            // The server closes those that are too many.
            let _ = stream.write_all(head.as_bytes());
            stream
        })
        .collect();
    let begun = Instant::now();
    loop {
        let mut stream = connect();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream
            .write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        if answer.starts_with("HTTP/1.1 200 ") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "no answer: {answer}");
    }
    drop(slow);
    serving.stop();
}
