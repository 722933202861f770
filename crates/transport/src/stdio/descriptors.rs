//! Moves the descriptors of standard input and output, and makes them asynchronous.
//!
//! Pipes and sockets are polled by the runtime; terminals and regular files cannot be, and get a
//! thread each ([`thread`](super::thread)).

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::PathBuf;

use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::streams::{Input, Output};
use super::thread::{ThreadReader, ThreadWriter};

/// Input and output of the protocol, on descriptors that no other code knows and no child inherits.
#[derive(Debug)]
pub(super) struct Ends {
    input: File,
    output: File,
}

impl Ends {
    /// The copies are made before the originals are replaced.
    pub(super) fn take() -> io::Result<Self> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        // The standard library duplicates with close-on-exec.
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let errors = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        if is_same_channel(&output.metadata()?, &errors.metadata()?) {
            dup2_stderr(&null)?;
        }
        dup2_stdin(&null)?;
        dup2_stdout(io::stderr())?;
        // Text that was printed without a line end is still buffered. Flushed now, it goes to
        // standard error instead of in front of the first message.
        let _ = io::stdout().flush();
        Ok(Self { input, output })
    }

    /// Opens both streams. A failure is reported by the first read or write.
    pub(super) fn open(self) -> (Input, Output) {
        let input = open_input(self.input).unwrap_or_else(|e| Box::new(ThreadReader::broken(e)));
        let output = open_output(self.output).unwrap_or_else(|e| Box::new(ThreadWriter::broken(e)));
        (input, output)
    }
}

/// Whether two descriptors lead into the same pipe or socket. Terminals and files do not count: the
/// user expects to see errors there.
fn is_same_channel(one: &Metadata, other: &Metadata) -> bool {
    let kind = one.file_type();
    let is_same = (one.dev(), one.ino()) == (other.dev(), other.ino());
    is_same && (kind.is_fifo() || kind.is_socket())
}

/// Must be called inside a runtime.
fn open_input(file: File) -> io::Result<Input> {
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        let own = own_path(&file).map(|path| pipe::OpenOptions::new().open_receiver(path));
        match own {
            Some(Ok(receiver)) => Ok(Box::new(receiver)),
            Some(Err(_)) | None => Ok(Box::new(pipe::Receiver::from_file(file)?)),
        }
    } else if kind.is_socket() {
        Ok(Box::new(open_socket(file)?))
    } else {
        Ok(Box::new(ThreadReader::start(file)?))
    }
}

fn open_output(file: File) -> io::Result<Output> {
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() {
        let own = own_path(&file).map(|path| pipe::OpenOptions::new().open_sender(path));
        match own {
            Some(Ok(sender)) => Ok(Box::new(sender)),
            Some(Err(_)) | None => Ok(Box::new(pipe::Sender::from_file(file)?)),
        }
    } else if kind.is_socket() {
        Ok(Box::new(open_socket(file)?))
    } else {
        Ok(Box::new(ThreadWriter::start(file)?))
    }
}

/// Some hosts start servers with a socket pair instead of two pipes.
fn open_socket(file: File) -> io::Result<UnixStream> {
    let stream = BlockingStream::from(OwnedFd::from(file));
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// A path by which an anonymous pipe can be opened a second time (Linux).
///
/// `O_NONBLOCK` belongs to the open file description, which this process shares with others, such
/// as the shell that started it. A second open has a description of its own. It fails for pipes of
/// another user; then the shared one is used. Named pipes are excluded, because opening one again
/// would wait for a new writer.
fn own_path(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let target = fs::read_link(&path).ok()?;
    target.to_str()?.starts_with("pipe:").then_some(path)
}
