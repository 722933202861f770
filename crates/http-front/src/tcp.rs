//! The TCP options of a connection, and the queue of those that were not accepted yet.
//!
//! The options let the system notice what no byte shows: a client that lost power or its network
//! acknowledges nothing and closes nothing. Without them its connection, its streams and its
//! session would stay until a write fails.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::SockFilter;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

use crate::config::FrontLimits;

/// How many unsent bytes the system may hold. By default it takes megabytes on connections within a
/// machine; then a client that reads steadily would seem to read nothing for minutes.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 64 * 1024;

/// Sets the options of an accepted connection. Those that the system lacks are left out. A failure
/// is ignored too: the connection works without them, only less well watched.
pub(crate) fn prepare(stream: &TcpStream, limits: &FrontLimits) {
    // Small messages should not wait for each other.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&keep_alive(limits.unreachable));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // While bytes are unacknowledged, TCP repeats them instead of sending probes.
        let _ = socket.set_tcp_user_timeout(Some(limits.unreachable));
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
    }
}

/// Makes the system ignore further clients that connect. Those that it has begun to connect are
/// accepted as before.
///
/// A client whose connection is ignored repeats its attempt after a second and is refused once the
/// socket is closed. It has sent nothing, so a balancer turns to another replica. Without this the
/// system opens connections up to the moment when the socket is closed, and then resets those that
/// wait to be accepted, with the requests that were sent on them.
pub(crate) fn ignore_new(listener: &TcpListener) {
    // A program for the kernel's packet filter; only Linux has it. It drops segments with SYN.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        const LOAD_BYTE: u16 = 0x30;
        const JUMP_IF_SET: u16 = 0x45;
        const RETURN: u16 = 0x06;
        const FLAGS: u32 = 13;
        const SYN: u32 = 0x02;
        let program = [
            SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
            SockFilter::new(JUMP_IF_SET, 0, 1, SYN),
            SockFilter::new(RETURN, 0, 0, 0),
            SockFilter::new(RETURN, 0, 0, u32::MAX),
        ];
        let _ = SockRef::from(listener).attach_filter(&program);
    }
}

/// Accepts a connection that waits in the queue of the system. The system itself is asked, because
/// the runtime learns of a new connection only at its next turn.
///
/// # Errors
///
/// If no connection waits.
pub(crate) fn accept_queued(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (socket, peer) = SockRef::from(listener).accept()?;
    socket.set_nonblocking(true)?;
    let peer = peer.as_socket().ok_or(ErrorKind::Unsupported)?;
    Ok((TcpStream::from_std(socket.into())?, peer))
}

/// Keep-alive probes after which an unreachable client is given up within this time.
fn keep_alive(unreachable: Duration) -> TcpKeepalive {
    // Systems count in whole seconds, and refuse zero.
    let seconds = |time: Duration| Duration::from_secs(time.as_secs().max(1));
    let silence = seconds(unreachable / 3);
    let keep_alive = TcpKeepalive::new().with_time(silence);
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "ios",
        target_os = "freebsd",
        target_os = "windows"
    ))]
    let keep_alive = {
        const PROBES: u32 = 3;
        let interval = seconds(unreachable.saturating_sub(silence) / PROBES);
        keep_alive.with_interval(interval).with_retries(PROBES)
    };
    keep_alive
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn a_connection_is_accepted_before_the_runtime_knows_of_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(listener.poll_accept(&mut cx).is_pending());
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The runtime had no turn since.
        assert!(listener.poll_accept(&mut cx).is_pending());
        let (_, peer) = accept_queued(&listener).unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        assert!(accept_queued(&listener).is_err(), "no other connection waits");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_client_that_connects_once_new_ones_are_ignored_has_no_connection_that_could_be_reset()
     {
        use std::io::ErrorKind::{ConnectionRefused, TimedOut};
        use std::net::TcpStream;

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let before = TcpStream::connect(address).unwrap();
        ignore_new(&listener);
        let after = TcpStream::connect_timeout(&address, Duration::from_millis(50)).unwrap_err();
        assert_eq!(after.kind(), TimedOut);
        let (_stream, peer) = accept_queued(&listener).unwrap();
        assert_eq!(peer, before.local_addr().unwrap());
        assert!(accept_queued(&listener).is_err());
        drop(listener);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ConnectionRefused);
    }
}
