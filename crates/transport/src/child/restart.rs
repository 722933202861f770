//! Restarts servers that end by themselves, within bounds.
//!
//! The [`Restart`] is the setting; [`Respawn`] is what the driver asks when a server has ended:
//! whether to start it again, how long to wait, and then to do it.

use std::time::Duration;

use bowline_types::text::counted;
use tokio::time::Instant;

use super::{Child, Command};
use crate::error::Error;
use crate::transport::{Pause, Renewal};

/// How often and how soon a server that ends by itself is restarted; see [`Command::restart`].
///
/// The client stays connected. It negotiates with the new process, sets the log level, subscribes
/// again, and reports to each subscription that everything it covers may have changed. Calls that
/// were in flight fail, because they may have run. Calls made during the restart wait. State that
/// the server held in memory is lost, and it must speak the same revision as before. A server that
/// hangs is not restarted.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_transport::child::{Command, Restart};
///
/// let restart = Restart::default().attempts(3).pause(Duration::from_secs(1));
/// let server = Command::new("uvx").arg("mcp-server-git").restart(restart);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "it is to be given to `Command::restart`"]
pub struct Restart {
    attempts: usize,
    pause: Duration,
    longest_pause: Duration,
    healthy_after: Duration,
}

impl Default for Restart {
    /// Five times in a row, after 0.5, 1, 2, 4 and 8 seconds.
    fn default() -> Self {
        Self {
            attempts: 5,
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            healthy_after: Duration::from_secs(60),
        }
    }
}

impl Restart {
    /// Sets how often in a row the server is restarted: five times unless set, at least once.
    pub fn attempts(mut self, attempts: usize) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets the pause before the first restart in a row: half a second unless set. Each further
    /// pause is twice as long as the one before.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Sets the longest pause: thirty seconds, unless set.
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }

    /// Sets how long a server must run until the count of restarts in a row begins anew: a minute,
    /// unless set.
    pub fn healthy_after(mut self, duration: Duration) -> Self {
        self.healthy_after = duration;
        self
    }

    /// The pause before the `attempt`th restart in a row, the first being 1. Doubles, so that a
    /// server which fails at once is not started in a tight loop.
    fn pause_before(&self, attempt: usize) -> Duration {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
        self.pause.saturating_mul(factor).min(self.longest_pause)
    }
}

/// Restarts a command: the [`Renewal`] of a [`Child`]. Lives as long as the connection and counts
/// over all processes of it.
#[derive(Clone, Debug)]
pub(super) struct Respawn {
    command: Command,
    restart: Restart,
    /// How often it was restarted in a row.
    attempts: usize,
    started: Instant,
}

impl Respawn {
    pub(super) fn new(command: Command, restart: Restart) -> Self {
        Self { command, restart, attempts: 0, started: Instant::now() }
    }
}

impl Renewal<Child> for Respawn {
    fn pause(&mut self, lost: Error) -> Result<Pause, Error> {
        let Restart { attempts: most, healthy_after, .. } = self.restart;
        if self.started.elapsed() >= healthy_after {
            self.attempts = 0;
        }
        if self.attempts >= most {
            let times = counted(self.attempts, "time");
            return Err(Error::exited(format!("{lost}; it was started again {times} in a row")));
        }
        self.attempts += 1;
        let duration = self.restart.pause_before(self.attempts);
        let reason = format!("{lost}; it is started again (attempt {} of {most})", self.attempts);
        Ok(Pause { duration, reason })
    }

    fn open(&mut self) -> Result<Child, Error> {
        self.started = Instant::now();
        self.command.start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited() -> Error {
        Error::exited("the server `x` exited with status 1".to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_until_the_last_attempt_or_until_a_server_was_healthy() {
        let restart = Restart::default().attempts(3).longest_pause(Duration::from_millis(1500));
        let mut respawn = Respawn::new(Command::new("x"), restart);
        let mut pauses = || respawn.pause(exited()).map(|pause| pause.duration.as_millis());
        assert_eq!([pauses(), pauses(), pauses()].map(Result::unwrap), [500, 1000, 1500]);
        let error = pauses().unwrap_err();
        let expected = "the server `x` exited with status 1; it was started again 3 times in a row";
        assert_eq!(error.to_string(), expected);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(pauses().unwrap(), 500);
    }

    #[test]
    fn no_number_of_attempts_is_too_large_for_a_pause() {
        let restart = Restart::default().attempts(usize::MAX);
        assert_eq!(restart.pause_before(usize::MAX), Duration::from_secs(30));
        assert_eq!(Restart::default().attempts(0).attempts, 1);
    }
}
