//! The handshake up to 2025-11-25. It fixes the revision and the capabilities of both sides for a
//! connection or session.
//!
//! The client requests the newest revision that it supports. A server that supports it answers with the
//! same one, any other with one that it does support. A client that does not support the answer closes
//! the connection; otherwise it sends `notifications/initialized`.

use serde::{Deserialize, Serialize};

use crate::capability::{ClientCapabilities, ServerCapabilities};
use crate::empty::NoParams;
use crate::implementation::Implementation;
use crate::meta::Meta;
use crate::revision::Revision;
use crate::rpc::{notification, request};
use crate::setters::setters;

request! {
    /// `initialize`.
    Initialize = Initialize(InitializeParams) -> InitializeResult
}

notification! {
    /// `notifications/initialized`: the client has received the result and starts to send requests.
    Initialized = Initialized(NoParams)
}

/// The first request of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// The revision that the client wants, as text. If the server does not know it, it answers with
    /// another.
    pub protocol_version: String,
    /// The capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// Name and version of the client.
    pub client_info: Implementation,
}

/// The answer of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision of the connection, as text. The client may not know it.
    pub protocol_version: String,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Name and version of the server.
    pub server_info: Implementation,
    /// How to use the server, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl InitializeParams {
    /// A request for a revision.
    pub fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self { protocol_version: revision.to_string(), capabilities, client_info }
    }

    /// The revision that the client wants, if this library knows it.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

impl InitializeResult {
    /// An answer with a revision.
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

    setters! {
        /// Sets how to use the server, for the model.
        with_instructions(instructions: impl Into<String>) {
            instructions = Some(instructions.into())
        }
    }

    /// The revision of the connection, if this library knows it.
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
