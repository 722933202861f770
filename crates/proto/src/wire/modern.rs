//! The stateless era on the wire: everything a request needs stands in it, every result is stamped.

use std::sync::Arc;

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::json::Json;
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use super::{Lifted, splice};
use crate::classify::missing;
use crate::members::Members;
use crate::request::{Client, Input, Success, SuccessKind};

/// Reads what a request of 2026-07-28 says beside its params.
///
/// # Errors
///
/// If a required key is missing, or one has the wrong shape; the text names the key.
pub fn lift(
    method: Method,
    params: &Members,
    meta: Members,
    revision: Revision,
) -> Result<Lifted, ErrorObject> {
    let capabilities = read_object(&meta, key::CLIENT_CAPABILITIES)?
        .ok_or_else(|| missing(key::CLIENT_CAPABILITIES))?;
    let client = Client { info: read_object(&meta, key::CLIENT_INFO)?, capabilities };
    let log_level = read::<LoggingLevel>(&meta, key::LOG_LEVEL)?;
    let progress = read(&meta, key::PROGRESS_TOKEN)?;
    let input = if method.may_ask() { input(params)? } else { None };
    Ok(Lifted { revision, client: Arc::new(client), meta, progress, log_level, input })
}

/// The members that stamp a result: what kind it is, how long it is fresh, who made it.
pub(crate) fn stamp(success: &Success, method: Method, server_info: Option<&str>) -> String {
    let kind = match success.kind {
        SuccessKind::Complete => "complete",
        SuccessKind::InputRequired => "input_required",
        SuccessKind::Task => "task",
    };
    let mut members = format!("\"resultType\":\"{kind}\"");
    if method.is_cacheable() && success.kind == SuccessKind::Complete {
        let hint = &success.cache;
        members.push_str(&format!(",\"ttlMs\":{},", hint.ttl_ms()));
        members.push_str(&splice::member("cacheScope", hint.scope.as_str()));
    }
    if let Some(meta) = meta_member(&success.meta, server_info) {
        members.push(',');
        members.push_str(&meta);
    }
    members
}

/// The `_meta` member of a result, with who made it in front; nothing if it would be empty.
fn meta_member(meta: &Meta, server_info: Option<&str>) -> Option<String> {
    let stamp = server_info.map(|info| format!("\"{}\":{info}", key::SERVER_INFO));
    match (stamp, meta.is_empty()) {
        (None, true) => None,
        (None, false) => Some(splice::member("_meta", meta)),
        (Some(stamp), true) => Some(format!("\"_meta\":{{{stamp}}}")),
        (Some(stamp), false) => {
            Some(format!("\"_meta\":{}", splice::object(&stamp, &splice::json(meta))))
        }
    }
}

/// What kind a result is; a server that predates the member means "complete" (RT-5).
///
/// # Errors
///
/// If the kind is one that nobody agreed on.
pub(crate) fn kind(result: &Members, tasks: bool) -> Result<SuccessKind, String> {
    match result.parse::<String>("resultType") {
        Ok(None) => Ok(SuccessKind::Complete),
        Ok(Some(kind)) => match kind.as_str() {
            "complete" => Ok(SuccessKind::Complete),
            "input_required" => Ok(SuccessKind::InputRequired),
            "task" if tasks => Ok(SuccessKind::Task),
            _ => Err(format!("`resultType` is `{kind}`, which nobody agreed on")),
        },
        Err(error) => Err(format!("`resultType`: {error}")),
    }
}

/// Answers and state of an earlier round.
fn input(params: &Members) -> Result<Option<Box<Input>>, ErrorObject> {
    let invalid = |name: &str, error: serde_json::Error| {
        ErrorObject::invalid_params(format!("`params.{name}`: {error}"))
    };
    let responses = params.parse("inputResponses").map_err(|e| invalid("inputResponses", e))?;
    let state = params.parse::<String>("requestState").map_err(|e| invalid("requestState", e))?;
    if responses.is_none() && state.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Input { responses: responses.unwrap_or_default(), state })))
}

/// A key of `_meta` as a struct. Serde would read one from an array too, by position.
fn read_object<T: serde::de::DeserializeOwned>(
    meta: &Members,
    key: &str,
) -> Result<Option<T>, ErrorObject> {
    if meta.value(key).is_some_and(|text| text.starts_with('[')) {
        let message = format!("`params._meta[\"{key}\"]` must be an object, not an array");
        return Err(ErrorObject::invalid_params(message));
    }
    read(meta, key)
}

/// A key of `_meta` as a type.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    meta: &Members,
    key: &str,
) -> Result<Option<T>, ErrorObject> {
    meta.parse(key)
        .map_err(|error| ErrorObject::invalid_params(format!("`params._meta[\"{key}\"]`: {error}")))
}

/// A serialized `Implementation`, kept to stamp results with.
pub(crate) fn server_info(info: &bowline_types::implementation::Implementation) -> Json {
    Json::from_value(info).unwrap_or_default()
}
