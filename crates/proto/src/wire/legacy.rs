//! The handshake era on the wire: the session knows who calls, a request adds little.

use std::sync::Arc;

use bowline_types::error::ErrorObject;
use bowline_types::meta::key;
use bowline_types::revision::Revision;

use super::modern::read;
use super::{Lifted, splice};
use crate::members::Members;
use crate::request::{Client, Success};

/// Reads what a request of a session says beside its params.
///
/// # Errors
///
/// If the progress token is neither a string nor an integer.
pub fn lift(meta: Members, revision: Revision, client: Arc<Client>) -> Result<Lifted, ErrorObject> {
    let progress = read(&meta, key::PROGRESS_TOKEN)?;
    Ok(Lifted { revision, client, meta, progress, log_level: None, input: None })
}

/// The members that stamp a result: only `_meta`, if a handler set it.
pub(crate) fn stamp(success: &Success) -> String {
    if success.meta.is_empty() { String::new() } else { splice::member("_meta", &success.meta) }
}
