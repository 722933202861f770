//! Every bound of the client side that one message's [`Limits`] do not know.
//!
//! [`Limits`]: bowline_proto::limits::Limits

use std::time::Duration;

/// The bounds of an HTTP client. Each is finite; there is no way to say "unlimited".
///
/// A message, be it a body or an event of a stream, is no longer than
/// [`Limits::frame`](bowline_proto::limits::Limits::frame).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpClientLimits {
    /// Requests that await their answers at the same time; further ones wait their turn.
    pub exchanges: usize,
    /// How long it may take to reach the server.
    pub connect: Duration,
    /// How long calls wait after a handshake for the server to answer the GET that asks for its own
    /// stream. Servers send questions on it, and some discard those that come before it stands. A
    /// server or proxy that holds back the head of that answer delays the first calls by this much.
    pub opening: Duration,
    /// How long the server may take before it answers what has no time-out of its own:
    /// notifications, answers to questions, subscriptions, and requests without a message. A call
    /// takes as long as its own time-out allows.
    pub answer: Duration,
    /// How long an answer that has begun may pause. On a stream that is only asked of servers that
    /// keep theirs alive with comments; any byte counts. Many servers keep none alive, so a long call
    /// looks no different from a dead connection.
    pub idle: Duration,
    /// How long a connection of HTTP/1.1 without requests is kept. Shorter than what servers allow,
    /// which is 5 s to 75 s, so that they rarely close one at the moment that it is used again.
    pub idle_http1: Duration,
    /// The same for HTTP/2, where a server says which requests it has not seen before it closes.
    pub idle_http2: Duration,
    /// How often a request is sent again because a connection that had been used before ended before
    /// the answer. Only what does the same when it is done twice is sent again, so no call of a tool.
    pub repeats: usize,
    /// How often a message is sent again that a server refused with 429 or 503 and `Retry-After`.
    pub busy_repeats: usize,
    /// How long the pauses before that may be together. If the server asks for more, the refusal is
    /// reported at once.
    pub busy_wait: Duration,
    /// Headers of one answer.
    pub headers: usize,
    /// Bytes of the head of one answer.
    pub head: usize,
    /// Redirects that one request follows, all within the origin of the server.
    pub redirects: usize,
    /// How often in a row we come back to a stream that brings nothing.
    pub reconnects: u32,
    /// The longest pause before the first time we come back; it doubles from there. Pauses are
    /// drawn at random below that, so that not all clients come back at once.
    pub shortest_pause: Duration,
    /// What pauses grow to.
    pub longest_pause: Duration,
    /// The longest pause that a server may ask for.
    pub asked_pause: Duration,
    /// How long the end may take.
    pub close: Duration,
}

impl Default for HttpClientLimits {
    fn default() -> Self {
        Self {
            exchanges: 1024,
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
