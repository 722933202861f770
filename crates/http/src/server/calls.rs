//! Calls that are polled in place, without a task.

use std::task::{Context, Poll};

use bowline_proto::request::Response as Outcome;
use bowline_proto::sync::catch_poll;
use bowline_transport::BoxFuture;
use bowline_types::error::ErrorObject;

/// Polls a call. A panic becomes an error of this call alone; the call must not be polled again.
pub(super) fn poll(call: &mut BoxFuture<Outcome>, cx: &mut Context<'_>) -> Poll<Outcome> {
    catch_poll(call, cx).unwrap_or_else(|_| {
        Poll::Ready(Err(ErrorObject::internal("the server failed while it served this call")))
    })
}
