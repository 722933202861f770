//! Turns panics into values, so that one bad call harms no other.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future panicked, and must not be polled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Polls a future, and catches its panic.
///
/// # Errors
///
/// If the future panicked. What it says is on standard error, and is not for the peer.
pub(crate) fn catch_poll<F: Future + Unpin>(
    future: &mut F,
    cx: &mut Context<'_>,
) -> Result<Poll<F::Output>, Panicked> {
    // Whatever the future left half-done is dropped with it, as it is never polled again.
    let poll = AssertUnwindSafe(|| Pin::new(future).poll(cx));
    catch_unwind(poll).map_err(|_| Panicked)
}
