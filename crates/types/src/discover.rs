//! What a server says about itself when it is asked (2026-07-28). Nobody has to ask.

use serde::{Deserialize, Serialize};

use crate::capability::ServerCapabilities;
use crate::empty::NoParams;
use crate::implementation::Implementation;
use crate::meta::{self, Meta};
use crate::method::Method;
use crate::revision::Revision;
use crate::rpc::Rpc;

/// `server/discover`.
pub enum Discover {}

impl Rpc for Discover {
    const METHOD: Method = Method::ServerDiscover;
    type Params = NoParams;
    type Result = DiscoverResult;
}

/// What a server speaks and can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions it speaks, as text: there may be some that are not known here.
    pub supported_versions: Vec<String>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// How to use it, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Anything beside; usually who it is.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl DiscoverResult {
    /// A server that speaks these revisions and can do this.
    pub fn new(
        revisions: impl IntoIterator<Item = Revision>,
        capabilities: ServerCapabilities,
    ) -> Self {
        Self {
            supported_versions: revisions.into_iter().map(|it| it.to_string()).collect(),
            capabilities,
            instructions: None,
            meta: Meta::new(),
        }
    }

    /// Adds how to use it.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The revisions it speaks that are known here, in its order.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.supported_versions.iter().filter_map(|version| version.parse().ok())
    }

    /// Who it says it is.
    pub fn server_info(&self) -> Option<Implementation> {
        self.meta.parse(meta::key::SERVER_INFO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: DISC-3, DISC-4
    #[test]
    fn a_server_says_what_it_speaks_and_can_do() {
        let text = concat!(
            r#"{"supportedVersions":["2026-07-28","2030-01-01"],"capabilities":{"tools":{}},"#,
            r#""instructions":"Look before you leap.","_meta":{"#,
            r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#
        );
        let result: DiscoverResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
        assert_eq!(result.revisions().collect::<Vec<_>>(), [Revision::V2026_07_28]);
        assert_eq!(result.server_info(), Some(Implementation::new("s", "1")));
    }

    // spec: DISC-3
    #[test]
    fn what_belongs_to_the_engine_is_passed_over() {
        let text = concat!(
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"public","#,
            r#""supportedVersions":[],"capabilities":{}}"#
        );
        let result: DiscoverResult = serde_json::from_str(text).unwrap();
        assert_eq!(result, DiscoverResult::new([], ServerCapabilities::new()));
        let error = serde_json::from_str::<DiscoverResult>(r#"{"capabilities":{}}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `supportedVersions`"), "{error}");
    }
}
