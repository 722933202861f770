//! What TCP is asked to do for a connection.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::limits::HttpLimits;

/// Bytes that may wait in the system before it says that there is no room. Where it takes megabytes,
/// as for connections within a machine, a client that reads steadily is seen to read nothing for
/// minutes.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 64 * 1024;

/// How often a client is asked whether it is still there, after a third of the time in which it may
/// be out of reach.
const PROBES: u32 = 3;

/// Prepares a connection that was accepted. What a system does not offer is left as it is.
pub(super) fn prepare(stream: &TcpStream, limits: &HttpLimits) {
    // Small messages should not wait for each other.
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&keep_alive(limits.unreachable));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // While something is under way, TCP sends that again instead of asking.
        let _ = socket.set_tcp_user_timeout(Some(limits.unreachable));
        let _ = socket.set_tcp_notsent_lowat(UNSENT);
    }
}

/// Asks so often that a client that is out of reach is given up after this time.
fn keep_alive(unreachable: Duration) -> TcpKeepalive {
    // Systems count in seconds, and take none for an error.
    let seconds = |time: Duration| Duration::from_secs(time.as_secs().max(1));
    let silence = seconds(unreachable / 3);
    let interval = seconds(unreachable.saturating_sub(silence) / PROBES);
    let keep_alive = TcpKeepalive::new().with_time(silence);
    #[cfg(any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "ios",
        target_os = "freebsd",
        target_os = "windows"
    ))]
    let keep_alive = keep_alive.with_interval(interval).with_retries(PROBES);
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "ios",
        target_os = "freebsd",
        target_os = "windows"
    )))]
    let _ = interval;
    keep_alive
}
