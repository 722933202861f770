//! Lets the operator of a server learn why tokens could not be verified.
//!
//! The caller sees 503 and a fixed sentence, because the reason is about the operator's network.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bowline_proto::sync::lock;
use bowline_types::text::{in_one_line, with_causes};

use crate::error::Error;

/// The least time between two lines on standard error.
const LINE_PAUSE: Duration = Duration::from_secs(30);

/// Where the reasons go: to a function, or by default to standard error.
#[derive(Clone, Default)]
pub(super) struct FailureHook {
    function: Option<Arc<FailureFn>>,
    /// When the last line was written.
    written: Arc<Mutex<Option<SystemTime>>>,
}

type FailureFn = dyn Fn(&Error) + Send + Sync;

impl FailureHook {
    /// Gives every reason to a function.
    pub(super) fn calling(function: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self { function: Some(Arc::new(function)), written: Arc::default() }
    }

    /// Passes a reason on.
    #[cold]
    pub(super) fn report(&self, issuer: &str, error: &Error, now: SystemTime) {
        match &self.function {
            Some(function) => function(error),
            None if self.may_write(now) => eprintln!("{}", line(issuer, error)),
            None => {}
        }
    }

    /// Whether the last line is old enough. A clock that was set back does not stop lines.
    fn may_write(&self, now: SystemTime) -> bool {
        let mut written = lock(&self.written);
        let is_recent = |at: SystemTime| at <= now && now < at + LINE_PAUSE;
        let may_write = !written.is_some_and(is_recent);
        if may_write {
            *written = Some(now);
        }
        may_write
    }
}

/// The reason with its causes, in one line. An authorization server may have written a part of it.
fn line(issuer: &str, error: &Error) -> String {
    let error = with_causes(error);
    in_one_line(&format!("access tokens of {issuer} cannot be verified: {error}"))
}

impl fmt::Debug for FailureHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FailureHook")
    }
}

/// The setting of a [`FailureHook`], as a method of a verifier with a field `failures`.
macro_rules! failure_methods {
    () => {
        /// Calls a function with each reason why tokens could not be verified now: no key can be
        /// fetched, or the authorization server does not answer. Callers see 503 and no reason.
        ///
        /// Without it, the reason is written to standard error, at most every 30 seconds.
        #[must_use]
        pub fn on_unavailable(
            mut self,
            function: impl Fn(&crate::error::Error) + Send + Sync + 'static,
        ) -> Self {
            self.failures = super::failures::FailureHook::calling(function);
            self
        }
    };
}

pub(super) use failure_methods;

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn a_flood_of_failures_is_no_flood_of_lines() {
        let hook = FailureHook::default();
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(1000 + seconds);
        let written = [0, 1, 29, 30, 31, 10, 39, 40].map(|seconds| hook.may_write(at(seconds)));
        assert_eq!(written, [true, false, false, true, false, true, false, true]);
    }

    #[test]
    fn a_line_names_the_issuer_and_every_cause() {
        let error = Error::fetch("`https://as.example` did not answer");
        let error = error.with_source(std::io::Error::other("connection refused"));
        let expected = "access tokens of https://as.example cannot be verified: \
                        `https://as.example` did not answer: connection refused";
        assert_eq!(line("https://as.example", &error), expected);
    }

    #[test]
    fn a_line_commands_no_terminal_and_stays_one() {
        let error = Error::fetch("`\u{1b}[2J`: no key\nall is well\u{202e}");
        let expected = "access tokens of a cannot be verified: \
                        `\\u{1b}[2J`: no key\\nall is well\\u{202e}";
        assert_eq!(line("a", &error), expected);
    }
}
