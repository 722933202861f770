//! `resources/subscribe`: notifications of changes of one resource. Since 2026-07-28
//! `subscriptions/listen` replaces it.

use serde::{Deserialize, Serialize};

use crate::empty::EmptyResult;
use crate::rpc::request;

request! {
    /// `resources/subscribe`.
    SubscribeResource = ResourcesSubscribe(SubscribeParams) -> EmptyResult,
    /// `resources/unsubscribe`.
    UnsubscribeResource = ResourcesUnsubscribe(SubscribeParams) -> EmptyResult
}

/// The resource to subscribe to, or to unsubscribe from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscribeParams {
    /// Its URI. Notifications may name resources below it.
    pub uri: String,
}

impl SubscribeParams {
    /// The params for one resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RSRC-7
    #[test]
    fn a_subscription_names_a_resource() {
        let params: SubscribeParams = serde_json::from_str(r#"{"uri":"file:///a"}"#).unwrap();
        assert_eq!(params, SubscribeParams::new("file:///a"));
        let error = serde_json::from_str::<SubscribeParams>("{}").unwrap_err().to_string();
        assert!(error.contains("missing field `uri`"), "{error}");
    }
}
