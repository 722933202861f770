//! How far a call has come.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::request::{Outgoing, ProgressUpdate};
use bowline_proto::sync::lock;
use tokio::time::Instant;

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

/// The least time between two reports: each one is a message, and users do not see more than a few
/// per second.
const PACE: Duration = Duration::from_millis(10);

/// Sends progress notifications to the caller, if the request has a progress token.
///
/// Reports that come too fast are left out, but never the one that completes; so a handler may
/// report as often as it likes.
///
/// ```
/// use bowline_server::Progress;
///
/// async fn process(progress: Progress) -> String {
///     let files = ["a.txt", "b.txt"];
///     let mut bar = progress.total(files.len());
///     for file in files {
///         // work on it
///         bar.inc(file);
///     }
///     format!("processed {} files", files.len())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Progress {
    call: Call,
    last: Arc<Mutex<LastReport>>,
}

/// What was last reported to the caller.
#[derive(Debug)]
struct LastReport {
    progress: f64,
    at: Option<Instant>,
}

impl FromCall for Progress {
    fn describe(_: &mut HandlerSignature) {}

    async fn from_call(call: &Call) -> Result<Self> {
        let last = LastReport { progress: f64::NEG_INFINITY, at: None };
        Ok(Self { call: call.clone(), last: Arc::new(Mutex::new(last)) })
    }
}

impl Progress {
    /// Begins to count towards a known end.
    pub fn total(&self, total: impl Amount) -> Bar {
        Bar { progress: self.clone(), done: 0.0, total: total.amount() }
    }

    /// Reports how much is done, of how much if that is known, and what is being done. An empty
    /// message is left out. A report that is not higher than the last one is dropped, and so are
    /// reports that follow each other too fast, except the final one.
    pub fn report(&self, done: impl Amount, total: Option<f64>, message: impl Into<String>) {
        if self.call.parts().progress.is_none() {
            return;
        }
        let progress = done.amount();
        if !self.is_due(progress, total) {
            return;
        }
        let message = Some(message.into()).filter(|message| !message.is_empty());
        self.call.send_if_room(Outgoing::Progress(ProgressUpdate { progress, total, message }));
    }

    fn is_due(&self, progress: f64, total: Option<f64>) -> bool {
        let mut last = lock(&self.last);
        let now = Instant::now();
        let is_last = total == Some(progress);
        let is_early = last.at.is_some_and(|at| now.duration_since(at) < PACE);
        if !progress.is_finite() || progress <= last.progress || (is_early && !is_last) {
            return false;
        }
        *last = LastReport { progress, at: Some(now) };
        true
    }
}

/// Counts towards a known end.
#[derive(Clone, Debug)]
pub struct Bar {
    progress: Progress,
    done: f64,
    total: f64,
}

impl Bar {
    /// Reports that one more is done, with a message.
    pub fn inc(&mut self, message: impl Into<String>) {
        self.add(1, message);
    }

    /// Reports that so much more is done, with a message.
    pub fn add(&mut self, more: impl Amount, message: impl Into<String>) {
        self.done += more.amount();
        self.progress.report(self.done, Some(self.total), message);
    }
}

/// A number that can count progress.
pub trait Amount: sealed::Sealed {
    /// As the number that is sent.
    fn amount(self) -> f64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! amount {
    ($($number:ty)*) => {
        $(
            impl sealed::Sealed for $number {}

            impl Amount for $number {
                fn amount(self) -> f64 {
                    self as f64
                }
            }
        )*
    };
}

amount!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
