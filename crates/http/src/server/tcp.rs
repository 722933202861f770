//! The TCP options of a connection.
//!
//! They let the system notice what no byte shows: a client that lost power or its network
//! acknowledges nothing and closes nothing. Without them its connection, its streams and its
//! session would stay until a write fails.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use super::limits::HttpLimits;

/// How many unsent bytes the system may hold. By default it takes megabytes on connections within a
/// machine; then a client that reads steadily would seem to read nothing for minutes.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 64 * 1024;

/// Sets the options of an accepted connection. Those that the system lacks are left out. A failure
/// is ignored too: the connection works without them, only less well watched.
pub(super) fn prepare(stream: &TcpStream, limits: &HttpLimits) {
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
