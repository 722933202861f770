//! A gateway in front of marked processes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bowline::Client;
use bowline_types::revision::Revision;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::user::at_home;

pub(crate) const BOWLINE: &str = env!("CARGO_BIN_EXE_bowline");

/// The revisions that stand for the two eras.
pub(crate) const BOTH: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

/// How long a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Polls a condition until it holds: the end of a process that is no child of this one has no
/// notification.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came true that {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// A value in the environment of processes.
#[derive(Clone)]
pub(crate) struct Mark(String);

impl Mark {
    const NAME: &str = "BOWLINE_TEST_MARK";

    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", std::process::id()))
    }

    /// The same mark for one of several servers.
    pub(crate) fn of(&self, server: usize) -> Self {
        Self(format!("{}-{server}", self.0))
    }

    /// The variable, as an entry of a configuration has it.
    pub(crate) fn variable(&self) -> Value {
        json!({ Self::NAME: self.0 })
    }

    /// The processes with this mark, or with one that was made from it.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let entries = fs::read_dir("/proc").unwrap();
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter(|id| self.is_on(*id) && is_alive(*id)).map(Process).collect()
    }

    fn is_on(&self, id: i32) -> bool {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let values = environment.split(|byte| *byte == 0).filter_map(|variable| {
            str::from_utf8(variable).ok()?.strip_prefix(Self::NAME)?.strip_prefix('=')
        });
        let is_it = |value: &str| value == self.0 || value.starts_with(&format!("{}-", self.0));
        values.into_iter().any(is_it)
    }

    /// Waits until no process has the mark.
    #[track_caller]
    pub(crate) fn wait_for_none(&self) {
        let left = || self.processes().iter().map(Process::command).collect::<Vec<_>>();
        let deadline = Instant::now() + PATIENCE;
        while !left().is_empty() {
            assert!(Instant::now() < deadline, "these are left: {:?}", left());
            thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// Whether a process runs; a zombie does not.
fn is_alive(id: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// A process of this machine, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(i32);

impl Process {
    /// Its command line.
    pub(crate) fn command(&self) -> String {
        let text = fs::read(format!("/proc/{}/cmdline", self.0)).unwrap_or_default();
        String::from_utf8_lossy(&text).replace('\0', " ")
    }

    pub(crate) fn environment(&self) -> String {
        let text = fs::read(format!("/proc/{}/environ", self.0)).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    pub(crate) fn is_server(&self) -> bool {
        self.command().starts_with(BOWLINE)
    }

    pub(crate) fn kill(&self) {
        // Fails if it has ended already.
        let _ = kill(Pid::from_raw(self.0), Signal::SIGKILL);
    }

    /// The memory that it uses, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

/// How a server is started.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// The command itself.
    Plain,
    /// By a shell that starts another process first, which holds the server's output open.
    Tree,
    /// The same with processes that ignore SIGTERM.
    StubbornTree,
    /// The command as a server that knows only revisions with a handshake, and asks questions.
    Legacy,
}

/// Refuses the probe of the gateway, if there is one, and then runs the command. A gateway that
/// knows the server begins with the handshake, which the command gets.
pub(crate) const REFUSING_THE_PROBE: &str = r#"read -r first
    case $first in *'"server/discover"'*)
        id=$(printf '%s' "$first" | sed 's/.*"id":\([0-9]*\).*/\1/')
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
        exec "$0" demo --stdio
    esac
    { printf '%s\n' "$first"; exec cat; } | exec "$0" demo --stdio"#;

impl Start {
    fn entry(self, mark: &Mark) -> Value {
        let env = mark.variable();
        let script = match self {
            Self::Plain => {
                return json!({ "command": BOWLINE, "args": ["demo", "--stdio"], "env": env });
            }
            Self::Tree => "sleep 1000 & exec \"$0\" demo --stdio",
            Self::Legacy => {
                let args = ["-c", REFUSING_THE_PROBE, BOWLINE];
                return json!({ "command": "/bin/sh", "args": args, "env": env, "asks": true });
            }
            Self::StubbornTree => "trap '' TERM; sleep 1000 & exec \"$0\" demo --stdio",
        };
        json!({ "command": "/bin/sh", "args": ["-c", script, BOWLINE], "env": env })
    }
}

/// A gateway over HTTP. It is killed in the end, unless it was ended before.
pub(crate) struct Gateway {
    pub(crate) url: String,
    child: Child,
    _folder: TempDir,
}

impl Gateway {
    /// A gateway to servers `s0`, `s1` and so on, each with a mark of its own.
    pub(crate) fn start(mark: &Mark, servers: &[Start]) -> Self {
        let entries = servers.iter().enumerate();
        let entries: Map<String, Value> =
            entries.map(|(n, start)| (format!("s{n}"), start.entry(&mark.of(n)))).collect();
        Self::of(&json!({ "mcpServers": entries }))
    }

    /// Posts a message with further header lines, and returns the answer with its headers.
    pub(crate) fn post(&self, headers: &str, message: &Value) -> String {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let body = message.to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// A gateway with this configuration.
    pub(crate) fn of(config: &Value) -> Self {
        Self::with_variable(config, ("BOWLINE_TEST", "1"))
    }

    /// The same with a variable in its own environment.
    pub(crate) fn with_variable(config: &Value, (name, value): (&str, &str)) -> Self {
        Self::launch(config, |command| command.env(name, value))
    }

    /// The same with further options.
    pub(crate) fn with_options(config: &Value, options: &[&str]) -> Self {
        Self::launch(config, |command| command.args(options))
    }

    fn launch(config: &Value, change: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bowline.json");
        fs::write(&path, config.to_string()).unwrap();
        let mut command = Command::new(BOWLINE);
        command.args(["gateway", "--json", "--http", "127.0.0.1:0"]).arg(&path);
        let command = change(at_home(&mut command, folder.path()));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !output.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut output).unwrap(), 0, "it ended: {output}");
        }
        let url = output.split('"').nth(3).unwrap().to_owned();
        Self { url, child, _folder: folder }
    }

    pub(crate) fn process(&self) -> Process {
        Process(self.child.id().try_into().unwrap())
    }

    pub(crate) async fn client(&self, revision: Revision) -> Client {
        let builder = Client::builder("caller", "1.0.0").revisions([revision]);
        builder.http(&self.url).connect().await.unwrap()
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn stop(mut self) {
        kill(Pid::from_raw(self.process().0), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Fails if it was ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
