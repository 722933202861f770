//! The time, read from the runtime so that tests can move it.

use std::time::Instant;

/// Now, by the clock of the tokio runtime.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
