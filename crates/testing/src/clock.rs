//! Virtual time: a clock for sans-IO tests, and control over tokio's paused time.
//!
//! A sans-IO connection takes the time as a parameter, so [`Clock`] is enough there. Tests with a
//! runtime and real sockets pause tokio's time and run inside [`with_frozen_time`].
//!
//! No test of this workspace waits in real time for something to be due. Timeouts of minutes are
//! tested by moving the clock, which takes no time and never flakes.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::task::{spawn_blocking, yield_now};

/// A clock that moves only when the test moves it. Copied into both ends of a
/// [`Pair`](crate::pair::Pair), which keeps them equal.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_testing::clock::Clock;
///
/// let mut clock = Clock::new();
/// let start = clock.now();
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now() - start, Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    now: Instant,
}

impl Clock {
    /// Starts at an arbitrary instant.
    pub fn new() -> Self {
        Self { now: Instant::now() }
    }

    /// Moves the clock forward.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// Returns the current virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// How often all other tasks are polled between two steps of [`advance`].
const ROUNDS: usize = 16;

/// The step of [`advance`]. It is small, so that a timer that starts another one does not delay it.
const STEP: Duration = Duration::from_millis(100);

/// The maximum number of steps of [`advance`]; a longer time has larger steps.
const STEPS: u32 = 1000;

/// Runs `work` while the paused time of the runtime moves only by [`advance`].
///
/// A paused runtime advances its time whenever all tasks are idle. It does not know that bytes are
/// in a socket, so timeouts would fire before the bytes arrive. Inside this function they do not.
///
/// # Errors
///
/// Fails after `limit` of real time.
pub async fn with_frozen_time<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, TimeLimitExceeded> {
    // While a blocking task runs, a paused runtime does not advance its time. This blocking task
    // runs until the work is done, and also measures the limit.
    let (done, is_done) = mpsc::channel::<()>();
    let alarm = spawn_blocking(move || is_done.recv_timeout(limit));
    let result = tokio::select! {
        biased;
        result = work => Ok(result),
        _ = alarm => Err(TimeLimitExceeded { limit }),
    };
    drop(done);
    result
}

/// Advances the virtual time inside [`with_frozen_time`]. All tasks are polled between two steps,
/// so that a timer that fires can cause work, and that work another timer.
pub async fn advance(time: Duration) {
    let step = STEP.max(time / STEPS);
    let mut rest = time;
    while !rest.is_zero() {
        tokio::time::advance(step.min(rest)).await;
        rest = rest.saturating_sub(step);
        settle().await;
    }
}

/// Lets all other tasks run until they have had several turns.
async fn settle() {
    for _ in 0..ROUNDS {
        yield_now().await;
    }
}

/// Work inside [`with_frozen_time`] took longer than its limit of real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimitExceeded {
    limit: Duration,
}

impl std::fmt::Display for TimeLimitExceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the work did not end within {:?} of real time", self.limit)
    }
}

impl std::error::Error for TimeLimitExceeded {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn frozen_time_moves_only_by_advance() {
        let begin = tokio::time::Instant::now();
        let held = with_frozen_time(Duration::from_secs(60), async {
            let sleeper = tokio::spawn(tokio::time::sleep(Duration::from_secs(10)));
            settle().await;
            assert!(!sleeper.is_finished());
            advance(Duration::from_secs(10)).await;
            assert!(sleeper.is_finished());
        });
        held.await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_never_ends_fails_after_the_limit() {
        let held = with_frozen_time(Duration::from_millis(10), std::future::pending::<()>());
        assert!(held.await.unwrap_err().to_string().contains("10ms"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_is_started_by_another_timer_fires_on_time() {
        let held = with_frozen_time(Duration::from_secs(60), async {
            let ticks = tokio::spawn(async {
                for _ in 0..10 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
            advance(Duration::from_secs(11)).await;
            assert!(ticks.is_finished());
        });
        held.await.unwrap();
    }
}
