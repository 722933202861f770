//! Requests as they are sent, and how their results are read. What a call adds is in
//! [`call`](crate::call).

use std::sync::Arc;

use bowline_proto::client::{CallAnswer, CallError, CallRequest};
use bowline_transport::connect::Link;
use bowline_types::json::{Object, RawJson};
use bowline_types::read::ReadError;
use bowline_types::rpc::Rpc;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::error::{Error, Result};

/// A request of a method. Params are structs of `bowline-types`, so they serialize to an object.
pub(crate) fn of<R: Rpc>(params: &R::Params) -> CallRequest {
    CallRequest::new(R::METHOD, object(params))
}

/// Params as they are sent; they serialize to an object.
pub(crate) fn object(params: &impl Serialize) -> Object {
    Object::of(params).unwrap_or_default()
}

/// Reads a result as the type of its method.
///
/// # Errors
///
/// If it does not have that type; `subject` is what was called.
pub(crate) fn read<T: DeserializeOwned>(subject: &str, result: &RawJson) -> Result<T> {
    let invalid = |error: ReadError| CallError::Invalid(error.within("result").to_string());
    result.parse().map_err(|error| Error::call(subject, invalid(error)))
}

/// Makes a call on behalf of the caller of a relay, if there is one, and awaits its answer.
pub(crate) async fn ask_on_behalf(
    link: &Link,
    subject: &str,
    request: impl Into<Box<CallRequest>>,
    caller: Option<&Arc<Caller>>,
) -> Result<CallAnswer> {
    check_open(link, subject)?;
    let outcome = link.call(request, caller.map(Caller::observer)).await;
    explain(link, subject, outcome)
}

/// Makes a call and awaits its answer.
pub(crate) async fn ask(
    link: &Link,
    subject: &str,
    request: impl Into<Box<CallRequest>>,
) -> Result<CallAnswer> {
    check_open(link, subject)?;
    let outcome = link.call(request, None).await;
    explain(link, subject, outcome)
}

/// Checks that the connection has not ended.
///
/// # Errors
///
/// If it has: the call was not sent.
pub(crate) fn check_open(link: &Link, subject: &str) -> Result<()> {
    if link.is_closed() { Err(Error::unsent(subject, link.failure())) } else { Ok(()) }
}

/// The answer of the connection, or its error as one of the client.
pub(crate) fn explain(
    link: &Link,
    subject: &str,
    outcome: Result<CallAnswer, CallError>,
) -> Result<CallAnswer> {
    match outcome {
        Ok(answer) => Ok(answer),
        Err(CallError::Closed) => Err(Error::cut_off(subject, link.failure())),
        Err(error) => Err(Error::call(subject, error)),
    }
}
