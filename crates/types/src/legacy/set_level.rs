//! `logging/setLevel`: the level of log messages for a session. Since 2026-07-28 each request sets
//! it in its `_meta`.

use serde::{Deserialize, Serialize};

use crate::deprecated::logging::LoggingLevel;
use crate::empty::EmptyResult;
use crate::rpc::request;

request! {
    /// `logging/setLevel`.
    SetLevel = LoggingSetLevel(SetLevelParams) -> EmptyResult
}

/// The level of log messages that the client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SetLevelParams {
    /// The least severe level.
    pub level: LoggingLevel,
}

impl SetLevelParams {
    /// Asks for messages of this level and more severe ones.
    pub fn new(level: LoggingLevel) -> Self {
        Self { level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: LOG-2
    #[test]
    fn a_level_is_set_by_its_word() {
        let params: SetLevelParams = serde_json::from_str(r#"{"level":"warning"}"#).unwrap();
        assert_eq!(params, SetLevelParams::new(LoggingLevel::Warning));
    }

    // spec: LOG-5
    #[test]
    fn an_unknown_level_is_refused_with_the_words_that_are_known() {
        let error = serde_json::from_str::<SetLevelParams>(r#"{"level":"loud"}"#).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("`loud`") && error.contains("emergency"), "{error}");
    }
}
