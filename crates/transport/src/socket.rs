//! Unix domain sockets: for a server that outlives its clients and that only its owner can reach.
//!
//! Many clients may connect, each with a connection of its own; the program accepts them in a loop
//! and serves each. Rights are those of the file: only the owner may connect, so no credentials are
//! needed.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use bowline_proto::limits::Limits;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixSocket, UnixStream};

use crate::error::Error;
use crate::lines::{Lines, LinesReader, LinesWriter};
use crate::transport::{Destination, PeerIdentity, Transport};

/// The socket file's mode: only its owner may connect.
const MODE: u32 = 0o600;

/// The backlog of clients that wait to be accepted.
const WAITING: u32 = 128;

/// One connection over a Unix domain socket. For both sides: a client gets one from
/// [`connect`](Self::connect), a server from [`SocketListener::accept`].
#[derive(Debug)]
pub struct UnixTransport {
    stream: UnixStream,
}

impl UnixTransport {
    /// Connects to a server that listens at a path.
    ///
    /// # Errors
    ///
    /// If there is no socket at the path, no server listens on it, or its mode forbids to connect.
    pub async fn connect(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let stream = UnixStream::connect(path).await.map_err(|error| {
            Error::start(format!("cannot connect to `{}`", path.display())).with_source(error)
        })?;
        Ok(Self { stream })
    }
}

impl Transport for UnixTransport {
    type Reader = LinesReader<OwnedReadHalf>;
    type Writer = LinesWriter<OwnedWriteHalf>;

    fn destination(&self) -> Destination {
        Destination::over("unix")
    }

    /// The owner of the socket file, since its mode lets no other user connect.
    fn peer_identity(&self) -> PeerIdentity {
        PeerIdentity::local_user()
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (source, sink) = self.stream.into_split();
        Lines::new(source, sink).split(limits)
    }
}

/// Listens at a path.
///
/// The socket file gets mode 0600 before the first client can connect. A stale socket of a dead
/// server is replaced. A socket on which a server listens is not, and neither is any other file.
///
/// # Errors
///
/// If the path is in use or cannot be written.
pub async fn listen(path: impl Into<PathBuf>) -> Result<SocketListener, Error> {
    let path = path.into();
    remove_stale(&path).await?;
    let failed =
        |error| Error::start(format!("cannot listen at `{}`", path.display())).with_source(error);
    let socket = UnixSocket::new_stream().map_err(failed)?;
    socket.bind(&path).map_err(failed)?;
    // No client can connect before `listen`, so the mode that `bind` created does not matter.
    let identity = restrict(&path).map_err(failed)?;
    let listener = socket.listen(WAITING).map_err(failed)?;
    Ok(SocketListener { listener, path, identity })
}

/// Accepts connections at a path, and removes the socket when dropped. Open connections go on when
/// it is dropped.
#[derive(Debug)]
pub struct SocketListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket file, to tell it from a file that replaced it.
    identity: (u64, u64),
}

impl SocketListener {
    /// Waits for the next client. Dropping the future loses no client.
    ///
    /// # Errors
    ///
    /// If the system cannot accept, mostly for lack of file descriptors; a retry later may work.
    pub async fn accept(&self) -> Result<UnixTransport, Error> {
        let (stream, _) = self.listener.accept().await.map_err(|error| {
            Error::io(format!("cannot accept a client at `{}`", self.path.display()), error)
        })?;
        Ok(UnixTransport { stream })
    }

    /// The path at which it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        let ours = |metadata: Metadata| identity(&metadata) == self.identity;
        if fs::symlink_metadata(&self.path).is_ok_and(ours) {
            // If this fails, the next server finds a stale socket and removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a server is alive is found by connecting to it. A server that was killed leaves its
/// file, and the next one could not bind.
async fn remove_stale(path: &Path) -> Result<(), Error> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let place = path.display();
    if !metadata.file_type().is_socket() {
        return Err(Error::start(format!(
            "cannot listen at `{place}`: it exists and is no socket"
        )));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(_) | Err(_) => {
            return Err(Error::start(format!("cannot listen at `{place}`: another server does")));
        }
    }
    fs::remove_file(path).map_err(|error| {
        Error::start(format!("cannot remove the stale socket `{place}`")).with_source(error)
    })
}

/// Sets the mode, and gives the identity of the file.
fn restrict(path: &Path) -> io::Result<(u64, u64)> {
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    Ok(identity(&fs::symlink_metadata(path)?))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
