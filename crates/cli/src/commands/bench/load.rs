//! The load: workers that send one request after another.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bowline::Client;
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use hdrhistogram::Histogram;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::exit::{Exit, Failure};
use crate::print::bar::Bar;
use crate::print::{self, lines, text};

/// What every request is.
#[derive(Debug)]
pub(super) enum Work {
    /// A request that does nothing, by the name that it has in the revision.
    Ping(&'static str),
    Tool {
        name: String,
        arguments: Object,
    },
}

impl Work {
    pub(super) fn ping(revision: Revision) -> Self {
        let method = match Method::Ping.is_from_client(revision) {
            true => Method::Ping,
            false => Method::ServerDiscover,
        };
        Self::Ping(method.name())
    }

    /// Sends one request, and waits for the answer.
    ///
    /// # Errors
    ///
    /// If there is none, or it is an error.
    pub(super) async fn once(&self, client: &Client) -> Result<(), Failure> {
        let Self::Tool { name, arguments } = self else { return Ok(client.ping().await?) };
        let outcome = client.call(name, arguments).await?;
        match outcome.is_error() {
            true => {
                Err(Failure::new(Exit::Refused, text!("`{name}` failed: ") + lines(outcome.text())))
            }
            false => Ok(()),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ping(method) => f.write_str(method),
            Self::Tool { name, .. } => write!(f, "tools/call {name}"),
        }
    }
}

/// A load, and what came of it.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) work: Work,
    pub(super) tally: Mutex<Tally>,
    pub(super) took: Duration,
    count: u64,
    time: Duration,
    /// Requests that workers have taken on.
    taken: AtomicU64,
    bar: Bar,
}

/// The bar for a terminal of this width. It has one line.
fn bar_template(columns: u16) -> &'static str {
    match columns {
        0..80 => "{wide_bar} {pos}/{len} {elapsed}",
        _ => "{bar:30} {pos}/{len}  {per_sec}  {elapsed} of {msg}",
    }
}

/// What came of the requests.
#[derive(Debug)]
pub(super) struct Tally {
    /// The times of the successful ones, in microseconds.
    pub(super) times: Histogram<u64>,
    pub(super) failed: u64,
    /// Those without an answer when the time was up.
    pub(super) unfinished: u64,
    pub(super) first_failure: Option<String>,
}

impl Load {
    pub(super) fn new(work: Work, count: u64, time: Duration) -> Self {
        let bar = Bar::new(bar_template(print::errors_size().1.unwrap_or(80)), Some(count));
        bar.message(text!("{}s", time.as_secs_f64()));
        let tally = Tally {
            // Up to an hour, with three digits; longer times count as an hour.
            times: Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are valid"),
            failed: 0,
            unfinished: 0,
            first_failure: None,
        };
        Self {
            work,
            tally: Mutex::new(tally),
            took: Duration::ZERO,
            count,
            time,
            taken: AtomicU64::new(0),
            bar,
        }
    }

    /// Puts the load on the server: concurrent requests of this number, until the count or the time is used
    /// up, or the connection is lost.
    pub(super) async fn run(self, client: &Client, workers: u64) -> Self {
        let begin = Instant::now();
        let end = begin + self.time;
        let load = Arc::new(self);
        let mut running = JoinSet::new();
        for _ in 0..workers.min(load.count) {
            let (client, load) = (client.clone(), load.clone());
            running.spawn(async move { load.work_until(end, &client).await });
        }
        while running.join_next().await.is_some() {}
        load.bar.clear();
        let mut load = Arc::into_inner(load).expect("all workers have ended");
        load.took = begin.elapsed();
        load
    }

    async fn work_until(&self, end: Instant, client: &Client) {
        while self.taken.fetch_add(1, Ordering::Relaxed) < self.count && !client.is_closed() {
            let begin = Instant::now();
            if begin >= end {
                return;
            }
            let outcome = timeout_at(end, self.work.once(client)).await;
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(Ok(())) => tally.times.saturating_record(microseconds(begin.elapsed())),
                Ok(Err(failure)) => {
                    tally.failed += 1;
                    tally.first_failure.get_or_insert_with(|| failure.to_string());
                }
                Err(_) => tally.unfinished += 1,
            }
            self.bar.advance();
        }
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1)
}
