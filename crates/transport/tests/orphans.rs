//! The child processes of a client end with it, however it ends.

#![cfg(all(target_os = "linux", feature = "child"))]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use bowline_proto::limits::Limits;
use bowline_transport::child::{ChildReader, ChildWriter, Command};
use bowline_transport::transport::Transport;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use self::support::{Directory, eventually, is_alive, next, runtime, this_binary};

/// Servers that ignore the end of their input and `SIGTERM`: started directly, by a shell that
/// waits, and by a wrapper that exits.
const SERVERS: [&str; 3] = [
    "trap '' TERM; echo $$; while :; do sleep 1; done",
    "trap '' TERM; (echo $$; exec sleep 100) & echo $!; wait",
    "trap '' TERM; (sleep 100 & echo $!); echo $$",
];

/// The file into which the client writes the process ids of its children.
const NOTES: &str = "BOWLINE_TEST_NOTES";

/// Not a test: the tests below run this function as the client, in another process.
#[test]
fn part() {
    let part = support::part();
    let Some(part) = part.as_deref() else {
        return;
    };
    runtime().block_on(async {
        let mut servers = Vec::new();
        let mut ids = start_all(&mut servers).await;
        if part == "lose the watchdog" {
            lose_the_watchdog();
            ids.extend(start_all(&mut servers).await);
        }
        note(&ids);
        if part == "exit" {
            process::exit(0);
        }
        std::future::pending::<()>().await;
    });
}

async fn start_all(servers: &mut Vec<(ChildReader, ChildWriter)>) -> Vec<i32> {
    let mut ids = Vec::new();
    for script in SERVERS {
        let child = Command::new("/bin/sh").args(["-c", script]).spawn().unwrap();
        let (mut reader, writer) = child.split(&Limits::default());
        for _ in 0..script.matches("echo").count() {
            ids.push(next(&mut reader).await.parse().unwrap());
        }
        servers.push((reader, writer));
    }
    ids
}

fn note(ids: &[i32]) {
    let path = PathBuf::from(std::env::var_os(NOTES).unwrap());
    let text: Vec<_> = ids.iter().map(i32::to_string).collect();
    let draft = path.with_extension("draft");
    fs::write(&draft, text.join(" ")).unwrap();
    fs::rename(&draft, &path).unwrap();
}

fn lose_the_watchdog() {
    let ours = |id: &i32| {
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        let is_watchdog = String::from_utf8_lossy(&command).contains("bowline-watchdog");
        is_watchdog && parent == Some(&process::id().to_string())
    };
    let processes = fs::read_dir("/proc").unwrap();
    let mut ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let watchdog: i32 = ids.find(ours).expect("there is a watchdog");
    kill(Pid::from_raw(watchdog), Signal::SIGKILL).unwrap();
    eventually("the watchdog is gone", || !is_alive(watchdog));
}

fn start_client(part: &str, notes: &Path) -> process::Child {
    let mut command = this_binary(part);
    command.env(NOTES, notes).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
}

fn read_notes(notes: &Path) -> Vec<i32> {
    eventually("the client has started all", || notes.exists());
    let text = fs::read_to_string(notes).unwrap();
    text.split(' ').map(|id| id.parse().unwrap()).collect()
}

fn assert_all_gone(ids: &[i32]) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
    eventually("all are gone", || !ids.iter().any(|id| is_alive(*id)));
    assert!(std::time::Instant::now() < deadline, "it took too long");
}

// spec: STDIO-14
#[test]
fn no_orphans() {
    let directory = Directory::new();
    let notes: Vec<_> = (0..20).map(|n| directory.0.join(n.to_string())).collect();
    let clients: Vec<_> = notes.iter().map(|notes| start_client("wait", notes)).collect();
    let ids: Vec<_> = notes.iter().flat_map(|notes| read_notes(notes)).collect();
    assert_eq!(ids.len(), 20 * 5);
    assert!(ids.iter().filter(|id| is_alive(**id)).count() >= 20 * 4, "wrappers may be gone");
    for mut client in clients {
        client.kill().unwrap();
        client.wait().unwrap();
    }
    assert_all_gone(&ids);
}

#[test]
fn a_client_that_just_exits_leaves_no_orphans() {
    let directory = Directory::new();
    let notes = directory.0.join("notes");
    let mut client = start_client("exit", &notes);
    client.wait().unwrap();
    assert_all_gone(&read_notes(&notes));
}

#[test]
fn a_watchdog_that_was_killed_is_replaced() {
    let directory = Directory::new();
    let notes = directory.0.join("notes");
    let mut client = start_client("lose the watchdog", &notes);
    let ids = read_notes(&notes);
    client.kill().unwrap();
    client.wait().unwrap();
    assert_all_gone(&ids);
}
