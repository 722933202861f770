//! This process's standard input and output as a transport, for servers.
//!
//! Only the protocol may write to standard output, but `println!`, C libraries and child processes
//! of handlers do so too. So [`Stdio::take`] moves both descriptors to numbers that no other code
//! knows.
//!
//! The order of a server's start: [`Stdio::take`] as the first thing in `main`, before any other
//! code can print; then the runtime; then [`serve`](crate::serve::serve) with this transport. The
//! protocol forbids anything on standard output that is no message (STDIO-4).

#[cfg(unix)]
mod descriptors;
mod parent;
#[cfg(not(unix))]
mod portable;
mod streams;
mod thread;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;

#[cfg(unix)]
use self::descriptors::Ends;
use self::parent::Parent;
#[cfg(not(unix))]
use self::portable::Ends;
use self::streams::{Input, Output};
use crate::error::Error;
use crate::lines::{LinesReader, LinesWriter};
use crate::transport::{PeerIdentity, Reader, Transport, Writer};

/// There is one standard input and one standard output per process.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Standard input and output of this process. It cannot be taken a second time, not even after it
/// was dropped.
#[derive(Debug)]
pub struct Stdio {
    ends: Ends,
    parent: Parent,
}

impl Stdio {
    /// Takes standard input and output away from the rest of the process.
    ///
    /// Afterwards all other code reads an empty standard input, and what it writes to standard
    /// output goes to standard error: `println!`, C libraries, and child processes, which inherit
    /// neither descriptor of the protocol. If standard error is the same pipe or socket as standard
    /// output, it goes to `/dev/null` instead, because a log line between messages would break them.
    /// Call this first in `main`; it needs no runtime. Outside Unix nothing is moved, and the
    /// program must keep standard output clean itself.
    ///
    /// Input ends when the pipe ends, and also when the parent process dies, even if another process
    /// still holds the other end of the pipe: a server must not outlive its client.
    ///
    /// # Errors
    ///
    /// If they are already taken, or the system refuses to duplicate them.
    pub fn take() -> Result<Self, Error> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(Error::start("standard input and output are already taken"));
        }
        let parent = Parent::now();
        let ends = Ends::take().map_err(|error| {
            TAKEN.store(false, Ordering::SeqCst);
            Error::start("cannot take standard input and output").with_source(error)
        })?;
        Ok(Self { ends, parent })
    }
}

impl Transport for Stdio {
    type Reader = StdioReader;
    type Writer = StdioWriter;

    /// The user who started this process.
    fn peer_identity(&self) -> PeerIdentity {
        PeerIdentity::local_user()
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (input, output) = self.ends.open();
        let reader = StdioReader { lines: LinesReader::new(input, limits), parent: self.parent };
        (reader, StdioWriter { lines: LinesWriter::new(output) })
    }
}

/// The receiving half of [`Stdio`]. Ends with the pipe or with the parent, whichever comes first.
pub struct StdioReader {
    lines: LinesReader<Input>,
    parent: Parent,
}

impl Reader for StdioReader {
    type Item = Received;

    async fn read(&mut self) -> Result<Option<Received>, Error> {
        tokio::select! {
            // Messages that the parent sent before it died are still read.
            biased;
            received = self.lines.read() => received,
            () = self.parent.gone() => Ok(None),
        }
    }
}

/// The sending half of [`Stdio`].
pub struct StdioWriter {
    lines: LinesWriter<Output>,
}

impl Writer for StdioWriter {
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        self.lines.write(queue).await
    }

    async fn close(&mut self) {
        self.lines.close().await;
    }
}

impl std::fmt::Debug for StdioReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdioReader").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for StdioWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdioWriter").finish_non_exhaustive()
    }
}
