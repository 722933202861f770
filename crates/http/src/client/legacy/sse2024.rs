//! The HTTP+SSE transport of 2024-11-05: one GET stream for everything that the server sends. Its
//! first event names the URL to post messages to. Deprecated; used for servers that support nothing
//! else.

use bowline_proto::codec::Received;
use bowline_proto::transmit::{FailureKind, SendFailure};
use tokio::time::timeout;

use super::super::address::Address;
use super::super::events::EventStream;
use super::super::reply::Reply;
use super::super::shared::Shared;

/// The GET stream.
pub(in super::super) struct MessageStream(EventStream);

/// Opens the stream and reads the URL for POSTs, to which all further messages go. `None` if the
/// server does not speak this transport. Any failure is `None`: the caller reports why the
/// handshake was refused, which says more.
pub(in super::super) async fn open(shared: &Shared) -> Option<MessageStream> {
    let reply = shared.get(None).await.ok().filter(Reply::is_stream)?;
    let mut events = reply.into_events(shared.body_limits());
    let event = timeout(shared.limits.idle, events.next()).await.ok()?.ok()?;
    let Received::Message(text) = event.data else { return None };
    let named = event.name.as_deref() == Some("endpoint");
    let reference = std::str::from_utf8(&text).ok().filter(|_| named)?;
    shared.post_to(within_origin(shared, reference.trim())?);
    Some(MessageStream(events))
}

/// Resolves the URL for POSTs. Another origin is refused, since it would get the client's headers.
fn within_origin(shared: &Shared, reference: &str) -> Option<Address> {
    let address = shared.address.join(reference).ok()?;
    shared.address.is_same_origin(&address).then_some(address)
}

impl MessageStream {
    /// Delivers all messages of the stream. The connection ends with the stream. A broken stream
    /// cannot be resumed, and without it no answer can come. So it ends the connection, with a
    /// failure that says why.
    pub(in super::super) async fn read(self, shared: &Shared) {
        let Self(mut events) = self;
        let ended = loop {
            match events.message().await {
                Ok(received) => shared.deliver(received).await,
                Err(ended) => break ended,
            }
        };
        let reason = format!("GET {}: {ended}", shared.address);
        let kind = FailureKind::Lost;
        shared.fail(SendFailure { id: None, kind, error: None, reason }).await;
        shared.end().await;
    }
}
