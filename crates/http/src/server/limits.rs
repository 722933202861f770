//! The bounds of an HTTP server. [`Limits`] has those of single messages.
//!
//! Every length, count and duration that a client controls is bounded here or there. Most come in
//! pairs, one for all clients together and a smaller one for each caller, so that one caller cannot
//! take what all share. Calls and sessions beyond the bound of all are answered 503, beyond the
//! bound of one caller 429.
//!
//! [`Limits`]: bowline_proto::limits::Limits

use std::time::Duration;

use bowline_http_front::FrontLimits;

/// The bounds of an HTTP server. Each is finite; there is no way to say "unlimited".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Calls that run at the same time, of all clients together; further ones are answered 503.
    pub calls: usize,
    /// Calls of one caller that run at the same time; further ones are answered 429. Fewer than
    /// [`calls`](Self::calls), so that one caller cannot take every slot. Yet many, since all clients
    /// behind one proxy are one caller, unless they have credentials.
    pub calls_per_caller: usize,
    /// Subscriptions (`subscriptions/listen`) that are open at the same time, of all clients
    /// together; further ones are answered 503. They do not count as [`calls`](Self::calls), because
    /// they only wait. [`Limits::subscriptions`] bounds those of one caller.
    ///
    /// [`Limits::subscriptions`]: bowline_proto::limits::Limits::subscriptions
    pub streams: usize,
    /// Callers that are counted one by one, by verified credentials or else by address. Further ones
    /// are counted together, until others have made no request for a minute and are forgotten.
    pub callers: usize,
    /// Sessions that are open at the same time. Beyond that, the one that has been idle longest is
    /// closed; if none is idle, the handshake is answered 503. With a shared store only this
    /// endpoint's copy is closed, and the client can go on.
    pub sessions: usize,
    /// Sessions of one caller that are open at the same time. Beyond that, the one of them that has
    /// been idle longest is closed; if none is idle, the handshake is answered 429. Fewer than
    /// [`sessions`](Self::sessions), so that one caller cannot push out the sessions of all others.
    pub sessions_per_caller: usize,
    /// How long a session may be idle. A session with a running call or an open stream is not idle.
    pub session_idle: Duration,
    /// How long a client may take from the answer of the handshake to `notifications/initialized`.
    pub session_opening: Duration,
    /// Bytes that may wait on one stream for a client that reads slowly. Beyond that, progress and
    /// logs are dropped, and handlers wait before they send anything else.
    pub queue: usize,
    /// How long a client may read nothing, or less than its `pace`, while bytes wait for it. Then its
    /// connection is cut, or over HTTP/2 the stream whose window it keeps shut. What a client still
    /// sends after it was refused is read and thrown away for as long.
    pub stall: Duration,
    /// Bytes per second that a client has to read at least while bytes wait for it, on average over
    /// `stall`.
    pub pace: usize,
    /// How long the events of a stream are kept after the stream has ended, for a client that resumes.
    /// While it is open they are kept.
    pub resumption: Duration,
    /// How often a silent stream is kept alive by a comment.
    pub keep_alive: Duration,
    /// How long a client may take to send the head of a request: the first one from the beginning
    /// of the connection on, every other one from its first byte on. The connection is cut after
    /// that, at the latest after twice as long.
    pub head: Duration,
    /// How long a connection may be idle between two requests. Then it is closed, over HTTP/2 with
    /// GOAWAY. Longer than usual clients keep an idle connection, so that the client closes it.
    /// While all `connections` are taken, an idle one is closed after `head`.
    pub idle: Duration,
    /// How long a client may take to send the body of a request.
    pub body: Duration,
    /// Bytes of request bodies that are in memory at the same time, of all clients together, until
    /// the requests are answered. The first 64 KiB of a body do not count; over HTTP/2 the requests
    /// of a connection share them. So all bodies together take this and 64 KiB for each connection.
    pub bodies: usize,
    /// Bytes of request bodies of one caller whose requests are being served; a request for which
    /// there is no room beside them is answered 503. Fewer than [`bodies`](Self::bodies), so that no
    /// caller can take all the room with requests that run.
    pub bodies_per_caller: usize,
    /// How long a client may take to send the body of a request while `bodies` is used up. The body
    /// that has taken longest then makes room for another one, and its request is answered 503. A
    /// request for which there is no room for so long is answered 503 too. The same time holds for
    /// a connection whose client keeps the server waiting while all `connections` are taken.
    pub crowded: Duration,
    /// Connections that are served at the same time; further ones wait to be accepted. Each takes a
    /// file descriptor, so on Unix it is at most three quarters of the files that the process may
    /// open (`ulimit -n`).
    ///
    /// While all are taken, those whose client has kept the server waiting longest, for longer than
    /// [`crowded`](Self::crowded), are cut: in the middle of a head or of a body, or idle.
    pub connections: usize,
    /// Connections of one address that are served at the same time; a further one is closed, unless it
    /// can take the place of one that would be cut. Fewer than [`connections`](Self::connections), so
    /// that one address cannot take all. Yet many, since all connections through a proxy come from
    /// one address; a server that only a proxy can reach may set both to the same number. If
    /// fewer files may be opened, an address gets three quarters of the connections at most, or all.
    pub connections_per_address: usize,
    /// How long the machine of a client may acknowledge nothing. Then its connection is closed. TCP
    /// enforces it, in whole seconds.
    pub unreachable: Duration,
    /// Requests that run at the same time on one HTTP/2 connection.
    pub requests_per_connection: u32,
    /// How long a server that is one of several goes on after it was asked to stop, before
    /// [`drain`](Self::drain) begins: a server with a shared store, since then other replicas take
    /// over. Meanwhile `/readyz` fails and each answer asks the client to close its connection.
    /// Longer than a balancer keeps an idle connection open, so that none of its requests meets a
    /// closed socket.
    pub lame_duck: Duration,
    /// How long calls may still run after the server began to stop.
    pub drain: Duration,
}

impl HttpLimits {
    /// Those of connections, which hold on a [`Listener`](super::Listener) only.
    pub(super) fn front(&self) -> FrontLimits {
        let mut front = FrontLimits::default();
        front.connections = self.connections;
        front.connections_per_address = self.connections_per_address;
        front.crowded = self.crowded;
        front.head = self.head;
        front.idle = self.idle;
        front.stall = self.stall;
        front.pace = self.pace;
        front.unreachable = self.unreachable;
        front.keep_alive = self.keep_alive;
        front.requests_per_connection = self.requests_per_connection;
        front
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            calls: 4096,
            calls_per_caller: 3072,
            streams: 16_384,
            callers: 10_000,
            sessions: 16_384,
            sessions_per_caller: 12_288,
            session_idle: Duration::from_secs(600),
            session_opening: Duration::from_secs(30),
            queue: 256 * 1024,
            stall: Duration::from_secs(10),
            pace: 2048,
            resumption: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            body: Duration::from_secs(30),
            bodies: 256 * 1024 * 1024,
            bodies_per_caller: 128 * 1024 * 1024,
            crowded: Duration::from_secs(2),
            connections: 32_768,
            connections_per_address: 24_576,
            unreachable: Duration::from_secs(45),
            requests_per_connection: 100,
            lame_duck: Duration::from_secs(5),
            drain: Duration::from_secs(25),
        }
    }
}

/// How often the endpoint fails questions that timed out, closes idle sessions and renews the records
/// of shared ones.
pub(super) const SWEEP: Duration = Duration::from_secs(1);
