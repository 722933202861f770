//! Where hosts keep their configuration files, on Linux, macOS and Windows.

use std::path::{Path, PathBuf};

use bowline_gateway::config::Dialect;

use super::Origin;

/// The folders below which hosts keep their files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folders {
    /// The home of the user.
    pub(crate) home: Option<PathBuf>,
    /// The user's folder for the settings of programs with windows.
    pub(crate) settings: Option<PathBuf>,
    /// The user's folder for the settings of programs that follow the conventions of Unix.
    pub(crate) config: Option<PathBuf>,
    /// The working folder.
    pub(crate) project: Option<PathBuf>,
}

/// A file that may exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) dialect: Dialect,
    pub(super) origin: Origin,
}

/// Below the home.
const HOME: &[(&str, Dialect)] = &[
    (".claude.json", Dialect::ClaudeCode),
    (".cursor/mcp.json", Dialect::Cursor),
    (".codex/config.toml", Dialect::Codex),
    (".codeium/windsurf/mcp_config.json", Dialect::Windsurf),
    (".gemini/settings.json", Dialect::Gemini),
];

/// Below the folder of settings.
const SETTINGS: &[(&str, Dialect)] = &[
    ("Claude/claude_desktop_config.json", Dialect::ClaudeDesktop),
    ("Code/User/mcp.json", Dialect::VsCode),
    ("Code/User/settings.json", Dialect::VsCode),
    ("Code - Insiders/User/mcp.json", Dialect::VsCode),
];

/// Below the folder of configurations.
const CONFIG: &[(&str, Dialect)] = &[("zed/settings.json", Dialect::Zed)];

/// Below the working folder.
const PROJECT: &[(&str, Dialect)] = &[
    (".mcp.json", Dialect::ClaudeCode),
    (".cursor/mcp.json", Dialect::Cursor),
    (".vscode/mcp.json", Dialect::VsCode),
    (".vscode/settings.json", Dialect::VsCode),
    (".gemini/settings.json", Dialect::Gemini),
    (".codex/config.toml", Dialect::Codex),
    (".zed/settings.json", Dialect::Zed),
];

impl Folders {
    /// The folders of this process.
    pub(crate) fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let below_home = |name| std::env::home_dir().map(|home| home.join(name));
        let config = variable("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let settings = match std::env::consts::OS {
            "macos" => below_home("Library/Application Support"),
            "windows" => variable("APPDATA"),
            _ => config.clone(),
        };
        let config = if cfg!(windows) { variable("APPDATA") } else { config };
        Self { home: std::env::home_dir(), settings, config, project: std::env::current_dir().ok() }
    }

    /// The files that may exist, those of the user first.
    pub(super) fn places(&self) -> Vec<Place> {
        let below = |folder: &Option<PathBuf>, names: &[(&str, Dialect)], origin| {
            let place = |folder: &Path| {
                let place = |&(name, dialect): &(&str, Dialect)| Place {
                    path: folder.join(name),
                    dialect,
                    origin,
                };
                names.iter().map(place).collect::<Vec<_>>()
            };
            folder.as_deref().map(place).unwrap_or_default()
        };
        [
            below(&self.home, HOME, Origin::User),
            below(&self.settings, SETTINGS, Origin::User),
            below(&self.config, CONFIG, Origin::User),
            below(&self.project, PROJECT, Origin::Project),
        ]
        .concat()
    }
}
