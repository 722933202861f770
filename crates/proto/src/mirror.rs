//! Parts of a message that HTTP repeats in headers (2026-07-28), so that proxies need not read
//! bodies.
//!
//! A client sends a [`Mirror`] of each message along with it. A server reads the headers as a
//! [`Head`] and compares them with the body, because a proxy may have routed the request by its
//! headers. Arguments that a tool [marks](x_mcp_header) travel in headers of their own
//! ([`params`]). Values that a header cannot hold are [encoded](value).

pub mod head;
pub mod params;
pub mod value;
pub mod x_mcp_header;

use std::borrow::Cow;

use bowline_types::method::Method;
use bowline_types::revision::Revision;

pub use self::head::{Head, HeaderField};
pub use self::params::{ParamHeader, ParamHeaders};

/// `MCP-Protocol-Version`: the revision of the message.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// `Mcp-Method`: the method of the message.
pub const METHOD: &str = "mcp-method";
/// `Mcp-Name`: the tool, prompt or resource that the message is about.
pub const NAME: &str = "mcp-name";
/// The prefix of headers that repeat arguments.
pub const PARAM_PREFIX: &str = "mcp-param-";

/// The parts of a message that a client repeats in headers.
///
/// The client's connection makes it beside each message; only the HTTP transport asks for it
/// ([`ClientConfig::with_mirrors`](crate::client::ClientConfig::with_mirrors)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The id on the wire, if the message is a request. Not sent as a header; a
    /// [`SendFailure`](crate::transmit::SendFailure) names it.
    pub id: Option<i64>,
    /// The method; `None` for an answer.
    pub method: Option<Method>,
    /// The revision that both sides agreed on, if they have.
    pub revision: Option<Revision>,
    /// The tool, prompt or resource that the message is about.
    pub name: Option<String>,
    /// Arguments that the tool marks.
    pub params: Vec<ParamHeader>,
}

impl Mirror {
    /// The headers to send, by their names in lower case, encoded where needed.
    ///
    /// None before 2025-06-18, only the version up to 2025-11-25 (PV-1), and on 2026-07-28 also
    /// method, name and marked arguments (HDR-1 to HDR-4).
    pub fn headers(&self) -> Vec<(Cow<'static, str>, Cow<'_, str>)> {
        let Some(revision) = self.revision.filter(|revision| revision.has_version_header()) else {
            return Vec::new();
        };
        let mut headers = Vec::with_capacity(3 + self.params.len());
        headers.push((PROTOCOL_VERSION.into(), revision.as_str().into()));
        if !revision.has_mirrored_headers() {
            return headers;
        }
        if let Some(method) = self.method {
            headers.push((METHOD.into(), method.name().into()));
        }
        if let Some(name) = &self.name {
            headers.push((NAME.into(), value::encode(name)));
        }
        for param in &self.params {
            let name = format!("{PARAM_PREFIX}{}", param.name.to_ascii_lowercase());
            headers.push((name.into(), value::encode(&param.value)));
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(revision: Option<Revision>) -> Mirror {
        Mirror {
            id: Some(1),
            method: Some(Method::ToolsCall),
            revision,
            name: Some("größe".to_owned()),
            params: vec![ParamHeader { name: "Region".to_owned(), value: " a".to_owned() }],
        }
    }

    fn lines(mirror: &Mirror) -> Vec<String> {
        mirror.headers().iter().map(|(name, value)| format!("{name}: {value}")).collect()
    }

    // spec: HDR-1, HDR-3, HDR-4, HDR-5, XMH-15, XMH-16
    #[test]
    fn a_modern_message_is_mirrored_whole() {
        let expected = [
            "mcp-protocol-version: 2026-07-28",
            "mcp-method: tools/call",
            "mcp-name: =?base64?Z3LDtsOfZQ==?=",
            "mcp-param-region: =?base64?IGE=?=",
        ];
        assert_eq!(lines(&mirror(Some(Revision::V2026_07_28))), expected);
    }

    // spec: PV-1, PV-2
    #[test]
    fn a_session_mirrors_its_revision_from_2025_06_18() {
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
            let expected = format!("mcp-protocol-version: {revision}");
            assert_eq!(lines(&mirror(Some(revision))), [expected]);
        }
        assert_eq!(lines(&mirror(Some(Revision::V2025_03_26))), [""; 0]);
        assert_eq!(lines(&mirror(None)), [""; 0]);
    }
}
