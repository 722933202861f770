//! The traits of a channel: a reader and a writer of whole messages.
//!
//! The drivers know nothing of pipes, sockets or processes. They read [messages](Arrival) from the reader and
//! hand queues of [`Transmit`]s to the writer. Implement these traits to carry the protocol over
//! another channel; [`crate::lines`] implements them for any pair of byte streams.
//!
//! The contract in short: a reader and a writer are driven by one task, which drops their futures
//! whenever something else is ready first. So both keep their state in themselves, never in a
//! future. A channel needs no order between the two directions, but within each direction messages
//! stay in order.

use std::collections::VecDeque;
use std::time::Duration;

use bowline_proto::client::Delivery;
use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::request::{Access, Owner, Peer};
use bowline_proto::transmit::Transmit;
use bytes::Bytes;

use crate::error::Error;

/// A channel that carries whole messages in both directions.
///
/// The value is the channel before its use; a driver takes it, and asks for the halves once.
pub trait Transport: Send + 'static {
    /// The half that receives.
    type Reader: Reader;
    /// The half that sends.
    type Writer: Writer;

    /// How to open the channel again when the peer is gone; `None`, the default, if that is not
    /// possible.
    fn renewal(&self) -> Option<Box<dyn Renewal<Self>>>
    where
        Self: Sized,
    {
        None
    }

    /// Where the channel leads, for traces. Unknown, unless this is implemented.
    fn destination(&self) -> Destination {
        Destination::default()
    }

    /// Who the client of a server is, as far as the channel itself proves it. An anonymous client
    /// without scopes, unless this is implemented.
    ///
    /// A transport that authenticates its client, or that only one user can reach, returns more.
    /// It must not return anything that the client claims about itself.
    fn peer_identity(&self) -> PeerIdentity {
        PeerIdentity::anonymous()
    }

    /// Splits the channel into its two directions, which may be used at the same time.
    ///
    /// The reader buffers no more of a message than the limits allow. Must be called inside a Tokio
    /// runtime with I/O and time enabled.
    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer);
}

/// A transport that a server can be served over: every one whose reader delivers [`Received`].
pub trait ServerTransport: Transport<Reader: Reader<Item = Received>> {}

impl<T: Transport<Reader: Reader<Item = Received>>> ServerTransport for T {}

/// What a channel proves about its client. It holds for every call on the channel.
///
/// ```
/// use bowline_proto::request::{Access, Owner};
/// use bowline_transport::transport::PeerIdentity;
///
/// // The client of a TLS connection, by its certificate.
/// let mut client = PeerIdentity::anonymous();
/// client.owner = Owner::known("https://ca.example.com", "backup-robot");
/// client.access = Access::to(["backup"]);
/// assert!(!client.access.has("admin"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerIdentity {
    /// On whose behalf the client calls.
    pub owner: Owner,
    /// The scopes that its calls are granted.
    pub access: Access,
    /// The address that it calls from.
    pub peer: Option<Peer>,
}

impl PeerIdentity {
    /// Any client that can reach the channel. It has no scopes.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// The user who runs the server, and may do everything that the server can do. For channels
    /// that no other user can reach, such as standard input and output.
    pub fn local_user() -> Self {
        Self { access: Access::everything(), ..Self::default() }
    }
}

/// Where a channel leads, in the words of OpenTelemetry. For traces and logs; it holds no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Destination {
    /// What carries the bytes: `pipe`, `tcp` or `unix`.
    pub network: Option<&'static str>,
    /// The protocol above that, such as `http`.
    pub protocol: Option<&'static str>,
    /// The name or address of the server, or the path of its socket.
    pub address: Option<String>,
    /// The port of the server.
    pub port: Option<u16>,
}

impl Destination {
    /// A destination behind this network: `pipe`, `tcp` or `unix`.
    pub fn over(network: &'static str) -> Self {
        Self { network: Some(network), ..Self::default() }
    }
}

/// Opens a client's channel again when its server is gone. A [`Child`](crate::child::Child) with
/// [`Restart`](crate::child::Restart) has one.
pub trait Renewal<T>: Send {
    /// How long to wait before the channel is opened again, given how the last one ended.
    ///
    /// # Errors
    ///
    /// If the channel is not to be opened again: the error that the client's user gets.
    fn pause(&mut self, lost: Error) -> Result<Pause, Error>;

    /// Opens the channel again.
    ///
    /// # Errors
    ///
    /// If that fails. The driver then calls [`pause`](Self::pause) with this error.
    fn open(&mut self) -> Result<T, Error>;
}

/// A wait before a channel is opened again. The driver waits for so long, and obeys commands of the
/// client meanwhile.
#[derive(Clone, Debug)]
pub struct Pause {
    /// How long.
    pub duration: Duration,
    /// A sentence for a log: how the last channel ended, and that it is opened again.
    pub reason: String,
}

/// What a reader delivers: [`Received`] for a channel that both sides can use, [`Delivery`] for a
/// transport of clients whose messages are requests of their own, as over HTTP.
pub trait Arrival: Into<Delivery> + Send + 'static {
    /// Whether the client attaches a [`Mirror`](bowline_proto::mirror::Mirror) to every message, of
    /// which HTTP makes headers.
    const MIRRORED: bool;

    /// The text of the message, as far as it was received; `None` for a report.
    fn text(&self) -> Option<&Bytes>;
}

impl Arrival for Received {
    const MIRRORED: bool = false;

    fn text(&self) -> Option<&Bytes> {
        Some(self.text())
    }
}

impl Arrival for Delivery {
    const MIRRORED: bool = true;

    fn text(&self) -> Option<&Bytes> {
        self.text()
    }
}

/// The receiving half of a channel.
pub trait Reader: Send + 'static {
    /// What it delivers. A server needs [`Received`].
    type Item: Arrival;

    /// Reads the next message; `None` when the peer has closed its end.
    ///
    /// Dropping the future before it is ready loses nothing: what has arrived stays in the reader.
    /// After the end or an error, every further call returns `None`.
    ///
    /// # Errors
    ///
    /// If the channel broke, or the peer is a process that ended by itself.
    fn read(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Error>> + Send;
}

/// The sending half of a channel.
pub trait Writer: Send + 'static {
    /// Writes all queued messages with as few system calls as possible and flushes.
    ///
    /// Takes messages from the queue as it writes. Dropping the future before it is ready loses
    /// nothing: messages taken from the queue stay in the writer, and the next call writes them
    /// first, even if the queue is empty then.
    ///
    /// # Errors
    ///
    /// If the channel broke. [`Error::is_closed`] tells a peer that is gone, which is a normal end,
    /// from a failure.
    fn write(
        &mut self,
        queue: &mut VecDeque<Transmit>,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Ends the sending direction and releases what the transport holds.
    ///
    /// Takes a bounded time whatever the peer does; a second call does nothing. Dropping both halves
    /// has the same effect without the wait.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
