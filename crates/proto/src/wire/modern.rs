//! The wire rules of 2026-07-28: a request carries everything in `_meta`, and results are stamped.

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::json::RawJson;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bytes::Bytes;

use super::{Envelope, KnownClient};
use crate::classify::ModernClaim;
use crate::members::Members;
use crate::request::{Input, Success, SuccessKind};
use crate::splice;

/// Reads the envelope of a modern request from its `_meta`. `inputResponses` and `requestState` are
/// read only for methods that may ask; elsewhere they are unknown members and ignored.
///
/// # Errors
///
/// If a required key is missing, or a key has the wrong shape; the text names the key.
pub(crate) fn read_envelope(
    method: Method,
    params: &Members,
    claim: ModernClaim,
    known: &KnownClient,
) -> Result<Envelope, ErrorObject> {
    let ModernClaim { revision, meta } = claim;
    let client = known.client(&meta)?;
    let log_level = read::<LoggingLevel>(&meta, key::LOG_LEVEL)?;
    let progress = read(&meta, key::PROGRESS_TOKEN)?;
    let input = if method.may_ask() { input(params)? } else { None };
    Ok(Envelope { revision, client, meta, progress, log_level, input })
}

/// The answer to a request, with the members of the era: `resultType`, caching hints, server info.
///
/// These are demanded of every result: `resultType` (RT-1), `ttlMs` and `cacheScope` of the methods
/// that may be stored (CACHE-1, CACHE-2), and the name of the server, which should be there
/// (RQM-11).
pub(crate) fn result(
    id: &RequestId,
    mut success: Success,
    method: Method,
    server_info: &str,
) -> Bytes {
    let kind = match success.kind {
        SuccessKind::Complete => "complete",
        SuccessKind::InputRequired => "input_required",
        SuccessKind::Task => "task",
    };
    let is_cacheable = method.is_cacheable() && success.kind == SuccessKind::Complete;
    let cache = if is_cacheable { &caching(&success) } else { "" };
    let meta = if success.meta.is_empty() { "{}" } else { &splice::json(&success.meta) };
    let meta = splice::inside(meta);
    let comma = if meta == "}" { "" } else { "," };
    let stamp = [
        "\"resultType\":\"",
        kind,
        "\"",
        cache,
        ",\"_meta\":{\"",
        key::SERVER_INFO,
        "\":",
        server_info,
        comma,
        meta,
    ];
    splice::result(id, &stamp, success.body.text())
}

/// The members that say how long a result is fresh, and for whom.
fn caching(success: &Success) -> String {
    let (ttl, scope) = (success.cache.ttl_ms(), success.cache.scope.as_str());
    format!(",\"ttlMs\":{ttl},{}", splice::member("cacheScope", scope))
}

/// The kind of a result. A server that omits the member means "complete" (RT-5). Any other value
/// makes the whole answer invalid (RT-3, RT-4).
///
/// # Errors
///
/// If the kind is unknown, or belongs to an extension that was not declared.
pub(crate) fn kind(result: &Members, tasks: bool) -> Result<SuccessKind, String> {
    match result.string("resultType") {
        Ok(None) => Ok(SuccessKind::Complete),
        Ok(Some(kind)) => match &*kind {
            "complete" => Ok(SuccessKind::Complete),
            "input_required" => Ok(SuccessKind::InputRequired),
            "task" if tasks => Ok(SuccessKind::Task),
            _ => Err(format!("`resultType` is `{kind}`, which the client did not agree to")),
        },
        Err(error) => Err(error.to_string()),
    }
}

/// The answers and the state that the client returned from an earlier round. `None` in the first
/// round.
fn input(params: &Members) -> Result<Option<Box<Input>>, ErrorObject> {
    let responses = params.parse("inputResponses").map_err(ErrorObject::misread_params)?;
    let state = params.parse("requestState").map_err(ErrorObject::misread_params)?;
    if responses.is_none() && state.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Input { responses: responses.unwrap_or_default(), state })))
}

/// The value of a key of `_meta`, parsed as a type.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    meta: &Members,
    key: &str,
) -> Result<Option<T>, ErrorObject> {
    meta.parse(key).map_err(|error| ErrorObject::misread_params(error.within("_meta")))
}

/// A serialized `Implementation`, which is written into every result.
pub(crate) fn server_info(info: &bowline_types::implementation::Implementation) -> RawJson {
    RawJson::from_value(info).unwrap_or_default()
}
