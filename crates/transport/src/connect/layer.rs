//! Code around the calls of a client: traces, metrics, changes of `_meta`.
//!
//! A [`ClientLayer`] belongs to the application. Each connection that it opens gets a
//! [`ConnectionLayer`], and each call of that connection a [`CallEnd`].

use std::sync::Arc;

use bowline_proto::client::{CallAnswer, CallError, CallRequest, ServerProfile};
use tokio::sync::watch;

use crate::error::Error;
use crate::transport::Destination;

/// Code around all connections of an application. The [`Host`](super::Host) names the layers.
pub trait ClientLayer: Send + Sync + 'static {
    /// Client and server agreed on a revision.
    fn connected(
        &self,
        server: &ServerProfile,
        destination: &Destination,
    ) -> Arc<dyn ConnectionLayer>;
}

impl<L: ClientLayer + ?Sized> ClientLayer for Arc<L> {
    fn connected(
        &self,
        server: &ServerProfile,
        destination: &Destination,
    ) -> Arc<dyn ConnectionLayer> {
        (**self).connected(server, destination)
    }
}

/// Code around the calls of one connection.
pub trait ConnectionLayer: Send + Sync + 'static {
    /// A call is about to be sent, in the task of its caller. The layer may change it, mostly its
    /// `_meta`. Layers are called in the order in which they were added.
    ///
    /// Returns what is to know the end of the call.
    fn begin(&self, request: &mut CallRequest) -> Option<Box<dyn CallEnd>>;

    /// The connection has ended, with an error if it broke.
    fn ended(&self, _error: Option<&Error>) {}
}

/// What is to know the end of a call. Dropped without [`end`](Self::end) if the caller dropped the
/// call, which cancels it.
pub trait CallEnd: Send + Sync + 'static {
    /// The call was answered, or failed.
    fn end(self: Box<Self>, outcome: &Result<CallAnswer, CallError>);
}

/// The layers of a connection. Most clients have none, and then nothing is allocated.
pub(super) type Layers = Vec<Arc<dyn ConnectionLayer>>;

/// Makes the layers of a connection, and reports its end to them.
pub(super) fn attach(
    layers: &[Arc<dyn ClientLayer>],
    (server, destination): (&ServerProfile, &Destination),
    mut ended: watch::Receiver<Option<Arc<Error>>>,
) -> Layers {
    let layers: Layers = layers.iter().map(|layer| layer.connected(server, destination)).collect();
    if !layers.is_empty() {
        let layers = layers.clone();
        tokio::spawn(async move {
            // The driver drops the sender when everything is over.
            while ended.changed().await.is_ok() {}
            let error = ended.borrow().clone();
            layers.iter().for_each(|layer| layer.ended(error.as_deref()));
        });
    }
    layers
}
