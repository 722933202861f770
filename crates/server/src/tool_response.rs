//! The answer to a tool call that has a result. Every tool result that this crate makes goes
//! through [`tool_response`].

use bowline_proto::request::{Response, Success};
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;

/// The answer with a tool result, fitted to the revision of the caller.
///
/// The result comes from a handler, or it is an error that the model reads. Three kinds of tool
/// results are made elsewhere: those of a mounted client (`client/src/relay.rs`), those that a
/// handler sends to the model in sampling (`extract/ask/sample.rs`), and those that a layer or an
/// upstream of the user makes with [`Success::complete`].
///
/// A tool (`feature/tool/entry.rs`), its error (`error.rs`) and the layers (`layer.rs`,
/// `layer/guard.rs`) call this. Layers know no call, so a value that depends on the call would come
/// through `CallHead`.
pub(crate) fn tool_response(result: CallToolResult, revision: Revision) -> Response {
    Success::complete(result, revision)
}

/// The answer with an error that the model reads.
pub(crate) fn tool_error(message: impl Into<String>, revision: Revision) -> Response {
    tool_response(CallToolResult::error(message), revision)
}
