//! The transport of 2024-11-05: one stream for all that the server says, which first names where
//! messages are to be posted. Deprecated by the protocol; for servers that know nothing else.

use bowline_proto::codec::Unit;
use bowline_proto::transmit::{FailureKind, SendFailure};
use tokio::time::timeout;

use super::super::address::Address;
use super::super::events::Events;
use super::super::reply::Reply;
use super::super::shared::Shared;

/// The one stream.
pub(in super::super) struct Stream(Events);

/// Opens the stream, if there is one that says where to post. All further messages go there.
pub(in super::super) async fn open(shared: &Shared) -> Option<Stream> {
    let reply = shared.get(None).await.ok().filter(Reply::is_stream)?;
    let mut events = reply.into_events(shared);
    let event = timeout(shared.limits.idle, events.next()).await.ok()?.ok()?;
    let Unit::Text(text) = event.unit else { return None };
    let named = event.name.as_deref() == Some("endpoint");
    let reference = std::str::from_utf8(&text).ok().filter(|_| named)?;
    shared.post_to(within_origin(shared, reference.trim())?);
    Some(Stream(events))
}

/// The address that a server names; another origin would get what is meant for this one.
fn within_origin(shared: &Shared, reference: &str) -> Option<Address> {
    let address = shared.address.join(reference).ok()?;
    shared.address.is_same_origin(&address).then_some(address)
}

impl Stream {
    /// Hands on all that the server says. With the stream, the connection ends.
    pub(in super::super) async fn read(self, shared: &Shared) {
        let Self(mut events) = self;
        let ended = loop {
            match events.message().await {
                Ok(unit) => shared.give(unit).await,
                Err(ended) => break ended,
            }
        };
        let reason = format!("GET {}: {ended}", shared.address);
        let kind = FailureKind::Lost;
        shared.fail(SendFailure { id: None, kind, error: None, reason }).await;
        shared.end().await;
    }
}
