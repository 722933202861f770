//! What the user can do when a server cannot be reached.

/// A page that is not there.
pub const PATH: &str = "check the path of the address, which is often `/mcp`";

/// Something else than an MCP server answers.
pub const ADDRESS: &str = "is this the address of an MCP server? Most end with `/mcp`";

/// No answer in time.
pub const TIME: &str = "`--timeout SECONDS` waits longer";

/// An answer beyond the limit.
pub const SIZE: &str = "`--max-message SIZE` takes longer messages, such as `256M`";

/// A process that ended.
pub const OUTPUT: &str = "`--verbose` shows what the server writes";

/// Text on the standard output of a server that does not answer.
pub const NOISE: &str = "over stdio a server writes nothing but messages there: does this one \
                                need an option for stdio, or does it serve HTTP at a URL?";

/// A port without a server.
pub const PORT: &str = "is the server started, and is this its port?";

/// A name without an address.
pub const NAME: &str = "check the spelling of the host name, and the network";

/// `https://` at a port that speaks HTTP.
pub const NO_TLS: &str = "the server does not speak TLS: try `http://`";

/// A certificate that is not trusted.
pub const CERTIFICATE: &str =
    "this system must trust its certificate; `SSL_CERT_FILE` names certificates to trust";

/// Something else than MCP on standard output or at an address.
pub const SERVER: &str = "is this an MCP server? `bowline check` says which rules it breaks";
