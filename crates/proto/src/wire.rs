//! The wire rules of the two eras, and what both share.
//!
//! [`modern`] reads the [`Envelope`] of a request from its `_meta` and stamps results; [`legacy`]
//! does the same for requests of a session. [`project`] makes results fit older
//! revisions before they are written; `splice` joins text that is JSON already.

mod known_client;
pub mod legacy;
pub mod modern;
pub mod project;
pub(crate) mod splice;

use std::sync::Arc;

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::revision::Revision;
use bytes::Bytes;

pub use self::known_client::KnownClient;
use crate::members::Members;
use crate::request::{ClientProfile, Input};

/// What a request says beside its params, in either era.
#[derive(Debug)]
pub struct Envelope {
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// Who calls.
    pub client: Arc<ClientProfile>,
    /// `_meta`, as it came.
    pub meta: Members,
    /// Given if the caller wants to hear of progress.
    pub progress: Option<ProgressToken>,
    /// The least severe log message wanted for this call.
    pub log_level: Option<LoggingLevel>,
    /// What an earlier round left.
    pub input: Option<Box<Input>>,
}

/// An error on its way out, as the answer to a request or, without an id, to something that could
/// not be read.
pub fn refusal(id: Option<&RequestId>, error: &ErrorObject) -> Bytes {
    splice::error(id.ok_or(splice::NoId::Absent), error)
}
