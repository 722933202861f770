//! The times of calls, and their summary as a line of JSON.

use std::fmt;
use std::time::{Duration, Instant};

/// How long calls are made.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// Until so much time has passed.
    Time(Duration),
    /// Until there were so many.
    Calls(u64),
}

/// Counts the calls of one run, over all its connections.
#[derive(Debug)]
pub struct Run {
    begin: Instant,
    end: Option<Instant>,
    left: u64,
    took: Vec<u32>,
    notifications: usize,
}

impl Run {
    /// Begins now.
    pub fn begin(length: Length) -> Self {
        let begin = Instant::now();
        let (end, left) = match length {
            Length::Time(time) => (Some(begin + time), u64::MAX),
            Length::Calls(calls) => (None, calls),
        };
        Self { begin, end, left, took: Vec::with_capacity(1 << 16), notifications: 0 }
    }

    /// Counts one call off those that are left; false if there are none.
    pub fn may_call(&mut self, now: Instant) -> bool {
        if self.left == 0 || self.end.is_some_and(|end| end <= now) {
            return false;
        }
        self.left -= 1;
        true
    }

    /// Records the time of a call that was answered.
    pub fn answered(&mut self, took: Duration) {
        self.took.push(u32::try_from(took.as_nanos()).unwrap_or(u32::MAX));
    }

    /// Records the notifications before an answer.
    pub fn heard(&mut self, notifications: usize) {
        self.notifications += notifications;
    }

    /// Ends now.
    pub fn end(mut self) -> Figures {
        let seconds = self.begin.elapsed().as_secs_f64();
        self.took.sort_unstable();
        Figures { seconds, took: self.took, notifications: self.notifications }
    }
}

/// The figures of one run.
#[derive(Debug)]
pub struct Figures {
    seconds: f64,
    /// Nanoseconds, the shortest first.
    took: Vec<u32>,
    notifications: usize,
}

impl Figures {
    fn microseconds(&self, percent: usize) -> f64 {
        let place = self.took.len().saturating_sub(1) * percent / 100;
        self.took.get(place).map_or(0.0, |nanoseconds| f64::from(*nanoseconds) / 1e3)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (calls, seconds) = (self.took.len(), self.seconds);
        write!(
            out,
            r#"{{"calls":{calls},"seconds":{seconds:.6},"calls_per_second":{:.1},"p50_us":{:.1},"p90_us":{:.1},"p99_us":{:.1},"notifications":{}}}"#,
            calls as f64 / seconds,
            self.microseconds(50),
            self.microseconds(90),
            self.microseconds(99),
            self.notifications,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_calls_are_made_as_were_asked_for() {
        let mut run = Run::begin(Length::Calls(2));
        let now = Instant::now();
        assert!(run.may_call(now) && run.may_call(now) && !run.may_call(now));
    }

    #[test]
    fn the_median_is_the_middle() {
        let figures = Figures { seconds: 1.0, took: vec![1000, 2000, 3_000_000], notifications: 0 };
        assert_eq!(figures.microseconds(50), 2.0);
    }
}
