//! Ctrl-C while a command closes what it has opened, and what a command leaves behind.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

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

#[test]
fn the_command_of_sampling_ends_with_the_timeout() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bowline();
        command.current_dir(folder.path()).args(["call", "rhyme", "word=sea", "--timeout", "2"]);
        command.args(["--revision", revision]);
        command.args(["--sampling", "sh -c 'echo $$ > asked; exec sleep 600'"]);
        command.args(["--", bowline_path(), "demo", "--stdio"]);
        let called = Run::from(command.output().unwrap());
        assert_eq!(called.code, Some(1), "{called:?}");
        let process = fs::read_to_string(folder.path().join("asked")).unwrap();
        // The command line of a process that has ended is empty, also while nothing has reaped it.
        let line = format!("/proc/{}/cmdline", process.trim());
        let deadline = Instant::now() + Duration::from_secs(20);
        while fs::read(&line).is_ok_and(|line| !line.is_empty()) {
            assert!(Instant::now() < deadline, "the command of `--sampling` runs on");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}
