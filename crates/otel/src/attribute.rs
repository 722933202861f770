//! The names of attributes, metrics and values that the conventions define.

pub(crate) const METHOD: &str = "mcp.method.name";
pub(crate) const REVISION: &str = "mcp.protocol.version";
pub(crate) const SESSION: &str = "mcp.session.id";
pub(crate) const RESOURCE: &str = "mcp.resource.uri";
pub(crate) const TOOL: &str = "gen_ai.tool.name";
pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
pub(crate) const ERROR: &str = "error.type";
pub(crate) const NETWORK: &str = "network.transport";
pub(crate) const PROTOCOL: &str = "network.protocol.name";
pub(crate) const PROTOCOL_VERSION: &str = "network.protocol.version";
pub(crate) const SERVER_ADDRESS: &str = "server.address";
pub(crate) const SERVER_PORT: &str = "server.port";
pub(crate) const CLIENT_ADDRESS: &str = "client.address";
/// The configured name of a server behind a gateway. No convention has a name for it.
pub(crate) const UPSTREAM: &str = "bowline.upstream";

/// The value of [`OPERATION`] for calls of tools.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";

/// The value of [`ERROR`] for a tool that ran and failed.
pub(crate) const TOOL_ERROR: &str = "tool_error";

/// The value of [`ERROR`] for what was dropped before its end.
pub(crate) const CANCELLED: &str = "cancelled";

/// Stands for every value that could have any number of forms.
pub(crate) const OTHER: &str = "_OTHER";
