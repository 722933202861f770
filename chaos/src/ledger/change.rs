//! Changes of resources, as the clients that follow them saw them.

use std::time::Duration;

/// A change that a client made by a call that was answered, and that it follows on a stream.
#[derive(Clone, Debug)]
pub struct Change {
    /// The number of the call.
    pub nonce: u64,
    /// The session whose subscription covers the change, for clients with a handshake.
    pub session: Option<String>,
    /// When the server had acknowledged the subscription.
    pub followed: Duration,
    /// When the client sent the call.
    pub sent: Duration,
    /// When the client had the answer.
    pub answered: Duration,
    /// How the client learned of the change, if it did.
    pub notified: Option<Notified>,
}

/// How a client learned of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notified {
    /// When.
    pub at: Duration,
    /// From what.
    pub by: Notice,
}

/// What tells a client that it has to read a resource again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A notification of this very change.
    Change,
    /// A notification that everything that the client follows may have changed.
    Everything,
    /// The acknowledgement of a new subscription: the client reads everything anew.
    Subscribed,
}
