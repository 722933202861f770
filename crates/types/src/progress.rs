//! How far a request has come, told while it runs.
//!
//! Sent only to those who gave a token. That `progress` rises from one notice to the next is kept
//! by whoever sends them.

use serde::{Deserialize, Serialize};

use crate::id::ProgressToken;
use crate::method::Method;
use crate::rpc::Notice;

/// `notifications/progress`.
pub enum Progress {}

impl Notice for Progress {
    const METHOD: Method = Method::Progress;
    type Params = ProgressParams;
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressParams {
    /// What the request gave to hear of its progress.
    pub progress_token: ProgressToken,
    /// What is done, in any unit; more than in the notice before.
    #[serde(serialize_with = "crate::member::number")]
    pub progress: f64,
    /// What there is to do in the same unit, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::member::optional_number")]
    pub total: Option<f64>,
    /// What is being done, for people (since 2025-03-26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProgressParams {
    /// So much is done.
    pub fn new(token: ProgressToken, progress: f64) -> Self {
        Self { progress_token: token, progress, total: None, message: None }
    }

    /// Says what there is to do.
    #[must_use]
    pub fn with_total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says what is being done.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
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
