//! `server/discover` (2026-07-28): revisions, capabilities and identity of a server, before or
//! instead of any other request.

use serde::{Deserialize, Serialize};

use crate::capability::ServerCapabilities;
use crate::empty::NoParams;
use crate::implementation::Implementation;
use crate::meta::{self, Meta};
use crate::revision::Revision;
use crate::rpc::request;
use crate::setters::setters;

request! {
    /// `server/discover`.
    Discover = ServerDiscover(NoParams) -> DiscoverResult
}

/// The revisions and capabilities of a server.
///
/// ```
/// use bowline_types::discover::DiscoverResult;
/// use bowline_types::{Revision, ServerCapabilities};
///
/// let declared = ServerCapabilities::new().with_tools();
/// let result = DiscoverResult::new(Revision::ALL, declared).with_instructions("Search first.");
/// assert_eq!(result.revisions().max(), Some(Revision::LATEST));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions that the server supports, as text, because some may be unknown here.
    pub supported_versions: Vec<String>,
    /// The features that the server declares.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Further metadata; usually with the server's name and version.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl DiscoverResult {
    /// A server with these revisions and capabilities.
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

    setters! {
        /// Sets how to use the server, for the model.
        with_instructions(instructions: impl Into<String>) {
            instructions = Some(instructions.into())
        }
    }

    /// The supported revisions that this library knows, in the server's order.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.supported_versions.iter().filter_map(|version| version.parse().ok())
    }

    /// Name and version of the server, if it sent them.
    pub fn server_info(&self) -> Option<Implementation> {
        self.meta.parse(meta::key::SERVER_INFO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: DISC-3, DISC-4
    #[test]
    fn a_server_says_what_it_speaks_and_can_do() {
        let text = concat!(
            r#"{"supportedVersions":["2026-07-28","2030-01-01"],"capabilities":{"tools":{}},"#,
            r#""instructions":"Look before you leap.","_meta":{"#,
            r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#
        );
        let result = round_trip::<DiscoverResult>(text);
        assert_eq!(result.revisions().collect::<Vec<_>>(), [Revision::V2026_07_28]);
        assert_eq!(result.server_info(), Some(Implementation::new("s", "1")));
    }

    // spec: DISC-3
    #[test]
    fn members_of_the_protocol_layer_are_ignored() {
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
