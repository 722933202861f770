//! Every bound on what a peer may make us hold, count or wait for.
//!
//! Each field is finite and has a default with its reason. There is no way to say "unlimited";
//! whoever needs more writes a larger number.

use std::time::Duration;

/// The bounds of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one message. A longer one is answered with an error and skipped at constant
    /// memory. The other SDKs settled on the same 4 MiB.
    pub frame: usize,
    /// Levels of nested arrays and objects in one message, as in `serde_json`.
    pub depth: usize,
    /// Messages in one batch (2025-03-26 only).
    pub batch: usize,
    /// Calls that run at the same time on one connection; further ones wait their turn.
    pub in_flight: usize,
    /// Calls that wait for their turn; when they are that many, we stop reading.
    pub backlog: usize,
    /// Requests that a client may make per minute, all at once or spread over it: on one
    /// connection, and over HTTP all requests of one caller. A gateway in front of many clients
    /// makes thousands a second; a loop gone wild, several times as many as these.
    pub requests_per_minute: usize,
    /// Bytes of one result. As long as a message may be, less what stands around a result: longer
    /// ones would not be read by a client with the same limits.
    pub result: usize,
    /// Log messages that one call may send per minute; further ones are dropped.
    pub logs_per_minute: usize,
    /// Subscriptions that one connection may hold open, and over HTTP one caller. Clients hold one
    /// each, but behind a proxy many clients can be one caller.
    pub subscriptions: usize,
    /// Resources that one subscription, or one legacy session, may follow.
    pub subscribed_resources: usize,
    /// Bytes of the URIs that one subscription, or one legacy session, may follow. A subscription
    /// that asks for more follows the first of them, and its acknowledgement says which.
    pub subscribed_bytes: usize,
    /// Messages that wait to be written before what may be dropped (progress, logs) is dropped.
    pub outbox: usize,
    /// Questions to the client that await an answer at the same time.
    pub questions: usize,
    /// Questions that a server may put to its client per minute, all at once or spread over it. A
    /// person answers fewer; a model in a loop of tools about as many.
    pub questions_per_minute: usize,
    /// Pages that a server sent the user to and whose completion it may still announce
    /// (2025-11-25); of more, the oldest are forgotten.
    pub elicitations: usize,
    /// How long a question to the client (and its user) may stay open.
    pub question_timeout: Duration,
    /// How often a client answers `input_required` for one call before it gives up.
    pub rounds: usize,
    /// How long a call of ours may take without a sign of life; progress restarts the clock.
    pub request_timeout: Duration,
    /// How long a call of ours may take whatever progress it reports.
    pub request_deadline: Duration,
    /// How long a server may take to answer the first probe before it counts as legacy.
    pub probe_timeout: Duration,
    /// Answers to calls that were given up, remembered to tell late ones from unknown ones.
    pub abandoned: usize,
    /// Lines in a row that are no protocol, before a client gives up on a server.
    pub noise: usize,
    /// How long calls may still run after the client closed its end.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 4 * 1024 * 1024,
            depth: 128,
            batch: 100,
            in_flight: 64,
            backlog: 256,
            requests_per_minute: 1_800_000,
            result: 4 * 1024 * 1024 - 64 * 1024,
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
            probe_timeout: Duration::from_secs(10),
            abandoned: 1024,
            noise: 100,
            drain: Duration::from_secs(1),
        }
    }
}
