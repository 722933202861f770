//! Finds the servers that configuration files of hosts name.
//!
//! Files of the user are told apart from files of a project: a project may come from a stranger, so
//! nothing that its files name is started or called without consent. Finding
//! servers reads files and does nothing else.

mod places;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use bowline_gateway::config::{
    ConfigError, ConfigFile, ConfigInput, ConfigVariables, Dialect, Launch, ServerEntry,
};

pub use self::places::Folders;
use self::places::Place;

/// Whose file names a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file in the home of the user.
    User,
    /// A file in the working folder, or in a parent of it.
    Project,
}

/// A server that a file names.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the file says of it.
    pub entry: ServerEntry,
    /// Whose file it is.
    pub origin: Origin,
    /// The folder that `${workspaceFolder}` stands for.
    pub workspace: Option<PathBuf>,
    /// The questions of its file, which `${input:id}` stands for.
    pub inputs: Vec<ConfigInput>,
}

impl Found {
    /// The name that also names the host: `cursor:git`.
    pub fn qualified(&self) -> String {
        format!("{}:{}", slug(self.entry.dialect), self.entry.name)
    }

    /// How it is reached, without its file of variables: this is asked before the user has agreed to
    /// it. `None` if a variable of its entry has no value.
    pub fn launch(&self) -> Option<Launch> {
        self.entry.resolve_unread(&variables(self.workspace.as_deref())).ok()
    }
}

/// The values for an entry: the environment of this process, and this folder as `${workspaceFolder}`.
pub fn variables(workspace: Option<&Path>) -> ConfigVariables {
    let variables = ConfigVariables::of_process();
    match workspace {
        Some(folder) => variables.with_workspace(folder),
        None => variables,
    }
}

/// All servers that files name, and what is wrong with the files.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The servers, in the order of the files.
    pub found: Vec<Found>,
    /// Faults of files and of single entries.
    pub problems: Vec<ConfigError>,
}

/// Reads the files of all hosts. Files that do not exist are passed over.
pub fn discover(folders: &Folders) -> Discovery {
    let mut discovery = Discovery::default();
    let mut seen: Vec<PathBuf> = Vec::new();
    for place in folders.places() {
        let path = &place.path;
        // In the home folder, a file of the user is at the place of a project's file too.
        if seen.contains(path) || !path.is_file() {
            continue;
        }
        seen.push(path.clone());
        match ConfigFile::read(path, place.dialect) {
            Ok(file) => discovery.add(file, &place, folders),
            Err(problem) => discovery.problems.push(problem),
        }
    }
    discovery
}

/// Reads one file that the user names. If hosts read it too, it is what it is to them: a file of the
/// project still needs consent.
///
/// # Errors
///
/// If it cannot be read.
pub fn discover_in(path: &Path, folders: &Folders) -> Result<Discovery, ConfigError> {
    let same = |place: &Place| place.path.canonicalize().ok() == path.canonicalize().ok();
    let known = folders.places().into_iter().find(|place| place.path.exists() && same(place));
    let place = known.unwrap_or_else(|| {
        let workspace = path.parent().and_then(|folder| folder.canonicalize().ok());
        let path = path.to_owned();
        Place { path, dialect: Dialect::Bowline, origin: Origin::User, workspace }
    });
    let file = ConfigFile::read(path, place.dialect)?;
    let mut discovery = Discovery::default();
    discovery.add(file, &place, folders);
    Ok(discovery)
}

impl Discovery {
    fn add(&mut self, file: ConfigFile, place: &Place, folders: &Folders) {
        let is_here = |project: &Path| folders.projects.iter().any(|it| it == project);
        for entry in file.entries {
            if entry.project.as_deref().is_none_or(is_here) {
                let (workspace, inputs) = (place.workspace.clone(), file.inputs.clone());
                self.found.push(Found { entry, origin: place.origin, workspace, inputs });
            }
        }
        self.problems.extend(file.faults);
    }

    /// The servers of this name, `NAME` or `HOST:NAME`, at most one of each host.
    ///
    /// Servers that are switched off count only if there are no others, and servers of the user
    /// hide those of a project. Within one host a server for one project hides the one for all,
    /// then the nearest folder and the first file win. Of equal servers of several hosts only the first is given.
    pub fn named(&self, name: &str) -> Vec<&Found> {
        let is_meant = |it: &&Found| it.entry.name == name || it.qualified() == name;
        let mut all: Vec<&Found> = self.found.iter().filter(is_meant).collect();
        keep_if_any(&mut all, |it| !it.entry.disabled);
        keep_if_any(&mut all, |it| it.origin == Origin::User);
        // A stable sort: files keep their order.
        let depth = |it: &Found| it.entry.project.as_deref().map(|it| it.components().count());
        all.sort_by_key(|it| Reverse(depth(it)));
        let mut different: Vec<&Found> = Vec::new();
        for found in all {
            let launch = found.launch();
            let is_hidden = |by: &&Found| {
                by.entry.dialect == found.entry.dialect || launch.is_some() && by.launch() == launch
            };
            if !different.iter().any(is_hidden) {
                different.push(found);
            }
        }
        different
    }
}

/// Keeps only the servers of which this holds, unless it holds of none.
fn keep_if_any(all: &mut Vec<&Found>, holds: impl Fn(&Found) -> bool) {
    if all.iter().any(|it| holds(it)) {
        all.retain(|it| holds(it));
    }
}

/// The name of a host on the command line: `claude-code`.
fn slug(dialect: Dialect) -> String {
    dialect.host().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests;
