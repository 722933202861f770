//! The settings of a server, and every bound on what its clients may take.

use std::time::Duration;

/// The settings of an [`FrontServer`](crate::FrontServer).
#[derive(Clone, Debug, Default)]
pub struct FrontConfig {
    pub(crate) limits: FrontLimits,
    #[cfg(feature = "http2")]
    pub(crate) http2: bool,
}

impl FrontConfig {
    /// HTTP/1.1 within these limits.
    pub fn new(limits: FrontLimits) -> Self {
        Self {
            limits,
            #[cfg(feature = "http2")]
            http2: false,
        }
    }

    /// Also speaks HTTP/2, without TLS: for proxies and meshes that connect to their backends so. The
    /// first bytes of a connection tell the two protocols apart (prior knowledge).
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn with_http2(mut self) -> Self {
        self.http2 = true;
        self
    }
}

/// The bounds of a server. Each is finite; there is no way to say "unlimited".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontLimits {
    /// Connections that are served at the same time; further ones wait to be accepted. Each takes a
    /// file descriptor, so on Unix it is at most three quarters of the files that the process may
    /// open (`ulimit -n`).
    ///
    /// While all are taken, those whose client has kept the server waiting longest, for longer than
    /// [`crowded`](Self::crowded), are cut: in the middle of a head or of a body, or idle.
    pub connections: usize,
    /// Connections of one address that are served at the same time; a further one is closed, unless it
    /// can take the place of one that would be cut. An IPv6 network of 64 bits is one address. If
    /// fewer files may be opened than `connections`, an address gets three quarters of the
    /// connections at most, unless this allows it all of them.
    pub connections_per_address: usize,
    /// How long a client may keep the server waiting while all connections are taken.
    pub crowded: Duration,
    /// How long a client may take to send the head of a request: the first one from the beginning
    /// of the connection on, every other one from its first byte on. The connection is cut after
    /// that, at the latest after twice as long.
    pub head: Duration,
    /// How long a connection may be idle between two requests. Then it is closed, over HTTP/2 with
    /// GOAWAY. While all connections are taken, an idle one is closed after `head`.
    pub idle: Duration,
    /// How long a client may read nothing, or less than its `pace`, while bytes wait for it. Then its
    /// connection is cut, or over HTTP/2 the stream whose window it keeps shut. What a client still
    /// sends after it was refused is read and thrown away for as long.
    pub stall: Duration,
    /// Bytes per second that a client has to read at least while bytes wait for it, on average over
    /// `stall`.
    pub pace: usize,
    /// How long the machine of a client may acknowledge nothing. Then its connection is closed. TCP
    /// enforces it, in whole seconds.
    pub unreachable: Duration,
    /// How often a connection of HTTP/2 is kept alive by a ping.
    pub keep_alive: Duration,
    /// Requests that run at the same time on one HTTP/2 connection.
    pub requests_per_connection: u32,
}

impl Default for FrontLimits {
    fn default() -> Self {
        Self {
            connections: 32_768,
            connections_per_address: 24_576,
            crowded: Duration::from_secs(2),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            stall: Duration::from_secs(10),
            pace: 2048,
            unreachable: Duration::from_secs(45),
            keep_alive: Duration::from_secs(15),
            requests_per_connection: 100,
        }
    }
}
