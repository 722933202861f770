//! Notices that a child failed although its output is still open: a process that it started, and
//! that outlives it, may hold the other end of the pipe.

use std::future::pending;
use std::time::Duration;

use tokio::time::sleep;

use super::process::Process;

/// How long output that the child wrote before its end may take to arrive.
const DRAIN: Duration = Duration::from_millis(100);

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
    pub(super) has_failed: bool,
}

impl ExitWatch {
    pub(super) fn new() -> Self {
        Self { signals: signals(), is_due: true, has_failed: false }
    }

    /// Waits until the child has exited with a failure, or was killed. All state is in `self`, so
    /// the future can be dropped at any time.
    pub(super) async fn failed(&mut self, process: &Process) {
        while !self.has_failed {
            if self.is_due {
                self.is_due = false;
                self.has_failed = process.has_failed();
                continue;
            }
            self.next().await;
            self.is_due = true;
        }
        sleep(DRAIN).await;
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
