//! Params and results without members.

use serde::{Deserialize, Serialize};

use crate::meta::Meta;

/// Params without members. Members that a peer adds are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoParams {}

/// A result without members, such as that of `ping`: the request is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl EmptyResult {
    /// A result without metadata.
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
    fn unknown_members_are_ignored() {
        assert!(serde_json::from_str::<NoParams>(r#"{"cursor":"x"}"#).is_ok());
        let text = r#"{"resultType":"complete","_meta":{"a":1}}"#;
        let result: EmptyResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), r#"{"_meta":{"a":1}}"#);
    }
}
