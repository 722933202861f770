//! The programs, and what to type for each job.

/// A program that is measured. A job that it does not have is `None`.
///
/// In the command lines `{bowline}`, `{echo}`, `{npm}`, `{node}` and `{python}` stand for what is
/// installed, `{port}` for a free port and `{url}` for the address of a server.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Prints its version and ends.
    pub(crate) version: Option<&'static [&'static str]>,
    /// Lists the tools of a stdio server and ends.
    pub(crate) list: Option<&'static [&'static str]>,
    /// Offers a stdio server at `http://127.0.0.1:{port}/mcp`.
    pub(crate) serve: Option<&'static [&'static str]>,
    /// Offers a server at a URL over stdio.
    pub(crate) connect: Option<&'static [&'static str]>,
}

pub(crate) const PROGRAMS: &[Program] = &[
    Program {
        name: "bowline",
        version: Some(&["{bowline}", "--version"]),
        list: Some(&["{bowline}", "list", "--", "{echo}", "stdio"]),
        serve: Some(&["{bowline}", "serve", "--http", "127.0.0.1:{port}", "--", "{echo}", "stdio"]),
        connect: Some(&["{bowline}", "connect", "{url}"]),
    },
    Program {
        name: "Inspector CLI",
        version: Some(&["{node}", "{npm}/mcp-inspector", "--version"]),
        list: Some(&[
            "{node}",
            "{npm}/mcp-inspector",
            "--cli",
            "{echo}",
            "stdio",
            "--method",
            "tools/list",
        ]),
        serve: None,
        connect: None,
    },
    Program {
        name: "mcporter",
        version: Some(&["{node}", "{npm}/mcporter", "--version"]),
        list: Some(&["{node}", "{npm}/mcporter", "list", "--stdio", "{echo} stdio", "--json"]),
        serve: None,
        connect: None,
    },
    Program {
        name: "mcp-remote",
        version: None,
        list: None,
        serve: None,
        connect: Some(&["{node}", "{npm}/mcp-remote", "{url}", "--transport", "http-only"]),
    },
    Program {
        name: "supergateway",
        version: Some(&["{node}", "{npm}/supergateway", "--version"]),
        list: None,
        serve: Some(&[
            "{node}",
            "{npm}/supergateway",
            "--stdio",
            "{echo} stdio",
            "--outputTransport",
            "streamableHttp",
            "--stateful",
            "--port",
            "{port}",
            "--logLevel",
            "none",
        ]),
        connect: Some(&[
            "{node}",
            "{npm}/supergateway",
            "--streamableHttp",
            "{url}",
            "--logLevel",
            "none",
        ]),
    },
    Program {
        name: "mcp-proxy (npm)",
        version: Some(&["{node}", "{npm}/mcp-proxy", "--version"]),
        list: None,
        serve: Some(&[
            "{node}",
            "{npm}/mcp-proxy",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--server",
            "stream",
            "--",
            "{echo}",
            "stdio",
        ]),
        connect: None,
    },
    Program {
        name: "mcp-proxy (PyPI)",
        version: Some(&["{python}/mcp-proxy", "--version"]),
        list: None,
        serve: Some(&["{python}/mcp-proxy", "--port", "{port}", "--", "{echo}", "stdio"]),
        connect: Some(&["{python}/mcp-proxy", "--transport", "streamablehttp", "{url}"]),
    },
];
