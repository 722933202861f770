//! The error object that one side sends to the other.
//!
//! [`ErrorObject`] is sent on the wire. Local failures have error types of their own in the crates
//! where they happen, so that the two are never confused.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::capability::ClientCapabilities;
use crate::json::RawJson;
use crate::read::ReadError;
use crate::revision::Revision;
use crate::text::excerpt;

/// The error codes of JSON-RPC, of the specification, and three of this library.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a valid message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown, or the receiver does not offer it.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed for a reason that is not the sender's fault.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The resource does not exist (up to 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must finish a URL elicitation first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// A mirrored HTTP header is missing or differs from the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The receiver does not support the revision (2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The codes that belong to the specification since 2026-07-28 (ERR-9), defined or not.
    pub const RESERVED: std::ops::RangeInclusive<i64> = -32099..=HEADER_MISMATCH;
    /// The codes that JSON-RPC reserves for itself and for implementations.
    pub const OF_JSON_RPC: std::ops::RangeInclusive<i64> = -32768..=-32000;
    /// The user refused a sampling request (up to 2025-11-25).
    pub const USER_REJECTED: i64 = -1;
    /// The client sends more requests than it may. The specification has no code for this, so this
    /// library uses the number of the HTTP status, which JSON-RPC does not reserve.
    pub const TOO_MANY_REQUESTS: i64 = 429;
    /// The credential of the caller lacks a scope. The number of the HTTP status, as above.
    pub const INSUFFICIENT_SCOPE: i64 = 403;
    /// The server cannot take the request now, for a reason that is not the client's. The number of
    /// the HTTP status, as above.
    pub const UNAVAILABLE: i64 = 503;
}

/// An error object as it is sent.
///
/// ```
/// use bowline_types::error::{ErrorObject, code};
///
/// let error = ErrorObject::invalid_params("`arguments.count`: expected a number");
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The kind of error; see [`code`].
    pub code: i64,
    /// One sentence for people: where the error is, and what to do.
    pub message: String,
    /// Details for programs; the code says of which type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// Creates an error without data.
    #[cold]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Sets the data. A value that cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = RawJson::from_value(data).ok();
        self
    }

    /// The text that the peer sent is not JSON.
    pub fn parse_error(message: impl Into<String>) -> Self {
        Self::new(code::PARSE_ERROR, message)
    }

    /// The JSON is not a valid JSON-RPC message.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// The method is unknown, or the receiver does not offer it.
    pub fn method_not_found(message: impl Into<String>) -> Self {
        Self::new(code::METHOD_NOT_FOUND, message)
    }

    /// The params do not fit the method.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The params do not have the shape that the method needs. The message names the member.
    pub fn misread_params(error: ReadError) -> Self {
        Self::invalid_params(error.within("params").to_string())
    }

    /// The receiver failed for a reason that is not the sender's fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// The request needs capabilities that the client does not declare. `required` goes into the
    /// data.
    pub fn missing_capability(required: ClientCapabilities, message: impl Into<String>) -> Self {
        let data = MissingCapability { required_capabilities: required };
        Self::new(code::MISSING_CLIENT_CAPABILITY, message).with_data(&data)
    }

    /// The receiver does not support the revision. The data lists the ones that it supports.
    pub fn unsupported_version(requested: &str, supported: &[Revision]) -> Self {
        let data = UnsupportedVersion {
            supported: supported.iter().map(ToString::to_string).collect(),
            requested: requested.to_owned(),
        };
        let message = format!(
            "protocol version `{}` is not supported; use one of `data.supported`",
            excerpt(requested)
        );
        Self::new(code::UNSUPPORTED_PROTOCOL_VERSION, message).with_data(&data)
    }

    /// No resource has this URI. The code depends on the revision.
    pub fn resource_not_found(uri: &str, revision: Revision) -> Self {
        let code = if revision.has_resource_not_found_code() {
            code::RESOURCE_NOT_FOUND
        } else {
            code::INVALID_PARAMS
        };
        let data = ResourceNotFound { uri: uri.to_owned() };
        Self::new(code, format!("no resource has the URI `{}`", excerpt(uri))).with_data(&data)
    }

    /// The client sends more requests than it may, and may send the next one after `wait`.
    pub fn too_many_requests(message: impl Into<String>, wait: Duration) -> Self {
        let data = TooManyRequests {
            retry_after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).saturating_add(1),
        };
        Self::new(code::TOO_MANY_REQUESTS, message).with_data(&data)
    }

    /// The server has not run the request and cannot run it now. The client may try again in a
    /// second.
    pub fn unavailable(message: impl Into<String>) -> Self {
        let data = TooManyRequests { retry_after_ms: 1000 };
        Self::new(code::UNAVAILABLE, message).with_data(&data)
    }

    /// The credential of the caller lacks a scope. The data lists all scopes that the request needs.
    pub fn insufficient_scope<S: Into<String>>(
        message: impl Into<String>,
        required: impl IntoIterator<Item = S>,
    ) -> Self {
        let data =
            InsufficientScope { required_scopes: required.into_iter().map(Into::into).collect() };
        Self::new(code::INSUFFICIENT_SCOPE, message).with_data(&data)
    }

    /// The data, read into a type. `None` if there is no data or it has another shape.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use bowline_types::error::{ErrorObject, TooManyRequests, code};
    ///
    /// let error = ErrorObject::too_many_requests("60 calls per minute", Duration::from_secs(2));
    /// assert_eq!(error.code, code::TOO_MANY_REQUESTS);
    /// let data: TooManyRequests = error.parse_data().unwrap();
    /// assert!(data.retry_after_ms >= 2000);
    /// ```
    pub fn parse_data<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        self.data.as_ref()?.parse().ok()
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}

/// `data` of [`code::MISSING_CLIENT_CAPABILITY`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingCapability {
    /// The capabilities that the client would have to declare.
    pub required_capabilities: ClientCapabilities,
}

/// `data` of [`code::UNSUPPORTED_PROTOCOL_VERSION`], and of a refused `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsupportedVersion {
    /// The revisions that the server supports, as text, because some may be unknown here.
    pub supported: Vec<String>,
    /// The revision that the client requested.
    pub requested: String,
}

/// `data` of the error for a resource that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceNotFound {
    /// The URI that the client requested.
    pub uri: String,
}

/// `data` of [`code::TOO_MANY_REQUESTS`] and [`code::UNAVAILABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TooManyRequests {
    /// The time to wait before the next attempt, in milliseconds.
    pub retry_after_ms: u64,
}

/// `data` of [`code::INSUFFICIENT_SCOPE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InsufficientScope {
    /// All scopes that the request needs, granted or not.
    pub required_scopes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RPC-9, RPC-10, RPC-13
    #[test]
    fn an_error_has_an_integer_code_and_a_message_and_any_data() {
        let error: ErrorObject =
            serde_json::from_str(r#"{"code":-32000,"message":"m","data":[1,{"a":null}]}"#).unwrap();
        assert_eq!(error.data.unwrap().as_str(), r#"[1,{"a":null}]"#);
        for bad in [r#"{"code":1.5,"message":"m"}"#, r#"{"message":"m"}"#, r#"{"code":1}"#] {
            assert!(serde_json::from_str::<ErrorObject>(bad).is_err(), "{bad}");
        }
    }

    // spec: ERR-7
    #[test]
    fn no_error_of_2026_07_28_has_a_code_that_older_programs_invented() {
        let made_up = -32019..=-32000;
        let errors = [
            ErrorObject::parse_error(""),
            ErrorObject::invalid_request(""),
            ErrorObject::method_not_found(""),
            ErrorObject::invalid_params(""),
            ErrorObject::internal(""),
            ErrorObject::missing_capability(ClientCapabilities::default(), ""),
            ErrorObject::unsupported_version("", &[]),
            ErrorObject::resource_not_found("", Revision::V2026_07_28),
            ErrorObject::too_many_requests("", Duration::ZERO),
            ErrorObject::unavailable(""),
            ErrorObject::insufficient_scope("", ["admin"]),
        ];
        assert!(errors.iter().all(|error| !made_up.contains(&error.code)), "{errors:?}");
        // The one exception is required by the revisions before 2026-07-28.
        assert!(made_up.contains(&code::RESOURCE_NOT_FOUND));
    }

    #[test]
    fn the_error_for_a_missing_scope_names_all_scopes_that_the_request_needs() {
        let error = ErrorObject::insufficient_scope("`purge` needs more", ["mcp", "admin"]);
        assert_eq!(error.code, 403);
        assert_eq!(error.data.unwrap().as_str(), r#"{"requiredScopes":["mcp","admin"]}"#);
    }

    // spec: RSRC-18, RSRC-19, ERR-11
    #[test]
    fn an_unknown_resource_has_the_code_of_its_revision() {
        let error = |revision| ErrorObject::resource_not_found("a://b", revision);
        assert_eq!(error(Revision::V2025_11_25).code, -32002);
        assert_eq!(error(Revision::V2026_07_28).code, -32602);
        assert_eq!(error(Revision::LATEST).data.unwrap().as_str(), r#"{"uri":"a://b"}"#);
    }
}
