//! Every bound on what a peer may make this side hold, count or wait for.
//!
//! Each field is finite and has a default with its reason. There is no value for "unlimited"; a
//! server that needs more sets a larger number.
//!
//! Both sides of a connection have them. A server sets them in
//! [`ServerConfig`](crate::server::ServerConfig), a client in
//! [`ClientConfig`](crate::client::ClientConfig); transports read those that concern them.

use std::time::Duration;

pub mod long;

use self::long::LongMessages;

/// The bounds of one connection.
///
/// ```
/// use bowline_proto::limits::Limits;
///
/// let mut limits = Limits::default();
/// limits.in_flight = 8;
/// assert!(limits.result < Limits::for_client().frame);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one message. A longer one is answered with an error, or fails the call that it
    /// answers, and is skipped at constant memory. A server takes 4 MiB by default, as the other
    /// SDKs do, because it may have strangers for clients. A client takes more
    /// ([`for_client`](Self::for_client)).
    pub frame: usize,
    /// The room for long messages while they arrive and are decoded, in bytes. All connections
    /// whose limits are clones of one value share it, so that their number does not multiply
    /// [`frame`](Self::frame). A message that finds no room is treated like one that is too long.
    /// Bodies that arrive at an HTTP server have a room of their own, `HttpLimits::bodies`.
    pub long_messages: LongMessages,
    /// Levels of nested arrays and objects in one message, as in `serde_json`.
    pub depth: usize,
    /// Messages in one batch (2025-03-26 only).
    pub batch: usize,
    /// Calls that run at the same time on one connection. Further ones wait for their turn.
    pub in_flight: usize,
    /// Calls that may wait for their turn. When that many wait, the driver stops reading.
    pub backlog: usize,
    /// Requests that a client may send per minute, all at once or spread over it. Counted per
    /// connection on stdio and sockets, and per caller over HTTP. A gateway in front of many
    /// clients sends thousands per second; a client in an endless loop sends several times this
    /// limit.
    pub requests_per_minute: usize,
    /// Bytes of one result. Slightly less than a client takes by default, so that it can read the
    /// whole message.
    pub result: usize,
    /// Log messages that one call may send per minute; further ones are dropped.
    pub logs_per_minute: usize,
    /// Subscriptions that one connection may hold open, and over HTTP one caller. Clients hold one
    /// each, but behind a proxy many clients can be one caller.
    pub subscriptions: usize,
    /// Resources that one subscription, or one legacy session, may subscribe to.
    pub subscribed_resources: usize,
    /// Bytes of the URIs that one subscription, or one legacy session, may subscribe to. A
    /// subscription that asks for more gets the first of them, and its acknowledgement lists those.
    pub subscribed_bytes: usize,
    /// Messages that wait to be written before progress and logs are dropped.
    pub outbox: usize,
    /// Questions to the client that await an answer at the same time.
    pub questions: usize,
    /// Questions that a server may send its client per minute, all at once or spread over it. A
    /// person answers fewer; a model that calls tools in a loop, about as many.
    pub questions_per_minute: usize,
    /// Elicitations by URL whose completion the server may still announce (2025-11-25). Beyond that
    /// the oldest are dropped.
    pub elicitations: usize,
    /// How long a question to the client (and its user) may stay open.
    pub question_timeout: Duration,
    /// How many rounds of `input_required` one call may take. Both sides enforce it: a client
    /// answers no more, and a server fails a call whose handler asks once more.
    pub rounds: usize,
    /// How long a call of the client may take without an answer or progress. Progress restarts it.
    pub request_timeout: Duration,
    /// How long a call of the client may take, whatever progress it reports.
    pub request_deadline: Duration,
    /// How often a client asks for the state of a task at most, whatever the server suggests.
    pub shortest_poll: Duration,
    /// How often a client asks for the state of a task at least, whatever the server suggests.
    pub longest_poll: Duration,
    /// How long a server may take to answer the first probe before it counts as legacy. A client that
    /// speaks only modern revisions waits for [`request_timeout`](Self::request_timeout) instead.
    pub probe_timeout: Duration,
    /// Ids of cancelled or timed-out requests that are remembered, to recognise late answers.
    pub abandoned: usize,
    /// Lines in a row that are not messages before a client closes the connection.
    pub noise: usize,
    /// How long calls may still run after the client closed its output.
    pub drain: Duration,
}

/// What a client takes in one message: a screenshot of a large screen, or a text of 16 MB that a tool
/// gives twice, as content and as structured content, with its line ends and quotes escaped.
const FRAME_OF_CLIENT: usize = 64 * 1024 * 1024;

impl Limits {
    /// The default of clients. A user has chosen the servers of a client, and their answers hold
    /// files and pictures. So one message may have 64 MiB, while a [server](Self::default) takes
    /// 4 MiB from its clients.
    pub fn for_client() -> Self {
        Self { frame: FRAME_OF_CLIENT, ..Self::default() }
    }

    /// The same limits with another [`frame`](Self::frame). The room for long messages grows with it,
    /// so that two of the longest fit, since a message takes at most half of what the others leave.
    /// New room is shared by the clones of the returned value only.
    ///
    /// ```
    /// use bowline_proto::limits::Limits;
    ///
    /// let limits = Limits::for_client().with_frame(1 << 30);
    /// assert_eq!(limits.long_messages.bytes(), 3 << 30);
    /// ```
    #[must_use]
    pub fn with_frame(mut self, bytes: usize) -> Self {
        self.frame = bytes;
        if bytes > self.long_messages.bytes() / 3 {
            self.long_messages = LongMessages::new(bytes.saturating_mul(3));
        }
        self
    }
}

/// The default of servers; [`for_client`](Limits::for_client) is that of clients.
impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 4 * 1024 * 1024,
            long_messages: LongMessages::new(256 * 1024 * 1024),
            depth: 128,
            batch: 100,
            in_flight: 64,
            backlog: 256,
            requests_per_minute: 1_800_000,
            result: FRAME_OF_CLIENT - 64 * 1024,
            logs_per_minute: 600,
            subscriptions: 1024,
            subscribed_resources: 1024,
            subscribed_bytes: 64 * 1024,
            outbox: 1024,
            questions: 64,
            questions_per_minute: 120,
            elicitations: 256,
            question_timeout: Duration::from_secs(600),
            rounds: 16,
            request_timeout: Duration::from_secs(60),
            request_deadline: Duration::from_secs(3600),
            shortest_poll: Duration::from_millis(100),
            longest_poll: Duration::from_secs(300),
            probe_timeout: Duration::from_secs(10),
            abandoned: 1024,
            noise: 100,
            drain: Duration::from_secs(1),
        }
    }
}
