//! The hosts whose configuration files are read, and how their files differ.

use std::fmt;

use super::template::Syntax;

/// The host that a configuration file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// A file for `bowline gateway`: the servers of any other dialect, and all variables.
    Bowline,
    /// `.mcp.json` and `~/.claude.json`.
    ClaudeCode,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `~/.codex/config.toml`.
    Codex,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `.gemini/settings.json`.
    Gemini,
    /// `.vscode/mcp.json`, or the `mcp` part of VS Code's settings.
    VsCode,
    /// `mcp_config.json` of Windsurf.
    Windsurf,
    /// `settings.json` of Zed.
    Zed,
}

impl Dialect {
    /// The name of the host, for people.
    pub fn host(self) -> &'static str {
        match self {
            Self::Bowline => "Bowline",
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// The paths below the root of a file at which the host keeps its servers.
    pub(crate) fn places(self) -> &'static [&'static [&'static str]] {
        const PLAIN: &[&str] = &["mcpServers"];
        const VS_CODE: &[&str] = &["servers"];
        const VS_CODE_SETTINGS: &[&str] = &["mcp", "servers"];
        const ZED: &[&str] = &["context_servers"];
        const CODEX: &[&str] = &["mcp_servers"];
        match self {
            Self::Bowline => &[PLAIN, VS_CODE, VS_CODE_SETTINGS, ZED, CODEX],
            Self::VsCode => &[VS_CODE, VS_CODE_SETTINGS],
            Self::Zed => &[ZED],
            Self::Codex => &[CODEX],
            _ => &[PLAIN],
        }
    }

    /// The variables that the host expands.
    pub(crate) fn syntax(self) -> Syntax {
        const NONE: Syntax =
            Syntax { plain: false, bare: false, prefixed: false, inputs: false, folders: false };
        match self {
            Self::Bowline => {
                Syntax { plain: true, prefixed: true, inputs: true, folders: true, ..NONE }
            }
            Self::ClaudeCode => Syntax { plain: true, ..NONE },
            Self::Gemini => Syntax { plain: true, bare: true, ..NONE },
            Self::Cursor => Syntax { prefixed: true, folders: true, ..NONE },
            Self::VsCode => Syntax { prefixed: true, inputs: true, folders: true, ..NONE },
            Self::Windsurf => Syntax { prefixed: true, ..NONE },
            Self::ClaudeDesktop | Self::Codex | Self::Zed => NONE,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.host())
    }
}
