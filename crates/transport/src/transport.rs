//! The trait of every channel: a reader and a writer of whole messages.
//!
//! The drivers know nothing of pipes, sockets or processes. They read [`Unit`]s from one half and
//! hand queues of [`Transmit`]s to the other. Implement these three traits to carry the protocol
//! over something else; [`crate::lines`] does it for any pair of byte streams.

use std::collections::VecDeque;
use std::time::Duration;

use bowline_proto::codec::lines::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;

use crate::error::Error;

/// A channel that carries whole messages in both directions.
pub trait Transport: Send + 'static {
    /// The half that receives.
    type Reader: Reader;
    /// The half that sends.
    type Writer: Writer;

    /// Whether clients give a [`Mirror`](bowline_proto::mirror::Mirror) along with every message, as
    /// HTTP wants.
    const MIRRORS: bool = false;

    /// How the channel is opened again when the peer is gone; by default it is not.
    fn renewal(&self) -> Option<Box<dyn Renewal<Self>>>
    where
        Self: Sized,
    {
        None
    }

    /// Parts the channel into its two directions, which may then be used at the same time.
    ///
    /// The reader keeps no more of a message than the limits allow. Must be called inside a Tokio
    /// runtime with I/O and time enabled.
    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer);
}

/// Opens a channel of a client again when its server is gone: a [`Child`](crate::child::Child) that
/// is to be restarted has one.
pub trait Renewal<T>: Send {
    /// How long to wait before the channel is opened again, given how the last one ended.
    ///
    /// # Errors
    ///
    /// If it is not to be opened again: the error that the user of the client gets.
    fn pause(&mut self, lost: Error) -> Result<Pause, Error>;

    /// Opens the channel again.
    ///
    /// # Errors
    ///
    /// If that fails, which counts as another end.
    fn open(&mut self) -> Result<T, Error>;
}

/// A wait before a channel is opened again.
#[derive(Clone, Debug)]
pub struct Pause {
    /// How long.
    pub duration: Duration,
    /// How the last channel ended, and that it is going to be opened again.
    pub reason: String,
}

/// The receiving half of a channel.
pub trait Reader: Send + 'static {
    /// The next unit of text, or `None` when the peer closed its end.
    ///
    /// Dropping the future before it is ready loses nothing: what has arrived stays in the reader.
    /// After the end or an error, every further call gives `None`.
    ///
    /// # Errors
    ///
    /// If the channel broke, or the peer ended in a way that is worth telling.
    fn read(&mut self) -> impl Future<Output = Result<Option<Unit>, Error>> + Send;
}

/// The sending half of a channel.
pub trait Writer: Send + 'static {
    /// Writes all that is queued with as few system calls as possible and flushes.
    ///
    /// The queue is emptied as the writer goes. Dropping the future before it is ready loses
    /// nothing: what was taken from the queue stays in the writer, and the next call goes on with
    /// it, also if the queue is empty then.
    ///
    /// # Errors
    ///
    /// If the channel broke. [`Error::is_closed`] tells a peer that went away, which is a normal
    /// end, from a failure.
    fn write(
        &mut self,
        queue: &mut VecDeque<Transmit>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Ends our direction and releases what the transport holds.
    ///
    /// It takes a bounded time whatever the peer does, and does nothing the second time. Dropping
    /// both halves has the same effect without the wait.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
