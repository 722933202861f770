//! Shows every message of a transport to a callback, for recording, tracing and tests.
//!
//! It sees what really goes over the channel: text, in both eras, after the connection has written
//! it. Failures of single messages, as HTTP has them, are not shown.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;

use crate::error::Error;
use crate::transport::{
    Arrival, Destination, Pause, PeerIdentity, Reader, Renewal, Transport, Writer,
};

/// Which way a message goes, seen from the tapped side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapDirection {
    /// From the peer.
    Received,
    /// To the peer.
    Sent,
}

/// A transport that shows each message to a callback before passing it on.
///
/// Messages come without their line end. Of a message over the size limit only the beginning is
/// shown, since the rest is not kept. The callback runs inside reads and writes and must not block.
///
/// ```
/// use bowline_transport::duplex::duplex;
/// use bowline_transport::tap::Tap;
///
/// let (client, _server) = duplex();
/// let client = Tap::new(client, |direction, text| {
///     eprintln!("{direction:?} {}", String::from_utf8_lossy(text));
/// });
/// # let _ = client;
/// ```
pub struct Tap<T, F> {
    inner: T,
    show: Arc<F>,
}

impl<T, F> Tap<T, F>
where
    F: Fn(TapDirection, &[u8]) + Send + Sync + 'static,
{
    /// Wraps a transport.
    pub fn new(inner: T, show: F) -> Self {
        Self { inner, show: Arc::new(show) }
    }
}

impl<T, F> Transport for Tap<T, F>
where
    T: Transport,
    F: Fn(TapDirection, &[u8]) + Send + Sync + 'static,
{
    type Reader = TapReader<T::Reader, F>;
    type Writer = TapWriter<T::Writer, F>;

    fn renewal(&self) -> Option<Box<dyn Renewal<Self>>> {
        let inner = self.inner.renewal()?;
        Some(Box::new(TapRenewal { inner, show: Arc::clone(&self.show) }))
    }

    fn destination(&self) -> Destination {
        self.inner.destination()
    }

    fn peer_identity(&self) -> PeerIdentity {
        self.inner.peer_identity()
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (reader, writer) = self.inner.split(limits);
        let reader = TapReader { inner: reader, show: Arc::clone(&self.show) };
        let writer = TapWriter { inner: writer, show: self.show, shown: VecDeque::new() };
        (reader, writer)
    }
}

/// Opens the tapped transport again.
struct TapRenewal<T, F> {
    inner: Box<dyn Renewal<T>>,
    show: Arc<F>,
}

impl<T, F: Send + Sync> Renewal<Tap<T, F>> for TapRenewal<T, F> {
    fn pause(&mut self, lost: Error) -> Result<Pause, Error> {
        self.inner.pause(lost)
    }

    fn open(&mut self) -> Result<Tap<T, F>, Error> {
        Ok(Tap { inner: self.inner.open()?, show: Arc::clone(&self.show) })
    }
}

/// The receiving half of a [`Tap`]. Shows a message when it is read, before the connection has
/// looked at it.
pub struct TapReader<R, F> {
    inner: R,
    show: Arc<F>,
}

impl<R, F> Reader for TapReader<R, F>
where
    R: Reader,
    F: Fn(TapDirection, &[u8]) + Send + Sync + 'static,
{
    type Item = R::Item;

    async fn read(&mut self) -> Result<Option<R::Item>, Error> {
        let arrived = self.inner.read().await?;
        if let Some(text) = arrived.as_ref().and_then(Arrival::text) {
            (self.show)(TapDirection::Received, text);
        }
        Ok(arrived)
    }
}

/// The sending half of a [`Tap`].
pub struct TapWriter<W, F> {
    inner: W,
    show: Arc<F>,
    /// Messages that were shown and that the inner writer has not taken yet. They are kept apart
    /// from the caller's queue, so that a write that is dropped and retried shows none twice.
    shown: VecDeque<Transmit>,
}

impl<W, F> Writer for TapWriter<W, F>
where
    W: Writer,
    F: Fn(TapDirection, &[u8]) + Send + Sync + 'static,
{
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        for transmit in queue.drain(..) {
            (self.show)(TapDirection::Sent, &transmit.frame);
            self.shown.push_back(transmit);
        }
        self.inner.write(&mut self.shown).await
    }

    async fn close(&mut self) {
        self.inner.close().await;
    }
}

impl<T: fmt::Debug, F> fmt::Debug for Tap<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<R: fmt::Debug, F> fmt::Debug for TapReader<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapReader").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<W: fmt::Debug, F> fmt::Debug for TapWriter<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapWriter").field("inner", &self.inner).finish_non_exhaustive()
    }
}
