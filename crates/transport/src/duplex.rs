//! A channel in memory, for tests and for servers in the same process.
//!
//! Bytes go through a bounded pipe and are cut into lines as on every other channel, so nothing
//! works here that would not work over a real one.

use bowline_proto::limits::Limits;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use crate::lines::{Lines, LinesReader, LinesWriter};
use crate::transport::{PeerIdentity, Transport};

/// Bytes that one direction holds before its writer has to wait: the capacity of a pipe.
const CAPACITY: usize = 64 * 1024;

/// Makes the two ends of a channel: what one writes, the other reads.
///
/// ```
/// let (client, server) = bowline_transport::duplex::duplex();
/// # let _ = (client, server);
/// ```
pub fn duplex() -> (Duplex, Duplex) {
    let (near, far) = tokio::io::duplex(CAPACITY);
    (Duplex { stream: near }, Duplex { stream: far })
}

/// One end of a channel in memory; see [`duplex`]. Dropping one end is for the other what a closed
/// pipe is.
#[derive(Debug)]
pub struct Duplex {
    stream: DuplexStream,
}

impl Transport for Duplex {
    type Reader = LinesReader<ReadHalf<DuplexStream>>;
    type Writer = LinesWriter<WriteHalf<DuplexStream>>;

    /// The other end is in the same process.
    fn peer_identity(&self) -> PeerIdentity {
        PeerIdentity::local_user()
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (source, sink) = tokio::io::split(self.stream);
        Lines::new(source, sink).split(limits)
    }
}
