//! Questions of the server that await an answer of the client.

use bowline_types::id::RequestId;

use crate::request::ExchangeId;

/// The number that the connection gives a question of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(pub(super) u64);

/// Where a question came from, and so where its answer goes.
#[derive(Debug)]
pub(super) enum AskOrigin {
    /// A request of a legacy server. The answer is a response with this id.
    Request(RequestId),
    /// A result of this call that requires input (2026-07-28). The answer goes into the retry.
    Round(ExchangeId),
}
