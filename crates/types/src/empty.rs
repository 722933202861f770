//! Messages that say nothing beyond their method.

use serde::{Deserialize, Serialize};

use crate::meta::Meta;

/// Params without members of their own. Members that a peer adds are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoParams {}

/// A result that only says that it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl EmptyResult {
    /// Done, and nothing beside.
    pub fn new() -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: PING-1
    #[test]
    fn an_empty_result_is_an_empty_object() {
        assert_eq!(serde_json::to_string(&EmptyResult::new()).unwrap(), "{}");
        assert_eq!(serde_json::to_string(&NoParams {}).unwrap(), "{}");
    }

    #[test]
    fn members_nobody_asked_for_are_passed_over() {
        assert!(serde_json::from_str::<NoParams>(r#"{"cursor":"x"}"#).is_ok());
        let text = r#"{"resultType":"complete","_meta":{"a":1}}"#;
        let result: EmptyResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), r#"{"_meta":{"a":1}}"#);
    }
}
