//! The stateless era on the wire: everything a request needs stands in it, every result is stamped.

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::json::RawJson;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bytes::Bytes;

use super::{Envelope, KnownClient, splice};
use crate::classify::ModernClaim;
use crate::members::Members;
use crate::request::{Input, Success, SuccessKind};

/// Reads what a request of 2026-07-28 says beside its params.
///
/// # Errors
///
/// If a required key is missing, or one has the wrong shape; the text names the key.
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

/// The answer to a request, stamped: what kind of result it is, how long it is fresh, who made it.
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

/// What kind a result is; a server that predates the member means "complete" (RT-5).
///
/// # Errors
///
/// If the kind is one that nobody agreed on.
pub(crate) fn kind(result: &Members, tasks: bool) -> Result<SuccessKind, String> {
    match result.string("resultType") {
        Ok(None) => Ok(SuccessKind::Complete),
        Ok(Some(kind)) => match &*kind {
            "complete" => Ok(SuccessKind::Complete),
            "input_required" => Ok(SuccessKind::InputRequired),
            "task" if tasks => Ok(SuccessKind::Task),
            _ => Err(format!("`resultType` is `{kind}`, which nobody agreed on")),
        },
        Err(error) => Err(error.to_string()),
    }
}

/// Answers and state of an earlier round.
fn input(params: &Members) -> Result<Option<Box<Input>>, ErrorObject> {
    let responses = params.parse("inputResponses").map_err(ErrorObject::misread_params)?;
    let state = params.parse("requestState").map_err(ErrorObject::misread_params)?;
    if responses.is_none() && state.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Input { responses: responses.unwrap_or_default(), state })))
}

/// A key of `_meta` as a type.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    meta: &Members,
    key: &str,
) -> Result<Option<T>, ErrorObject> {
    meta.parse(key).map_err(|error| ErrorObject::misread_params(error.within("_meta")))
}

/// A serialized `Implementation`, kept to stamp results with.
pub(crate) fn server_info(info: &bowline_types::implementation::Implementation) -> RawJson {
    RawJson::from_value(info).unwrap_or_default()
}
