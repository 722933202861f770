//! `notifications/cancelled`: cancelling a request.
//!
//! The receiver stops the work and sends no answer. Both messages may cross, so the sender ignores an
//! answer that still comes. A client must not cancel `initialize`. Over HTTP on 2026-07-28 a client
//! cancels by closing the stream instead ([`cancels_by_closing`](crate::Revision::cancels_by_closing)).

use serde::{Deserialize, Serialize};

use crate::id::RequestId;
use crate::rpc::notification;
use crate::setters::setters;

notification! {
    /// `notifications/cancelled`.
    Cancelled = Cancelled(CancelledParams)
}

/// The request to cancel, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledParams {
    /// The request. The schema of 2025-11-25 makes it optional; without it the notification cancels
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// The reason, for logs and people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelledParams {
    /// Cancels a request.
    pub fn new(request_id: RequestId) -> Self {
        Self { request_id: Some(request_id), reason: None }
    }

    setters! {
        /// Sets the reason.
        with_reason(reason: impl Into<String>) { reason = Some(reason.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: CANC-4
    #[test]
    fn a_cancellation_names_its_request() {
        let params = CancelledParams::new(123.into()).with_reason("the user gave up");
        let text = serde_json::to_string(&params).unwrap();
        assert_eq!(text, r#"{"requestId":123,"reason":"the user gave up"}"#);
        assert_eq!(serde_json::from_str::<CancelledParams>(&text).unwrap(), params);
    }

    // spec: CANC-4, CANC-13
    #[test]
    fn a_cancellation_without_request_can_be_read() {
        let params: CancelledParams = serde_json::from_str(r#"{"reason":"shutdown"}"#).unwrap();
        assert_eq!(params.request_id, None);
    }
}
