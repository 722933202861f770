//! Notifications of 2026-07-28. Those of extensions run a handler, in a task, because their POST is
//! answered at once.
//!
//! The task belongs to no session and no connection. It holds a slot like a call, so a caller gains
//! nothing by sending notifications, and it ends when the time of the endpoint to stop is over.

use std::sync::Arc;

use bowline_proto::frame::NotificationMessage;
use bowline_proto::request::Request;
use bowline_proto::server::{CallOrigin, Exchange};
use bowline_transport::task::spawn;
use bowline_types::error::ErrorObject;
use http::Response;

use super::super::body::Body;
use super::super::core::Core;
use super::super::inbound::Inbound;
use super::super::line::Line;
use super::super::places::Places;
use super::super::{calls, head, reply};
use super::ModernSink;

/// Answers a notification: 202, or the reason why it cannot be taken.
///
/// The specification has no notification that a server acts on, so all but those of extensions are
/// ignored. Whether the client declared the extension is checked by the service.
pub(in super::super) fn take_notification(
    core: &Arc<Core>,
    notification: NotificationMessage,
    inbound: &mut Inbound,
) -> Response<Body> {
    match run(core, notification, inbound) {
        Ok(()) => reply::accepted(),
        Err(error) => reply::refuse(None, &error),
    }
}

/// Runs the handler of a notification.
///
/// # Errors
///
/// If its `_meta` is incomplete, or no slot is free. Then no handler has run.
fn run(
    core: &Arc<Core>,
    notification: NotificationMessage,
    inbound: &mut Inbound,
) -> Result<(), ErrorObject> {
    let Some(method) = notification.extension_method() else { return Ok(()) };
    let spoken = core.server.revisions();
    let admitted = inbound.admit_notification(method, notification.params, spoken)?;
    let places = Places::of_calls(core, &inbound.caller, 1)?;
    // Nothing can be sent to the client: there is no stream.
    let sink = Arc::new(ModernSink(Line::new(core.limits().queue)));
    sink.0.close();
    let headers = Some(head::params(&inbound.parts.headers));
    let owner = inbound.owner();
    let origin = CallOrigin { owner, sink, attached: inbound.attach(), headers };
    let (_, request) = Exchange::open(core.number(), admitted, origin);
    spawn(run_to_end(places, request));
    Ok(())
}

/// Polls the handler until it ends, or the endpoint gives up.
async fn run_to_end(places: Places, request: Request) {
    let mut call = places.core().call(request);
    tokio::select! {
        _ = std::future::poll_fn(|cx| calls::poll(&mut call, cx)) => {}
        () = places.core().given_up() => {}
    }
}
