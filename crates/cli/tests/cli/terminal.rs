//! Runs the command in a terminal, as a user does.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

/// How long a test waits for a terminal to change.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command whose standard input and standard error are a terminal. Its standard output is a pipe,
/// so that results and questions are told apart.
pub(crate) struct Terminal {
    child: Child,
    screen: File,
    seen: Vec<u8>,
}

impl Terminal {
    pub(crate) fn start(mut command: Command) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        let share = |end: &OwnedFd| Stdio::from(end.try_clone().unwrap());
        command.stdin(share(&slave)).stderr(share(&slave)).stdout(Stdio::piped());
        command.env("TERM", "xterm-256color");
        let child = command.spawn().unwrap();
        // The command holds the last copies: the terminal closes when the process ends.
        drop((command, slave));
        Self { child, screen: File::from(master), seen: Vec::new() }
    }

    /// Waits until the terminal shows a text, then types something.
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.wait_for(question);
        self.seen.clear();
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// The same for an answer that the terminal does not show. The command drops what is typed before it
    /// has hidden the answer.
    pub(crate) fn answer_hidden(&mut self, question: &str, keys: &str) {
        self.wait_for(question);
        let deadline = Instant::now() + PATIENCE;
        while tcgetattr(&self.screen).unwrap().local_flags.contains(LocalFlags::ECHO) {
            assert!(Instant::now() < deadline, "the answer to {question:?} is not hidden");
            thread::park_timeout(Duration::from_millis(1));
        }
        self.answer(question, keys);
    }

    /// Waits until the terminal shows a text.
    pub(crate) fn wait_for(&mut self, question: &str) {
        let mut buffer = [0; 4096];
        while !self.shown().contains(question) {
            let count = self.screen.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "it ended without {question:?}: {}", self.shown());
            self.seen.extend(&buffer[..count]);
        }
    }

    /// Waits for the end: the exit code, standard output, and the rest of the terminal.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        let mut buffer = [0; 4096];
        // On Linux, reading from a terminal that was closed is an error.
        while let Ok(count @ 1..) = self.screen.read(&mut buffer) {
            self.seen.extend(&buffer[..count]);
        }
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        (self.child.wait().unwrap().code(), stdout, self.shown())
    }

    /// What the terminal got since the last answer, colours and other control characters included.
    pub(crate) fn received(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// What the terminal showed since the last answer, without colours.
    fn shown(&self) -> String {
        anstream::adapter::strip_str(&String::from_utf8_lossy(&self.seen)).to_string()
    }
}
