//! Unix domain sockets: a server that outlives its clients, reachable by its owner alone.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use bowline_proto::limits::Limits;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixSocket, UnixStream};

use crate::error::Error;
use crate::lines::{Lines, LinesReader, LinesWriter};
use crate::transport::Transport;

/// Only the owner may connect.
const MODE: u32 = 0o600;

/// Clients that may wait to be accepted.
const WAITING: u32 = 128;

/// One connection over a Unix domain socket.
#[derive(Debug)]
pub struct UnixTransport {
    stream: UnixStream,
}

impl UnixTransport {
    /// Connects to a server that listens at a path.
    ///
    /// # Errors
    ///
    /// If there is no socket at the path, nobody listens at it, or we are not allowed to connect.
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

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let (source, sink) = self.stream.into_split();
        Lines::new(source, sink).split(limits)
    }
}

/// Listens at a path.
///
/// The socket belongs to its owner alone (mode 0600) before the first client can connect. One that
/// a dead server left behind is replaced; one that somebody listens at is not, and neither is
/// anything that is no socket.
///
/// # Errors
///
/// If the path is in use or cannot be written.
pub async fn listen(path: impl Into<PathBuf>) -> Result<Listener, Error> {
    let path = path.into();
    remove_stale(&path).await?;
    let failed =
        |error| Error::start(format!("cannot listen at `{}`", path.display())).with_source(error);
    let socket = UnixSocket::new_stream().map_err(failed)?;
    socket.bind(&path).map_err(failed)?;
    // Nobody can connect between here and `listen`, whatever mode the socket was created with.
    let identity = restrict(&path).map_err(failed)?;
    let listener = socket.listen(WAITING).map_err(failed)?;
    Ok(Listener { listener, path, identity })
}

/// Accepts connections at a path, and removes the socket when dropped.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket, to tell it from one that replaced it.
    identity: (u64, u64),
}

impl Listener {
    /// The next client. Dropping the future loses none.
    ///
    /// # Errors
    ///
    /// If the system cannot accept, mostly for want of file descriptors; trying again later may
    /// work.
    pub async fn accept(&self) -> Result<UnixTransport, Error> {
        let (stream, _) = self.listener.accept().await.map_err(|error| {
            Error::io(format!("cannot accept a client at `{}`", self.path.display()), error)
        })?;
        Ok(UnixTransport { stream })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let ours = |metadata: Metadata| identity(&metadata) == self.identity;
        if fs::symlink_metadata(&self.path).is_ok_and(ours) {
            // If it cannot be removed, the next server finds it stale and tries again.
            let _ = fs::remove_file(&self.path);
        }
    }
}

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
            return Err(Error::start(format!("cannot listen at `{place}`: somebody else does")));
        }
    }
    fs::remove_file(path).map_err(|error| {
        Error::start(format!("cannot remove the stale socket `{place}`")).with_source(error)
    })
}

fn restrict(path: &Path) -> io::Result<(u64, u64)> {
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    Ok(identity(&fs::symlink_metadata(path)?))
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
