//! Turns the text of a request into the text of its answer.

use std::borrow::Cow;
use std::fmt::Write;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The answers to requests; all but those of `echo` are prepared.
pub(crate) struct Server {
    tools: PerEra,
}

/// The text after the id in an answer, for each era.
struct PerEra {
    legacy: Bytes,
    modern: Bytes,
}

/// The result of handling a message.
pub(crate) enum Answer {
    /// It needs no answer.
    None,
    /// The answer is written.
    Written,
    /// The answer is written but for its end, which is this.
    Until(Bytes),
    /// The same, and it is the answer that opens a session.
    OpensSession(Bytes),
}

const INITIALIZED: &[u8] = br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"ceiling","version":"1.0.0"}}}"#;
const DISCOVERED: &[u8] = br#","result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"}}"#;
const PONG: &[u8] = br#","result":{}}"#;
const UNKNOWN: &[u8] = br#","error":{"code":-32601,"message":"method not found"}}"#;

impl Server {
    /// Offers the tool `echo`.
    pub(crate) fn with_echo() -> Self {
        let schema = r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#;
        Self::listing(&format!(
            r#"{{"name":"echo","description":"Give a message back","inputSchema":{schema}}}"#
        ))
    }

    /// Offers that many tools, as similar to those of the other catalogues as possible.
    pub(crate) fn with_tools(count: usize) -> Self {
        let schema = r#"{"type":"object","properties":{"message":{"description":"What to give back","type":"string"},"times":{"description":"How often it was said before","type":"integer"}},"required":["message"]}"#;
        let mut tools = String::new();
        for number in 0..count {
            let comma = if number == 0 { "" } else { "," };
            let tool = format!(
                r#"{comma}{{"name":"tool_{number}","description":"Give a message back, as tool number {number}","inputSchema":{schema}}}"#
            );
            tools.push_str(&tool);
        }
        Self::listing(&tools)
    }

    fn listing(tools: &str) -> Self {
        let mut legacy = String::new();
        let mut modern = String::new();
        // Writing to a string cannot fail.
        let _ = write!(legacy, r#","result":{{"tools":[{tools}]}}}}"#);
        let _ = write!(
            modern,
            r#","result":{{"resultType":"complete","tools":[{tools}],"ttlMs":0,"cacheScope":"public"}}}}"#
        );
        Self { tools: PerEra { legacy: legacy.into(), modern: modern.into() } }
    }

    /// Appends the answer to a message, but for its prepared end.
    ///
    /// # Errors
    ///
    /// If the text is no message.
    pub(crate) fn answer(&self, text: &[u8], out: &mut Vec<u8>) -> serde_json::Result<Answer> {
        let message: Message<'_> = serde_json::from_slice(text)?;
        let Some(id) = message.id else { return Ok(Answer::None) };
        let is_modern = message.params.meta.revision.is_some();
        if message.method == "tools/call" {
            let text = message.params.arguments.message;
            let result_type = is_modern.then_some("complete");
            let result = Echo { result_type, content: [Text { kind: "text", text }] };
            serde_json::to_writer(out, &Success { jsonrpc: "2.0", id, result })?;
            return Ok(Answer::Written);
        }
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.get().as_bytes());
        Ok(match &*message.method {
            "initialize" => Answer::OpensSession(Bytes::from_static(INITIALIZED)),
            "server/discover" => Answer::Until(Bytes::from_static(DISCOVERED)),
            "tools/list" if is_modern => Answer::Until(self.tools.modern.clone()),
            "tools/list" => Answer::Until(self.tools.legacy.clone()),
            "ping" => Answer::Until(Bytes::from_static(PONG)),
            _ => Answer::Until(Bytes::from_static(UNKNOWN)),
        })
    }
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Arguments<'a>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Default, Deserialize)]
struct Arguments<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<&'a str>,
}

#[derive(Serialize)]
struct Success<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: Echo<'a>,
}

#[derive(Serialize)]
struct Echo<'a> {
    #[serde(rename = "resultType", skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: Cow<'a, str>,
}
