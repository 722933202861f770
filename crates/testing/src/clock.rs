//! Virtual time, for machines that are told the time and for runtimes that keep it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::task::{spawn_blocking, yield_now};

/// The time as a sans-IO test tells it.
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
    /// A clock that shows some instant and does not run.
    pub fn new() -> Self {
        Self { now: Instant::now() }
    }

    /// Lets time go by.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// What the clock shows.
    pub fn now(&self) -> Instant {
        self.now
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// How often everything else runs between two steps of [`pass`].
const ROUNDS: usize = 16;

/// The step in which [`pass`] moves, so that timers that follow each other fire when they should.
const STEP: Duration = Duration::from_millis(100);

/// The most steps that [`pass`] takes; a longer time has larger ones.
const STEPS: u32 = 1000;

/// Does some work while the paused time of the runtime stands still, and moves only with
/// [`pass`]; gives up after `limit` of real time.
///
/// A paused runtime moves its time on whenever it has nothing to do, and it does not know that
/// bytes are on their way through a socket. Held still, it does not matter how long they take.
///
/// # Errors
///
/// If the limit is over.
pub async fn hold_still<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Stuck> {
    // While a blocking task runs, a paused runtime does not move its time by itself. This one
    // waits for the work to be over and is the alarm at the same time.
    let (done, waits) = mpsc::channel::<()>();
    let alarm = spawn_blocking(move || waits.recv_timeout(limit));
    let result = tokio::select! {
        biased;
        result = work => Ok(result),
        _ = alarm => Err(Stuck { limit }),
    };
    drop(done);
    result
}

/// Lets virtual time go by that is held still.
pub async fn pass(time: Duration) {
    let step = STEP.max(time / STEPS);
    let mut rest = time;
    while !rest.is_zero() {
        tokio::time::advance(step.min(rest)).await;
        rest = rest.saturating_sub(step);
        settle().await;
    }
}

async fn settle() {
    for _ in 0..ROUNDS {
        yield_now().await;
    }
}

/// Some work did not come to its end in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    limit: Duration,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "nothing happened any more; given up after {:?}", self.limit)
    }
}

impl std::error::Error for Stuck {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_is_held_still_moves_only_when_told() {
        let begin = tokio::time::Instant::now();
        let held = hold_still(Duration::from_secs(60), async {
            let sleeper = tokio::spawn(tokio::time::sleep(Duration::from_secs(10)));
            settle().await;
            assert!(!sleeper.is_finished());
            pass(Duration::from_secs(10)).await;
            assert!(sleeper.is_finished());
        });
        held.await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_never_ends_is_given_up() {
        let held = hold_still(Duration::from_millis(10), std::future::pending::<()>());
        assert!(held.await.unwrap_err().to_string().contains("10ms"));
    }

    #[tokio::test(start_paused = true)]
    async fn timers_that_follow_each_other_all_fire() {
        let held = hold_still(Duration::from_secs(60), async {
            let ticks = tokio::spawn(async {
                for _ in 0..10 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
            pass(Duration::from_secs(11)).await;
            assert!(ticks.is_finished());
        });
        held.await.unwrap();
    }
}
