//! The figures of a measurement, as text and as JSON.

use std::sync::PoisonError;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::load::Load;
use crate::exit::Exit;
use crate::print::{BOLD, TerminalText, WARNING, line, lines, text};

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Subject {
    pub(super) target: String,
    pub(super) revision: String,
    pub(super) transport: &'static str,
    pub(super) request: String,
    pub(super) concurrency: u64,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    subject: Subject,
    requests: u64,
    succeeded: u64,
    failed: u64,
    unfinished: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_failure: Option<String>,
    seconds: f64,
    per_second: f64,
    /// Of the successful requests. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_microseconds: Option<Latency>,
}

#[derive(Debug, Serialize)]
struct Latency {
    min: u64,
    mean: u64,
    p50: u64,
    p90: u64,
    p99: u64,
    #[serde(rename = "p99.9")]
    p999: u64,
    max: u64,
}

impl Figures {
    pub(super) fn of(subject: Subject, load: &Load) -> Self {
        let tally = load.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = load.took.as_secs_f64();
        let succeeded = tally.times.len();
        Self {
            subject,
            requests: succeeded + tally.failed + tally.unfinished,
            succeeded,
            failed: tally.failed,
            unfinished: tally.unfinished,
            first_failure: tally.first_failure.clone(),
            seconds: rounded(seconds, 1000.0),
            per_second: rounded(succeeded as f64 / seconds, 10.0),
            latency_microseconds: Latency::of(&tally.times),
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self {
            Self { failed: 1.., .. } => Exit::Refused,
            Self { succeeded: 0, .. } => Exit::Timeout,
            _ => Exit::Done,
        }
    }

    /// The figures for people.
    pub(super) fn shown(&self) -> TerminalText {
        let Subject { target, revision, transport, request, concurrency } = &self.subject;
        let about = text!(": {request} over {transport}, {revision}, {concurrency} at a time");
        let mut out = BOLD.on(line(target)) + about + "\n";
        let mut line = |name: &str, value: String| {
            out += text!("  {name:<10}  {value:>10}") + "\n";
        };
        line("requests", grouped(self.requests));
        line("time", readable(Duration::from_secs_f64(self.seconds)));
        line("per second", grouped(self.per_second.round() as u64));
        if let Some(latency) = &self.latency_microseconds {
            for (name, value) in latency.lines() {
                line(name, readable(Duration::from_micros(value)));
            }
        }
        if self.unfinished > 0 {
            line("unfinished", grouped(self.unfinished));
        }
        if self.failed > 0 {
            line("failed", grouped(self.failed));
        }
        if let Some(failure) = &self.first_failure {
            out += WARNING.on("first failure:") + " " + lines(failure) + "\n";
        }
        out
    }
}

impl Latency {
    fn of(times: &Histogram<u64>) -> Option<Self> {
        (!times.is_empty()).then(|| Self {
            min: times.min(),
            mean: times.mean().round() as u64,
            p50: times.value_at_quantile(0.5),
            p90: times.value_at_quantile(0.9),
            p99: times.value_at_quantile(0.99),
            p999: times.value_at_quantile(0.999),
            max: times.max(),
        })
    }

    fn lines(&self) -> [(&'static str, u64); 6] {
        [
            ("mean", self.mean),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p999),
            ("max", self.max),
        ]
    }
}

fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

/// A time with three digits and a fitting unit.
fn readable(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (number, unit) = match seconds {
        it if it < 0.001 => return format!("{} µs", time.as_micros()),
        it if it < 1.0 => (it * 1000.0, "ms"),
        it => (it, "s"),
    };
    let digits = match number {
        it if it < 10.0 => 2,
        it if it < 100.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$} {unit}")
}

/// A number with a comma after every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        for (micros, shown) in [
            (7, "7 µs"),
            (999, "999 µs"),
            (1_234, "1.23 ms"),
            (45_600, "45.6 ms"),
            (789_000, "789 ms"),
            (1_500_000, "1.50 s"),
            (120_000_000, "120 s"),
        ] {
            assert_eq!(readable(Duration::from_micros(micros)), shown);
        }
    }
}
