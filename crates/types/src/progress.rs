//! Progress notifications while a request runs.
//!
//! A receiver sends them only if the request carries a progress token, and none after its answer.
//! `progress` has to increase with each notification, even if the total is unknown; the sender checks
//! that, this type does not.

use serde::{Deserialize, Serialize};

use crate::id::ProgressToken;
use crate::member::{number, optional_number};
use crate::rpc::notification;
use crate::setters::setters;

notification! {
    /// `notifications/progress`.
    ProgressNotification = Progress(ProgressParams)
}

/// The progress of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressParams {
    /// The token of the request.
    pub progress_token: ProgressToken,
    /// How much is done, in any unit. More than in the notification before.
    #[serde(serialize_with = "number")]
    pub progress: f64,
    /// How much there is to do, in the same unit, if known.
    #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done now, for people (since 2025-03-26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProgressParams {
    /// Progress without total and message.
    pub fn new(token: ProgressToken, progress: f64) -> Self {
        Self { progress_token: token, progress, total: None, message: None }
    }

    setters! {
        /// Sets how much there is to do.
        with_total(total: f64) { total = Some(total) }

        /// Sets what is being done now.
        with_message(message: impl Into<String>) { message = Some(message.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: PROG-1, PROG-3, PROG-5
    #[test]
    fn progress_may_be_whole_or_fractional_and_tokens_of_either_kind() {
        let text = r#"{"progressToken":"abc","progress":50,"total":100.5,"message":"halfway"}"#;
        let params: ProgressParams = serde_json::from_str(text).unwrap();
        assert_eq!((params.progress, params.total), (50.0, Some(100.5)));
        let params: ProgressParams =
            serde_json::from_str(r#"{"progressToken":7,"progress":0.25,"total":null}"#).unwrap();
        assert_eq!(params, ProgressParams::new(ProgressToken(7.into()), 0.25));
    }

    #[test]
    fn whole_progress_is_written_without_a_fraction() {
        let written = |progress, total| {
            let params = ProgressParams::new(ProgressToken(7.into()), progress).with_total(total);
            serde_json::to_string(&params).unwrap()
        };
        assert_eq!(written(1.0, 3.0), r#"{"progressToken":7,"progress":1,"total":3}"#);
        assert_eq!(written(0.5, 1.5), r#"{"progressToken":7,"progress":0.5,"total":1.5}"#);
        assert_eq!(written(-0.0, 1e18), r#"{"progressToken":7,"progress":0,"total":1e+18}"#);
    }

    #[test]
    fn progress_without_a_token_is_refused_by_name_of_the_member() {
        let error = serde_json::from_str::<ProgressParams>(r#"{"progress":1}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `progressToken`"), "{error}");
    }
}
