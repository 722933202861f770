//! `--admin`, `--log json` and the export by OTLP of the commands that serve.

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::Value;

use super::*;

/// `bowline serve` of the exhibit, observed. It gets SIGTERM in the end.
struct Observed {
    child: Child,
    url: String,
    admin: String,
}

impl Observed {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !output.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut output).unwrap(), 0, "it ended: {output}");
        }
        let said: Value = serde_json::from_str(&output).unwrap();
        let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        Self { child, url: text("url"), admin: text("admin") }
    }

    /// Status and body of a page of the admin listener.
    fn page(&self, path: &str) -> (u16, String) {
        let address = self.admin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// Terminates it, and returns what it wrote to standard error.
    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

/// A test that fails leaves no process behind.
impl Drop for Observed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(options: &[&str]) -> Command {
    let mut command = bowline();
    command.args(["serve", "--json", "--http", "127.0.0.1:0"]).args(options);
    command.arg("--").arg(exhibit());
    command
}

#[test]
fn metrics_and_health_are_served_on_request() {
    let observed = Observed::start(&mut serve(&["--admin", "127.0.0.1:0"]));
    assert_eq!(observed.page("/livez"), (200, "ok\n".to_owned()));
    assert_eq!(observed.page("/readyz"), (200, "ok\n".to_owned()));
    let called = run(&["call", &observed.url, "echo", "message=canary4711"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let (status, metrics) = observed.page("/metrics");
    assert_eq!(status, 200);
    for side in ["server", "client"] {
        let row = |line: &&str| {
            line.starts_with(&format!("mcp_{side}_operation_duration_seconds_count{{"))
                && line.contains("gen_ai_tool_name=\"echo\"")
                && line.contains("mcp_method_name=\"tools/call\"")
                && line.ends_with(" 1")
        };
        assert!(metrics.lines().any(|line| row(&line)), "{metrics}");
    }
    assert!(!metrics.contains("canary4711"), "{metrics}");
    observed.stop();
}

#[test]
fn the_admin_listener_is_for_this_machine_only() {
    let refused: Run = serve(&["--admin", "0.0.0.0:0"]).output().unwrap().into();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("other machines"), "{}", refused.stderr);
}

#[test]
fn a_line_of_the_log_has_the_ids_of_the_trace() {
    let observed = Observed::start(&mut serve(&["--log", "json"]));
    assert_eq!(observed.admin, "", "no listener without --admin");
    let called = run(&["call", &observed.url, "echo", "message=canary4711"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let log = observed.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.into_iter().find(|line| line["method"] == "tools/call").expect(&log);
    assert_eq!((&line["name"], &line["outcome"]), (&"echo".into(), &"completed".into()));
    assert_eq!(line["trace_id"].as_str().map(str::len), Some(32), "{line}");
    assert_eq!(line["span_id"].as_str().map(str::len), Some(16), "{line}");
    assert!(!log.contains("canary4711"), "{log}");
}
