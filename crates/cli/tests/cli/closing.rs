//! Ctrl-C while a command closes what it has opened, and what a command leaves behind.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::serving::Serving;
use super::*;

/// A server that takes as long to end as it may: it says so, then ignores SIGTERM.
fn stubborn() -> String {
    let demo = format!("{} demo --stdio", bowline_path());
    format!("trap '' TERM; {demo}; echo closing >&2; while :; do sleep 1; done")
}

/// Waits until the server is being closed, presses Ctrl-C, and returns the exit code.
fn interrupted_while_closing(mut command: Command) -> Option<i32> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "closing"), "the server was not closed");
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn ctrl_c_while_the_server_is_closed_ends_the_command_at_once() {
    let mut command = bowline();
    command.args(["list", "--verbose", "--", "sh", "-c", &stubborn()]);
    assert_eq!(interrupted_while_closing(command), Some(130));
}

#[test]
fn ctrl_c_while_a_bridge_is_closed_ends_it_at_once() {
    let mut command = bowline();
    // Its input has ended, so it closes as soon as it serves.
    command.args(["connect", "--verbose", "--", "sh", "-c", &stubborn()]);
    assert_eq!(interrupted_while_closing(command), Some(130));
}

/// Waits until something holds.
#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to that");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether a process that serves has begun to drain.
fn is_draining(admin: &str) -> bool {
    let address = admin.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.starts_with("HTTP/1.1 503 ")
}

#[test]
fn a_second_ctrl_c_while_calls_run_over_http_ends_the_process_at_once() {
    let noted = format!("tee requests | {} demo --stdio", bowline_path());
    let server = json!({ "command": "sh", "args": ["-c", &noted] });
    let config = json!({ "mcpServers": { "demo": server } }).to_string();
    let commands: [(&[&str], &str); 2] = [
        (&["serve", "--http", "127.0.0.1:0", "--", "sh", "-c", &noted], "sleep"),
        (&["gateway", "servers.json", "--yes", "--http", "127.0.0.1:0"], "demo__sleep"),
    ];
    for (arguments, tool) in commands {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("servers.json"), &config).unwrap();
        let (command, rest) = arguments.split_first().unwrap();
        let mut process = bowline();
        user::at_home(&mut process, folder.path());
        process.args([command, "--json", "--admin", "127.0.0.1:0"]).args(rest);
        let mut serving = Serving::start(process.current_dir(folder.path()));
        let mut call = bowline();
        call.args(["call", &serving.url, tool, "seconds=600"]).stderr(Stdio::null());
        let mut call = call.spawn().unwrap();
        let requests = folder.path().join("requests");
        wait_until(|| fs::read_to_string(&requests).is_ok_and(|it| it.contains("tools/call")));
        let id = Pid::from_raw(serving.child.id().try_into().unwrap());
        kill(id, Signal::SIGINT).unwrap();
        wait_until(|| is_draining(&serving.admin));
        kill(id, Signal::SIGINT).unwrap();
        assert_eq!(serving.child.wait().unwrap().code(), Some(130), "{command}");
        call.wait().unwrap();
    }
}

#[test]
fn the_command_of_sampling_and_its_processes_end_with_the_timeout() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bowline();
        command.current_dir(folder.path()).args(["call", "rhyme", "word=sea", "--timeout", "2"]);
        command.args(["--revision", revision]);
        // A process that is left behind must not hold the standard error that the test reads to its end.
        command.args(["--sampling", "sh -c 'sleep 600 2> log & echo $! > asked; wait'"]);
        command.args(["--", bowline_path(), "demo", "--stdio"]);
        let called = Run::from(command.output().unwrap());
        assert_eq!(called.code, Some(1), "{called:?}");
        let process = fs::read_to_string(folder.path().join("asked")).unwrap();
        // The command line of a process that has ended is empty, also while nothing has reaped it.
        let line = format!("/proc/{}/cmdline", process.trim());
        wait_until(|| fs::read(&line).map_or(true, |line| line.is_empty()));
    }
}
