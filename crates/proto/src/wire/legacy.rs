//! The wire rules of revisions with a handshake: the session knows the client, a request adds
//! little.

use std::sync::Arc;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::meta::key;
use bowline_types::revision::Revision;
use bytes::Bytes;

use super::Envelope;
use super::modern::read;
use crate::members::Members;
use crate::request::{ClientProfile, Success};
use crate::splice;

/// Reads the envelope of a request in a session. The client is known from the handshake. Level and
/// input are absent: a session sets its log level once, and questions are requests of their own
/// there.
///
/// # Errors
///
/// If the progress token is neither a string nor an integer.
pub(crate) fn read_envelope(
    meta: Members,
    revision: Revision,
    client: Arc<ClientProfile>,
) -> Result<Envelope, ErrorObject> {
    let progress = read(&meta, key::PROGRESS_TOKEN)?;
    Ok(Envelope { revision, client, meta, progress, log_level: None, input: None })
}

/// The answer to a request of a session, with `_meta` if the handler set it. There is nothing to
/// stamp before 2026-07-28.
pub(crate) fn result(id: &RequestId, mut success: Success) -> Bytes {
    let body = success.body.text();
    if success.meta.is_empty() {
        return splice::result(id, &[], body);
    }
    splice::result(id, &["\"_meta\":", &splice::json(&success.meta)], body)
}
