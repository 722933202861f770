//! The handshake of revisions up to 2025-11-25, which fixes one revision and both sets of
//! capabilities for a connection or session.

use serde::{Deserialize, Serialize};

use crate::capability::{ClientCapabilities, ServerCapabilities};
use crate::empty::NoParams;
use crate::implementation::Implementation;
use crate::meta::Meta;
use crate::method::Method;
use crate::revision::Revision;
use crate::rpc::{Notice, Rpc};

/// `initialize`.
pub enum Initialize {}

impl Rpc for Initialize {
    const METHOD: Method = Method::Initialize;
    type Params = InitializeParams;
    type Result = InitializeResult;
}

/// `notifications/initialized`: the client has understood the answer.
pub enum Initialized {}

impl Notice for Initialized {
    const METHOD: Method = Method::Initialized;
    type Params = NoParams;
}

/// How a client opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// The revision the client would like, as text: it may be one that is not known here, and
    /// then the server answers with another.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
}

/// How a server answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision to speak, as text: it may be one that the client does not know.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    pub server_info: Implementation,
    /// How to use the server, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl InitializeParams {
    /// Opens with a revision.
    pub fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self { protocol_version: revision.to_string(), capabilities, client_info }
    }

    /// The revision asked for, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

impl InitializeResult {
    /// Answers with a revision.
    #[inline]
    pub fn new(
        revision: Revision,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: revision.to_string(),
            capabilities,
            server_info,
            instructions: None,
            meta: Meta::new(),
        }
    }

    /// Adds how to use the server.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The revision to speak, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: LIFE-2
    #[test]
    fn a_client_opens_with_revision_capabilities_and_name() {
        let text = concat!(
            r#"{"protocolVersion":"2024-11-05","capabilities":{"roots":{"listChanged":true}},"#,
            r#""clientInfo":{"name":"c","version":"1"}}"#
        );
        let params: InitializeParams = serde_json::from_str(text).unwrap();
        assert_eq!(params.revision(), Some(Revision::V2024_11_05));
        assert_eq!(serde_json::to_string(&params).unwrap(), text);
        for missing in [
            r#"{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
            r#"{"protocolVersion":"2024-11-05","clientInfo":{"name":"c","version":"1"}}"#,
            r#"{"protocolVersion":"2024-11-05","capabilities":{}}"#,
        ] {
            let error = serde_json::from_str::<InitializeParams>(missing).unwrap_err().to_string();
            assert!(error.contains("missing field"), "{error}");
        }
    }

    // spec: LIFE-3, LIFE-19
    #[test]
    fn a_server_answers_with_revision_capabilities_and_name() {
        let result = InitializeResult::new(
            Revision::V2025_06_18,
            ServerCapabilities::new().with_tools(),
            Implementation::new("s", "1"),
        );
        let text = serde_json::to_string(&result.with_instructions("Add before you ask.")).unwrap();
        let expected = concat!(
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"#,
            r#""serverInfo":{"name":"s","version":"1"},"instructions":"Add before you ask."}"#
        );
        assert_eq!(text, expected);
    }

    // spec: LIFE-10
    #[test]
    fn a_revision_that_is_not_known_can_still_be_read() {
        let text = concat!(
            r#"{"protocolVersion":"2030-01-01","capabilities":{},"#,
            r#""clientInfo":{"name":"c","version":"1"}}"#
        );
        let params: InitializeParams = serde_json::from_str(text).unwrap();
        assert_eq!(params.revision(), None);
        assert_eq!(params.protocol_version, "2030-01-01");
    }
}
