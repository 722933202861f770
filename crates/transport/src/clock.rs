//! The time of the Tokio runtime, which tests pause and advance.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

/// The current time, as the sans-IO connections take it.
pub(crate) fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Waits until a deadline; forever without one.
pub(crate) async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
