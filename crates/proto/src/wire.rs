//! The wire rules of the two eras, and the types that both share.
//!
//! [`modern`] reads the [`Envelope`] of a request from its `_meta` and stamps results; [`legacy`]
//! does the same for requests of a session.

mod known_client;
pub mod legacy;
pub mod modern;

use std::sync::Arc;

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::revision::Revision;
use bytes::Bytes;

pub use self::known_client::KnownClient;
use crate::members::Members;
use crate::request::{ClientProfile, Input};
use crate::splice;

/// What a request says beside its params, in either era.
///
/// Read once, at admission, and then the same for both eras. A legacy request gets revision and
/// client from its session, a modern one from its own `_meta` (RQM-1, RQM-2).
#[derive(Debug)]
pub struct Envelope {
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// The client that calls.
    pub client: Arc<ClientProfile>,
    /// `_meta`, as it came.
    pub meta: Members,
    /// The token for progress notifications, if the caller asked for them.
    pub progress: Option<ProgressToken>,
    /// The least severe log message that the caller asked for.
    pub log_level: Option<LoggingLevel>,
    /// Answers and state that the client returned from an earlier round.
    pub input: Option<Box<Input>>,
}

/// An error message: the answer to a request, or without an id the answer to unreadable text. For
/// drivers that refuse a message before a connection sees it.
pub fn refusal(id: Option<&RequestId>, error: &ErrorObject) -> Bytes {
    splice::error(id.ok_or(splice::NoId::Absent), error)
}

/// The same error as the answer to all requests of one POST. Of several, which only an array of
/// messages (2025-03-26) can have, an array of answers. Empty without a request.
pub fn refusals(ids: &[RequestId], error: &ErrorObject) -> Bytes {
    let mut answers: Vec<_> = ids.iter().map(|id| refusal(Some(id), error)).collect();
    match answers.len() {
        0 | 1 => answers.pop().unwrap_or_default(),
        _ => splice::batch(&answers),
    }
}
