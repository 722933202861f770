//! The limits of the HTTP client, beside the [`Limits`] of every client.
//!
//! [`Limits`]: bowline_proto::limits::Limits

use std::time::Duration;

/// The limits of an HTTP client. Each is finite; there is no value for "unlimited".
///
/// A message, in a body or in an event, is at most
/// [`Limits::frame`](bowline_proto::limits::Limits::frame) bytes long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpClientLimits {
    /// The most requests in flight; further ones wait. Handshakes and subscriptions do not count.
    pub exchanges: usize,
    /// The most open subscriptions (`subscriptions/listen`); further ones wait until one ends.
    pub subscriptions: usize,
    /// How long it may take to connect.
    pub connect: Duration,
    /// How long calls wait after a handshake for the response to the GET. Servers send questions on
    /// the GET stream, and some drop questions that arise before it is open. A server or proxy that
    /// delays the head of that response delays the first calls by this much.
    pub opening: Duration,
    /// How long the server may take to answer requests that have no timeout of their own:
    /// notifications, answers to questions, subscriptions, GET and DELETE. Calls have their own
    /// timeout.
    pub answer: Duration,
    /// How long a body may pause. For an event stream this holds only if the server keeps the stream
    /// alive with comments; on other streams a long call looks like a dead connection.
    pub idle: Duration,
    /// How long an idle HTTP/1.1 connection is kept. Shorter than what servers allow (5 s to 75 s),
    /// so that they rarely close one just when it is reused.
    pub idle_http1: Duration,
    /// How long an idle HTTP/2 connection is kept. It may be long: before a server closes one, it
    /// reports which requests it has not processed.
    pub idle_http2: Duration,
    /// How often a request is sent again because a reused connection was cut. Only idempotent
    /// requests are sent again, so no tool call is.
    pub repeats: usize,
    /// How often a message is sent again after 429 or 503 with `Retry-After`.
    pub busy_repeats: usize,
    /// The most time for all these pauses together. If the server asks for more, the call fails at
    /// once.
    pub busy_wait: Duration,
    /// The most headers of a response.
    pub headers: usize,
    /// The most bytes of the head of a response.
    pub head: usize,
    /// The most redirects of one request, all within the origin of the server.
    pub redirects: usize,
    /// How often in a row the client reconnects to a stream that brings no message.
    pub reconnects: u32,
    /// The longest pause before the first reconnection; it doubles with each further one. The actual
    /// pause is random and shorter, so that clients do not reconnect all at once.
    pub shortest_pause: Duration,
    /// The upper bound of the doubled pauses.
    pub longest_pause: Duration,
    /// The longest pause that a server may ask for.
    pub asked_pause: Duration,
    /// How long closing the connection may take.
    pub close: Duration,
}

impl Default for HttpClientLimits {
    fn default() -> Self {
        Self {
            exchanges: 1024,
            subscriptions: 1024,
            connect: Duration::from_secs(10),
            opening: Duration::from_secs(3),
            answer: Duration::from_secs(3600),
            idle: Duration::from_secs(45),
            idle_http1: Duration::from_secs(4),
            idle_http2: Duration::from_secs(30),
            repeats: 2,
            busy_repeats: 3,
            busy_wait: Duration::from_secs(30),
            headers: 100,
            head: 64 * 1024,
            redirects: 3,
            reconnects: 10,
            shortest_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            asked_pause: Duration::from_secs(300),
            close: Duration::from_secs(2),
        }
    }
}
