//! This process's own standard input and output as a transport, for servers.
//!
//! Standard output belongs to the protocol alone, but `println!`, C libraries and the children of
//! handlers write to it too. So the two descriptors are moved out of everyone's reach first; see
//! [`Stdio::take`].

#[cfg(unix)]
mod descriptors;
mod parent;
#[cfg(not(unix))]
mod portable;
mod thread;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_proto::codec::lines::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(unix)]
use self::descriptors::Ends;
use self::parent::Parent;
#[cfg(not(unix))]
use self::portable::Ends;
use crate::error::Error;
use crate::lines::{LinesReader, LinesWriter};
use crate::transport::{Reader, Transport, Writer};

/// There is one standard input and one standard output per process.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The way in, whatever kind of file it is.
type Input = Box<dyn AsyncRead + Send + Unpin>;

/// The way out, whatever kind of file it is.
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output of this process.
#[derive(Debug)]
pub struct Stdio {
    ends: Ends,
    parent: Parent,
}

impl Stdio {
    /// Takes standard input and output away from the rest of the process.
    ///
    /// Afterwards whatever reads standard input finds it empty, and whatever writes to standard
    /// output writes to standard error instead: `println!`, C libraries, and child processes, which
    /// inherit nothing of the protocol. If standard error is the very pipe or socket that standard
    /// output is, both lead nowhere, because a log line among the messages would break them. Take
    /// them first thing in `main`; a runtime is not needed yet. Outside Unix nothing is moved, and
    /// keeping standard output clean is up to you.
    ///
    /// Input ends when the pipe ends, and also when the process that started us dies, even if
    /// somebody else still holds the other end: a server must not outlive its client.
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

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (input, output) = self.ends.open();
        let reader = StdioReader { lines: LinesReader::new(input, limits), parent: self.parent };
        (reader, StdioWriter { lines: LinesWriter::new(output) })
    }
}

/// The receiving half of [`Stdio`].
pub struct StdioReader {
    lines: LinesReader<Input>,
    parent: Parent,
}

impl Reader for StdioReader {
    async fn read(&mut self) -> Result<Option<Unit>, Error> {
        tokio::select! {
            // What the parent said before it died still counts.
            biased;
            unit = self.lines.read() => unit,
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
