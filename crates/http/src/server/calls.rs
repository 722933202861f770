//! Calls that are polled in place, without a task.
//!
//! Both eras poll the handler from the answer that waits for it. That saves a task and a channel
//! for each call, and it makes cancelling simple: dropping the answer drops the handler.

use std::task::{Context, Poll};

use bowline_proto::request::Response as Outcome;
use bowline_proto::sync::catch_poll;
use bowline_transport::BoxFuture;
use bowline_types::error::ErrorObject;

/// Polls a call. A panic becomes an error of this call alone; the call must not be polled again.
/// The text of the panic is not sent to the client; it may hold secrets.
pub(super) fn poll(call: &mut BoxFuture<Outcome>, cx: &mut Context<'_>) -> Poll<Outcome> {
    catch_poll(call, cx).unwrap_or_else(|_| {
        Poll::Ready(Err(ErrorObject::internal("the server failed while it served this call")))
    })
}
