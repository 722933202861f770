//! Notices that a child failed although its output is still open: a process that it started, and
//! that outlives it, may hold the other end of the pipe.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::process::Process;

/// How long output that the child wrote before its end may take to arrive.
const DRAIN: Duration = Duration::from_millis(100);
/// How long output is read in all after the end of the child: a process that outlives it may go on
/// writing.
const LONGEST_DRAIN: Duration = Duration::from_secs(1);

/// The signals that report ends of children.
#[cfg(unix)]
type Signals = tokio::signal::unix::Signal;
#[cfg(not(unix))]
type Signals = std::convert::Infallible;

/// Waits for the failure of one child.
#[derive(Debug)]
pub(super) struct ExitWatch {
    /// `None` if the system reports no ends; then only the end of the output tells.
    signals: Option<Signals>,
    /// Whether the child must be looked at: an end before the first signal has none.
    is_due: bool,
    /// When no output is read any longer. Set when the child has failed.
    until: Option<Instant>,
}

impl ExitWatch {
    pub(super) fn new() -> Self {
        Self { signals: signals(), is_due: true, until: None }
    }

    /// Whether the child is known to have failed.
    pub(super) fn has_failed(&self) -> bool {
        self.until.is_some()
    }

    /// Waits until the child has exited with a failure, or was killed, and its output has had time to
    /// arrive. All state is in `self`, so the future can be dropped at any time.
    pub(super) async fn failed(&mut self, process: &Process) {
        let until = loop {
            if let Some(until) = self.until {
                break until;
            }
            if !self.is_due {
                self.next().await;
            }
            self.is_due = false;
            if process.has_failed() {
                self.until = Some(Instant::now() + LONGEST_DRAIN);
            }
        };
        sleep_until(until.min(Instant::now() + DRAIN)).await;
    }

    /// Waits until a child of this process has ended.
    #[cfg(unix)]
    async fn next(&mut self) {
        if let Some(signals) = &mut self.signals
            && signals.recv().await.is_some()
        {
            return;
        }
        pending::<()>().await;
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        pending::<()>().await;
    }
}

#[cfg(unix)]
fn signals() -> Option<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::child()).ok()
}

#[cfg(not(unix))]
fn signals() -> Option<Signals> {
    None
}
