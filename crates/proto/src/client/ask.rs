//! Questions of the server that await an answer of the client.
//!
//! In sessions a question is a request of the server; on 2026-07-28 it is part of the result of a
//! call. Both become the same event, so the host that answers cannot tell them apart.

use bowline_types::id::RequestId;

use crate::request::ExchangeId;

/// The number that the connection gives a question of the server. Valid until the question is
/// answered or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(pub(super) u64);

/// Where a question came from, and so where its answer goes.
#[derive(Debug)]
pub(super) enum AskOrigin {
    /// A request of a legacy server. The answer is a response with this id.
    Request {
        id: RequestId,
        /// The call on whose stream it came, which is known over HTTP only.
        stream: Option<ExchangeId>,
    },
    /// A result of this call that requires input (2026-07-28). The answer goes into the retry.
    Round(ExchangeId),
}
