//! A running child process and the steps of its shutdown.
//!
//! The shutdown runs on a thread of its own. So it is the same on close and on drop, inside a
//! runtime, without one, and while a runtime shuts down. Before that, no thread and no task waits
//! for the child.

use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bowline_proto::codec::Received;
use bowline_proto::secrets::Secrets;
use bowline_proto::sync::lock;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::time::timeout;

use super::group::ProcessGroup;
use super::stderr_lines::StderrLines;
use super::tail::StderrTail;
use crate::error::Error;
use crate::lines::may_be_message;

/// How long after the end of its output a child may exit for both to be reported as one event.
const EXIT_DELAY: Duration = Duration::from_millis(500);

/// How long a killed group may take to disappear; it takes longer only if the kernel is stuck.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// The longest pause between two checks of a child that shuts down.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A child process, shut down at the latest when this is dropped. Shared by the two halves of a
/// [`Child`](super::Child); the last of them ends the process.
#[derive(Debug)]
pub(super) struct Process {
    program: String,
    id: u32,
    /// The shutdown, until it is started.
    shutdown: Mutex<Option<Shutdown>>,
    state: watch::Receiver<ProcessState>,
    stderr: Option<StderrTail>,
    /// What the child was given.
    secrets: Arc<Secrets>,
    /// Whether it ever sent something that looks like a message.
    answered: AtomicBool,
    /// Whether this side ends it, so that its exit status is not an error.
    closing: AtomicBool,
}

/// How far the end of a child has come. Set by the shutdown thread and by the task that reads
/// standard error.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessState {
    status: Option<ExitStatus>,
    /// Whether the shutdown is over: the whole group is gone, or could not be ended.
    over: bool,
    /// Whether standard error is read to its end.
    silent: bool,
}

impl Process {
    /// Takes a process whose pipes have been taken out.
    pub(super) fn new(program: String, child: Child, grace: Duration, secrets: Secrets) -> Self {
        let silent = ProcessState { silent: true, ..ProcessState::default() };
        let (sender, state) = watch::channel(silent);
        let id = child.id();
        let group = ProcessGroup::of(&child);
        let shutdown = Shutdown { child, group, grace, state: StateSender(sender) };
        Self {
            program,
            id,
            shutdown: Mutex::new(Some(shutdown)),
            state,
            stderr: None,
            secrets: Arc::new(secrets),
            answered: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn stderr(&self) -> Option<&StderrTail> {
        self.stderr.as_ref()
    }

    /// Reads standard error as long as the child lives, and keeps the end of it.
    pub(super) fn capture_stderr(&mut self, stderr: ChildStderr, lines: StderrLines) {
        let tail = StderrTail::new(Arc::clone(&self.secrets));
        self.stderr = Some(tail.clone());
        let shutdown = lock(&self.shutdown);
        if let Some(shutdown) = shutdown.as_ref() {
            let sender = shutdown.state.0.clone();
            sender.send_modify(|state| state.silent = false);
            tokio::spawn(read_stderr(stderr, (tail, lines), sender));
        }
    }

    /// Notes a line that the child wrote to standard output.
    pub(super) fn note_output(&self, text: &[u8]) {
        // Programs that print a banner before they fail have not answered.
        if may_be_message(text) {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the credentials that the child was given out of texts for people.
    pub(super) fn redact(&self, received: Received) -> Received {
        self.secrets.redact(received)
    }

    /// Whether it exited with a failure or was killed. `false` once the shutdown has begun, which
    /// watches it itself.
    pub(super) fn has_failed(&self) -> bool {
        lock(&self.shutdown).as_ref().is_some_and(|shutdown| shutdown.group.has_leader_failed())
    }

    /// Starts the shutdown, unless it was started before.
    fn begin(&self) {
        let shutdown = lock(&self.shutdown).take();
        if let Some(shutdown) = shutdown {
            shutdown.start();
        }
    }

    /// Shuts the child down, and waits until that is over. Takes at most two grace periods, two
    /// seconds after the last signal, and half a second for standard error.
    pub(super) async fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.begin();
        let mut state = self.state.clone();
        // Cannot fail: `over` is set before the sender is dropped.
        let _ = state.wait_for(|state| state.over).await;
        stderr_end(&mut state).await;
    }

    /// Handles the end of a child that closed its output or its input. A server may exit well
    /// without having been asked to; that is no error, unless it never answered.
    ///
    /// # Errors
    ///
    /// If it exited with a failure or without ever answering.
    pub(super) async fn end(&self) -> Result<(), Error> {
        self.begin();
        let mut state = self.state.clone();
        let exit = timeout(EXIT_DELAY, state.wait_for(|state| state.status.is_some())).await;
        let Ok(Ok(Some(status))) = exit.map(|exit| exit.map(|state| state.status)) else {
            return Ok(());
        };
        stderr_end(&mut state).await;
        let answered = self.answered.load(Ordering::Relaxed);
        if self.closing.load(Ordering::Relaxed) || (status.success() && answered) {
            return Ok(());
        }
        Err(Error::exited(self.exit_report(status, answered)))
    }

    /// A sentence for the error: how the child ended, and what it wrote to standard error.
    fn exit_report(&self, status: ExitStatus, answered: bool) -> String {
        let program = &self.program;
        let when = if answered { "" } else { " before it answered" };
        let how = match status.code() {
            Some(code) => format!("exited with status {code}"),
            None => format!("was ended by {status}"),
        };
        let lines = self.stderr.as_ref().map(StderrTail::quoted);
        let stderr = match lines.as_deref() {
            None => String::new(),
            Some("") => " and wrote nothing to standard error".to_owned(),
            Some(lines) => format!("; standard error: {lines}"),
        };
        format!("the server `{program}` {how}{when}{stderr}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.begin();
    }
}

/// The steps of a shutdown: the child's input is closed already, and in the end its group is empty.
#[derive(Debug)]
struct Shutdown {
    child: Child,
    group: ProcessGroup,
    grace: Duration,
    /// Dropped last, so that the group is released before `over` is set.
    state: StateSender,
}

/// Publishes the [`ProcessState`]; sets `over` when dropped, also after a panic.
#[derive(Debug)]
struct StateSender(watch::Sender<ProcessState>);

impl StateSender {
    /// Wakes waiters only once, although the child is checked again and again.
    fn exited(&self, status: Option<ExitStatus>) {
        self.0.send_if_modified(|state| {
            let is_new = state.status != status;
            state.status = status;
            is_new
        });
    }
}

impl Drop for StateSender {
    fn drop(&mut self) {
        self.0.send_modify(|state| state.over = true);
    }
}

impl Shutdown {
    /// Starts the thread of the shutdown.
    fn start(self) {
        // Handed over in a slot: a closure is lost if its thread cannot be started.
        let slot = Arc::new(Mutex::new(Some(self)));
        let theirs = Arc::clone(&slot);
        let thread = thread::Builder::new().name("bowline-child".to_owned());
        let started = thread.spawn(move || {
            if let Some(shutdown) = lock(&theirs).take() {
                shutdown.run();
            }
        });
        if started.is_err()
            && let Some(shutdown) = lock(&slot).take()
        {
            // Without a thread nothing can wait for the grace period.
            shutdown.kill();
        }
    }

    /// The steps of LIFE-20 to LIFE-22, with the input closed before.
    fn run(mut self) {
        if self.settles_within(self.grace) {
            return;
        }
        self.group.terminate(&mut self.child);
        if self.settles_within(self.grace) {
            return;
        }
        self.kill();
    }

    /// The last step. A process that the kernel does not let go is left behind after [`KILL_WAIT`].
    fn kill(mut self) {
        self.group.kill(&mut self.child);
        self.settles_within(KILL_WAIT);
    }

    /// Waits until the child is reaped and its group is empty.
    fn settles_within(&mut self, patience: Duration) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        while !self.is_settled() {
            let left = patience.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        true
    }

    /// The child is reaped first: only then the number of its group can be trusted
    /// ([`ProcessGroup::is_empty`]).
    fn is_settled(&mut self) -> bool {
        match self.child.try_wait() {
            Ok(None) => return false,
            Ok(status) => self.state.exited(status),
            // Other code of this process reaped it, so its status is unknown.
            Err(_) => {}
        }
        self.group.is_empty()
    }
}

/// Reads standard error into `tail` until it ends, or until the shutdown is over.
async fn read_stderr(
    mut stderr: ChildStderr,
    (tail, mut lines): (StderrTail, StderrLines),
    state: watch::Sender<ProcessState>,
) {
    let mut changes = state.subscribe();
    let mut chunk = vec![0; 8 * 1024];
    loop {
        let count = tokio::select! {
            biased;
            read = stderr.read(&mut chunk) => read.unwrap_or(0),
            _ = changes.wait_for(|state| state.over) => 0,
        };
        match chunk.get(..count) {
            None | Some([]) => break,
            Some(bytes) => {
                tail.push(bytes);
                lines.push(bytes);
            }
        }
    }
    lines.end();
    state.send_modify(|state| state.silent = true);
}

/// Waits until standard error is read to its end, so that an error quotes its last lines. Waits for
/// a bounded time, since a process that left the group may hold it open.
async fn stderr_end(state: &mut watch::Receiver<ProcessState>) {
    let _ = timeout(EXIT_DELAY, state.wait_for(|state| state.silent)).await;
}
