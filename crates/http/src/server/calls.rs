//! Calls that are polled in place, without a task.

use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};

use bowline_proto::request::Response as Outcome;
use bowline_transport::BoxFuture;
use bowline_types::error::ErrorObject;

/// Polls a call. A panic becomes an error of this call alone; the call must not be polled again.
pub(super) fn poll(call: &mut BoxFuture<Outcome>, cx: &mut Context<'_>) -> Poll<Outcome> {
    let polled = std::panic::catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx)));
    polled.unwrap_or_else(|_| {
        Poll::Ready(Err(ErrorObject::internal("the server failed while it served this call")))
    })
}
