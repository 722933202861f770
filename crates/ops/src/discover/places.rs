//! Where hosts keep their configuration files, on Linux, macOS and Windows.

use std::path::{Path, PathBuf};

use bowline_gateway::config::Dialect;

use super::Origin;
use crate::folders;

/// The folders below which hosts keep their files.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The home of the user.
    pub home: Option<PathBuf>,
    /// The user's folder for the settings of programs with windows.
    pub settings: Option<PathBuf>,
    /// The user's folder for the settings of programs that follow the conventions of Unix.
    pub config: Option<PathBuf>,
    /// The working folder, then its parents up to the root of its repository.
    pub projects: Vec<PathBuf>,
}

/// A file that may exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) dialect: Dialect,
    pub(super) origin: Origin,
    /// The folder that `${workspaceFolder}` stands for.
    pub(super) workspace: Option<PathBuf>,
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

/// Below the working folder, and below its parents.
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
    pub fn of_process() -> Self {
        let home = folders::home();
        let working = std::env::current_dir().ok();
        let projects = working.map(|it| projects(&it, home.as_deref())).unwrap_or_default();
        Self { home, settings: folders::settings(), config: folders::config(), projects }
    }

    /// The files that may exist, those of the user first.
    pub(super) fn places(&self) -> Vec<Place> {
        let users = [(&self.home, HOME), (&self.settings, SETTINGS), (&self.config, CONFIG)];
        let users = users.into_iter().filter_map(|(folder, names)| Some((folder.as_ref()?, names)));
        let users = users
            .flat_map(|(folder, names)| below(folder, names, Origin::User, self.projects.first()));
        let projects = self.projects.iter();
        let projects = projects.flat_map(|it| below(it, PROJECT, Origin::Project, Some(it)));
        users.chain(projects).collect()
    }
}

fn below(
    folder: &Path,
    names: &[(&str, Dialect)],
    origin: Origin,
    workspace: Option<&PathBuf>,
) -> Vec<Place> {
    let place = |&(name, dialect): &(&str, Dialect)| Place {
        path: folder.join(name),
        dialect,
        origin,
        workspace: workspace.cloned(),
    };
    names.iter().map(place).collect()
}

/// The folders whose files are files of the project: the working folder and its parents up to the
/// root of its repository. Without a repository they end below the home. Outside of the home only the
/// working folder counts: other users may write to its parents, and could make one a repository.
pub(super) fn projects(working: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let is_below_home = home.is_some_and(|home| home != working && working.starts_with(home));
    if !is_below_home {
        return vec![working.to_owned()];
    }
    let folders: Vec<&Path> = working.ancestors().take_while(|it| Some(*it) != home).collect();
    let root = folders.iter().position(|folder| folder.join(".git").exists());
    let count = root.map_or(folders.len(), |root| root + 1);
    folders[..count].iter().map(|folder| folder.to_path_buf()).collect()
}
