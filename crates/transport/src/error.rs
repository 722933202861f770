//! The errors of channels.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

/// A channel that could not be opened, or that broke.
///
/// Opaque, so that kinds of errors can be added; use the predicates to tell them apart. The text
/// names what failed and, where there is a remedy, what to do.
///
/// It is local and never sent to the peer.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    source: Option<io::Error>,
}

/// The predicates of [`Error`] show what callers may know of it.
#[derive(Debug)]
enum Kind {
    /// The peer is gone, or this side closed the channel.
    Closed,
    /// A system call failed; names the action.
    Io(Cow<'static, str>),
    /// A process or a listener could not be started; says why.
    Start(String),
    /// A child process ended; says how.
    #[cfg(feature = "child")]
    Exited(String),
    /// This side gave up the connection; says why.
    GivenUp(String),
}

impl Error {
    /// Whether the peer is gone: it closed the channel, or its process ended.
    pub fn is_closed(&self) -> bool {
        match self.kind {
            Kind::Closed => true,
            #[cfg(feature = "child")]
            Kind::Exited(_) => true,
            Kind::Io(_) | Kind::Start(_) | Kind::GivenUp(_) => false,
        }
    }

    /// Whether the channel could not be opened: the program cannot be started, standard input and
    /// output are already taken, or the address is in use.
    pub fn is_start(&self) -> bool {
        matches!(self.kind, Kind::Start(_))
    }

    /// Whether a child process ended; the text then holds its exit status and the end of its
    /// standard error.
    #[cfg(feature = "child")]
    pub fn is_exited(&self) -> bool {
        matches!(self.kind, Kind::Exited(_))
    }

    /// Whether the client gave up a connection that it had: the server answered no pings, wrote too
    /// much that is no message, or did not agree to a new session.
    pub fn is_given_up(&self) -> bool {
        matches!(self.kind, Kind::GivenUp(_))
    }

    pub(crate) fn given_up(reason: impl Into<String>) -> Self {
        Self { kind: Kind::GivenUp(reason.into()), source: None }
    }

    pub(crate) fn closed() -> Self {
        Self { kind: Kind::Closed, source: None }
    }

    /// A failed system call, or [`is_closed`](Self::is_closed) if it failed because the peer is gone.
    pub(crate) fn io(action: impl Into<Cow<'static, str>>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected => Kind::Closed,
            _ => Kind::Io(action.into()),
        };
        Self { kind, source: Some(source) }
    }

    /// The reason is a whole sentence: what could not be opened, why, and what to check.
    pub(crate) fn start(reason: impl Into<String>) -> Self {
        Self { kind: Kind::Start(reason.into()), source: None }
    }

    pub(crate) fn with_source(mut self, source: io::Error) -> Self {
        self.source = Some(source);
        self
    }

    #[cfg(feature = "child")]
    pub(crate) fn exited(story: String) -> Self {
        Self { kind: Kind::Exited(story), source: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Closed => f.write_str("the channel is closed"),
            Kind::Io(action) => f.write_str(action),
            Kind::Start(reason) | Kind::GivenUp(reason) => f.write_str(reason),
            #[cfg(feature = "child")]
            Kind::Exited(story) => f.write_str(story),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
