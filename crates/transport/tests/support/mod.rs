//! What the tests of this crate share: messages, timeouts, and this test binary as a program.

#![allow(dead_code, reason = "each test binary uses another part of it")]

use std::collections::VecDeque;
use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::{Role, Route, Transmit};
use bowline_transport::transport::{Reader, ServerTransport, Writer};
use bytes::Bytes;

/// How long a test waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The environment variable that names the part of a started test binary.
const PART: &str = "BOWLINE_TEST_PART";

pub(crate) fn queue<B: Into<Bytes>>(frames: impl IntoIterator<Item = B>) -> VecDeque<Transmit> {
    let (route, role) = (Route::Standalone, Role::Within);
    let transmit = |frame: B| Transmit { route, role, frame: frame.into(), mirror: None };
    frames.into_iter().map(transmit).collect()
}

pub(crate) fn text(text: &str) -> Option<Received> {
    Some(Received::Message(Bytes::copy_from_slice(text.as_bytes())))
}

/// Reads one message.
pub(crate) async fn next(reader: &mut impl Reader<Item = Received>) -> String {
    let received = tokio::time::timeout(PATIENCE, reader.read()).await.unwrap().unwrap();
    match received {
        Some(Received::Message(text)) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Sends every message back, until the peer closes its end.
pub(crate) async fn echo(transport: impl ServerTransport) {
    let (mut reader, mut writer) = transport.split(&Limits::default());
    while let Some(Received::Message(text)) = reader.read().await.unwrap() {
        writer.write(&mut queue([text])).await.unwrap();
    }
    writer.close().await;
}

/// Polls a condition until it holds, and fails after a timeout.
///
/// For events without a notification, such as the end of a process that is not a child of this one.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came true that {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether a process runs; a zombie does not.
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(id: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// Whether a process exists.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_alive(id: i32) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), None).is_ok()
}

/// A command that runs the test `part` of this binary, and nothing else, in another process.
pub(crate) fn this_binary(part: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["part", "--exact", "--quiet", "--nocapture"]).env(PART, part);
    // The harness of that process reports its success among the output of this one.
    command.stderr(Stdio::null());
    command
}

/// The part that this process was started for, if any.
pub(crate) fn part() -> Option<String> {
    env::var(PART).ok()
}

/// Reads lines on a thread, so that a test can wait for them with a timeout.
pub(crate) fn lines_of(source: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(source).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// All further lines, up to the end.
#[track_caller]
pub(crate) fn rest(lines: &Receiver<String>) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut rest = Vec::new();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => rest.push(line),
            Err(RecvTimeoutError::Disconnected) => return rest,
            Err(RecvTimeoutError::Timeout) => panic!("no end after {rest:?}"),
        }
    }
}

/// Waits for a process to end.
#[track_caller]
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    eventually("the process ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// A multi-threaded runtime with I/O and time.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A temporary directory, removed when dropped.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bowline-{}-{number}", std::process::id());
        let path = env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
