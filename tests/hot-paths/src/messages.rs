//! The messages that the cases send.

use bytes::Bytes;

/// The argument of the echo tool, except in cases about size: 64 bytes.
pub(crate) const MESSAGE: &str = "sixty-four bytes of text, the length that benchmarks call small.";

/// The handshake of 2025-11-25.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hot-paths","version":"1.0.0"}}}"#;

/// The end of the handshake.
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A list of tools in a session.
pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;

/// A notification to a client.
pub(crate) const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"total":2,"message":"half of it"}}"#;

/// An answer to a client.
pub(crate) fn answer() -> Bytes {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{MESSAGE}"}}]}}}}"#
    )
    .into()
}

/// A call of the echo tool in a session (2025-11-25).
pub(crate) fn legacy_call(message: &str) -> Bytes {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{message}"}}}}}}"#
    )
    .into()
}

/// A modern call of the echo tool (2026-07-28).
pub(crate) fn modern_call(message: &str) -> Bytes {
    const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hot-paths","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"_meta":{META},"name":"echo","arguments":{{"message":"{message}"}}}}}}"#
    )
    .into()
}
