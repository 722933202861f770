//! A running child process and the steps of its shutdown.
//!
//! The shutdown runs on a thread of its own, so that it is the same on close and on drop, inside a
//! runtime, outside, and while one shuts down. Until then no thread and no task watches the child.

use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::time::timeout;

use super::group::Group;
use super::tail::StderrTail;
use crate::error::Error;

/// How long the end of a child's output may precede its exit, to still be told as one.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long a killed group may take to disappear; longer only if the kernel is stuck.
const BURIAL: Duration = Duration::from_secs(2);

/// The longest pause between two looks at a child that shuts down.
const PAUSE: Duration = Duration::from_millis(20);

/// A child process, shut down at the latest when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    program: String,
    id: u32,
    /// What is left to do, until somebody starts to do it.
    shutdown: Mutex<Option<Shutdown>>,
    fate: watch::Receiver<Fate>,
    words: Option<StderrTail>,
    /// Whether it ever sent something that looks like a message.
    answered: AtomicBool,
    /// Whether we end it ourselves, so that however it ends is no news.
    closing: AtomicBool,
}

/// What became of a child so far.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    status: Option<ExitStatus>,
    /// Whether everything it started is gone too, or as gone as we can make it.
    over: bool,
    /// Whether nothing more will be read from its standard error.
    silent: bool,
}

impl Process {
    pub(super) fn new(program: String, child: Child, grace: Duration) -> Self {
        let (sender, fate) = watch::channel(Fate { silent: true, ..Fate::default() });
        let id = child.id();
        let group = Group::of(&child);
        let shutdown = Shutdown { child, group, grace, fate: Teller(sender) };
        Self {
            program,
            id,
            shutdown: Mutex::new(Some(shutdown)),
            fate,
            words: None,
            answered: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn words(&self) -> Option<&StderrTail> {
        self.words.as_ref()
    }

    /// Reads standard error for as long as the child lives, and keeps the end of it.
    pub(super) fn keep_words(&mut self, stderr: ChildStderr) {
        let words = self.words.get_or_insert_default().clone();
        let shutdown = lock(&self.shutdown);
        if let Some(shutdown) = shutdown.as_ref() {
            let sender = shutdown.fate.0.clone();
            sender.send_modify(|fate| fate.silent = false);
            tokio::spawn(listen(stderr, words, sender));
        }
    }

    /// Notes that the child said something.
    pub(super) fn hear(&self, text: &[u8]) {
        // Programs that print a banner before they fail have not answered.
        if matches!(text.first(), Some(b'{' | b'[')) {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    /// Starts the shutdown, unless that has happened.
    fn begin(&self) {
        let shutdown = lock(&self.shutdown).take();
        if let Some(shutdown) = shutdown {
            shutdown.start();
        }
    }

    /// Ends the child on our behalf, and waits until it is over.
    pub(super) async fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
        self.begin();
        let mut fate = self.fate.clone();
        // It cannot fail: that it is over is the last thing that is said.
        let _ = fate.wait_for(|fate| fate.over).await;
        words_end(&mut fate).await;
    }

    /// Says goodbye to a child that closed its output or its input.
    ///
    /// # Errors
    ///
    /// If it exited with a failure or without ever answering.
    pub(super) async fn end(&self) -> Result<(), Error> {
        self.begin();
        let mut fate = self.fate.clone();
        let exit = timeout(FAREWELL, fate.wait_for(|fate| fate.status.is_some())).await;
        let Ok(Ok(Some(status))) = exit.map(|exit| exit.map(|fate| fate.status)) else {
            return Ok(());
        };
        words_end(&mut fate).await;
        let answered = self.answered.load(Ordering::Relaxed);
        if self.closing.load(Ordering::Relaxed) || (status.success() && answered) {
            return Ok(());
        }
        Err(Error::exited(self.obituary(status, answered)))
    }

    fn obituary(&self, status: ExitStatus, answered: bool) -> String {
        let program = &self.program;
        let when = if answered { "" } else { " before it answered" };
        let how = match status.code() {
            Some(code) => format!("exited with status {code}"),
            None => format!("was ended by {status}"),
        };
        let words = self.words.as_ref().map(StderrTail::last_words);
        let words = match words.as_deref() {
            None => String::new(),
            Some("") => " and wrote nothing to standard error".to_owned(),
            Some(words) => format!("; its last words: {words}"),
        };
        format!("the server `{program}` {how}{when}{words}")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.begin();
    }
}

/// The steps from a child whose input is closed to a group without members.
#[derive(Debug)]
struct Shutdown {
    child: Child,
    group: Group,
    grace: Duration,
    /// The last field to be dropped: when it is told that all is over, the group is released.
    fate: Teller,
}

/// Tells what becomes of the child, and when dropped that it is over, whatever happened.
#[derive(Debug)]
struct Teller(watch::Sender<Fate>);

impl Teller {
    fn exited(&self, status: Option<ExitStatus>) {
        self.0.send_if_modified(|fate| {
            let is_news = fate.status != status;
            fate.status = status;
            is_news
        });
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.0.send_modify(|fate| fate.over = true);
    }
}

impl Shutdown {
    fn start(self) {
        // Handed over in a slot, because what a thread is to own is lost if it cannot be started.
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
            // Without a thread there is nobody to be patient.
            shutdown.kill();
        }
    }

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

    fn kill(mut self) {
        self.group.kill(&mut self.child);
        self.settles_within(BURIAL);
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
            pause = (pause * 2).min(PAUSE);
        }
        true
    }

    fn is_settled(&mut self) -> bool {
        match self.child.try_wait() {
            Ok(None) => return false,
            Ok(status) => self.fate.exited(status),
            // Somebody else reaped it, and took its status along.
            Err(_) => {}
        }
        self.group.is_empty()
    }
}

/// Keeps what comes from standard error until it ends, or all that could write to it is gone.
async fn listen(mut stderr: ChildStderr, words: StderrTail, fate: watch::Sender<Fate>) {
    let mut changes = fate.subscribe();
    let mut chunk = vec![0; 8 * 1024];
    loop {
        let count = tokio::select! {
            biased;
            read = stderr.read(&mut chunk) => read.unwrap_or(0),
            _ = changes.wait_for(|fate| fate.over) => 0,
        };
        match chunk.get(..count) {
            None | Some([]) => break,
            Some(bytes) => words.push(bytes),
        }
    }
    fate.send_modify(|fate| fate.silent = true);
}

/// Waits until all that the child wrote to standard error is read, so that what is quoted is
/// the end of it. Not for long: something that left the group may hold it open.
async fn words_end(fate: &mut watch::Receiver<Fate>) {
    let _ = timeout(FAREWELL, fate.wait_for(|fate| fate.silent)).await;
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
