//! Connects to a server over a transport: negotiates, then drives a [`ClientConnection`].
//!
//! [`connect`] spawns one task per connection, the driver. The caller gets a [`Link`], which sends
//! commands to that task. What the server asks or reports goes to the [`Host`].
//!
//! [`ClientConnection`]: bowline_proto::client::ClientConnection

mod driver;
mod error;
mod host;
mod layer;
mod link;
mod renew;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bowline_proto::client::ClientConfig;
use tokio::sync::{mpsc, oneshot, watch};

use self::driver::{Channel, Driver};
pub use self::error::ConnectError;
pub use self::host::{CallObserver, Host, QuestionAnswer};
pub use self::layer::{CallEnd, ClientLayer, ConnectionLayer};
use self::link::Shared;
pub use self::link::{Link, PendingCall, WeakLink};
use crate::error::Error;
use crate::transport::{Arrival, Destination, Reader, Transport};

/// Connects over a transport, and resolves when client and server agree on a revision.
///
/// The connection is driven by a task of the current Tokio runtime.
///
/// Dropping this future before it resolves ends the connection. Afterwards the [`Link`] keeps it
/// open.
///
/// # Errors
///
/// If the channel breaks before that, or the two sides have no revision in common.
pub async fn connect<T: Transport>(
    transport: T,
    config: Arc<ClientConfig>,
    host: Arc<dyn Host>,
) -> Result<Link, ConnectError> {
    let config = match is_mirrored::<T>() && !config.mirrors() {
        true => Arc::new(ClientConfig::clone(&config).with_mirrors()),
        false => config,
    };
    let limits = config.limits().clone();
    let renewal = transport.renewal();
    let layers = host.layers();
    let destination =
        if layers.is_empty() { Destination::default() } else { transport.destination() };
    let (reader, writer) = transport.split(&limits);
    let (commands, inbox) = mpsc::unbounded_channel();
    let (ready, agreed) = oneshot::channel();
    let (end, ended) = watch::channel(None);
    let driver = Driver::new(config, host, ready);
    let channel = Channel::<T> { reader, writer, renewal, limits };
    tokio::spawn(driver.drive(channel, inbox, end));
    // The driver always reports how the negotiation ended before it drops the sender.
    let profile = agreed.await.unwrap_or(Err(ConnectError::Closed(Error::closed())))?;
    let layers = layer::attach(&layers, (&profile, &destination), ended.clone());
    Ok(Link(Arc::new(Shared { commands, number: AtomicU64::new(0), profile, ended, layers })))
}

/// Whether the client attaches a [`Mirror`](bowline_proto::mirror::Mirror) to every message over a
/// transport.
pub fn is_mirrored<T: Transport>() -> bool {
    <T::Reader as Reader>::Item::MIRRORED
}
