//! The servers that a configuration file names: files of the common hosts, and our own.
//!
//! [`ConfigFile::read`] reads a file in the [`Dialect`] of its host. Reading never starts a program
//! and never looks at the environment. Variables such as `${HOME}` stay as they are in the file
//! until [`ServerEntry::resolve`], which expands the ones that the host itself would expand.
//!
//! ```
//! use bowline_gateway::config::{ConfigFile, Dialect, Launch, ConfigVariables};
//!
//! let text = r#"{ "mcpServers": {
//!     // Comments and trailing commas are fine.
//!     "git": { "command": "uvx", "args": ["mcp-server-git", "--repository", "${REPO:-.}"], },
//! } }"#;
//! let file = ConfigFile::parse(text, "bowline.json", Dialect::Bowline)?;
//! let launch = file.entries[0].resolve(&ConfigVariables::none())?;
//! let Launch::Command(command) = launch else { panic!("it is a command") };
//! assert_eq!(command.args, ["mcp-server-git", "--repository", "."]);
//! # Ok::<(), bowline_gateway::config::ConfigError>(())
//! ```
//!
//! # Reading order
//!
//! * `dialect`: the hosts whose files are read, and how they differ.
//! * `entry`: one configured server; `resolve`: the same with its variables expanded; `unlisted`: its
//!   rules for tools that the server does not have.
//! * `servers`: finds the entries in a file; `section`: the `gateway` section of a file.
//! * `names`: those that are refused.
//! * `template`: text with variables; `variables`: their values.
//! * `document`: JSON with comments, or TOML, as one kind of tree; `error`: where and what is wrong.

mod dialect;
mod document;
mod entry;
mod error;
mod names;
mod resolve;
mod section;
mod servers;
mod template;
mod unlisted;
mod variables;

use std::path::{Path, PathBuf};

pub use self::dialect::Dialect;
pub use self::entry::{CommandEntry, HttpEntry, Isolation, ServerEntry, Sharing, Start, ToolRules};
pub use self::error::ConfigError;
pub use self::resolve::{CommandLaunch, HttpLaunch, Launch};
pub use self::section::GatewaySection;
pub use self::servers::ConfigInput;
pub use self::template::Template;
pub use self::unlisted::UnlistedTool;
pub use self::variables::ConfigVariables;

use self::document::{At, Tree};

/// The longest file that is read, in bytes: `~/.claude.json` also holds the history of projects.
const LONGEST: u64 = 64 << 20;

/// A configuration file, read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// The host whose rules it follows.
    pub dialect: Dialect,
    /// The servers, in the order of the file. Disabled ones too.
    pub entries: Vec<ServerEntry>,
    /// The questions that `${input:id}` stands for.
    pub inputs: Vec<ConfigInput>,
    /// The `gateway` section, empty if the file has none.
    pub gateway: GatewaySection,
    /// What is wrong with single entries. These are not among [`entries`](Self::entries).
    pub faults: Vec<ConfigError>,
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is over 64 MiB, or is no JSON or TOML. A fault of a single entry is no
    /// error, see [`faults`](Self::faults).
    pub fn read(path: impl AsRef<Path>, dialect: Dialect) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let unreadable = |error: std::io::Error| {
            ConfigError::new(path, "", error.to_string()).with_advice("check the path")
        };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > LONGEST {
            let problem = format!("the file has {length} bytes, more than {LONGEST}");
            return Err(ConfigError::new(path, "", problem));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text, path, dialect)
    }

    /// Reads the text of a file. Files with the ending `.toml` are TOML, all others JSON.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(
        text: &str,
        path: impl AsRef<Path>,
        dialect: Dialect,
    ) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let tree = Tree::parse(text, path)?;
        let root = At::root(&tree, path);
        let mut file = Self {
            path: path.to_owned(),
            dialect,
            entries: Vec::new(),
            inputs: Vec::new(),
            gateway: GatewaySection::default(),
            faults: Vec::new(),
        };
        servers::read(&root, &mut file)?;
        match section::read(&root) {
            Ok(section) => file.gateway = section,
            Err(fault) => file.faults.push(fault),
        }
        Ok(file)
    }

    /// The entry with this name.
    pub fn entry(&self, name: &str) -> Option<&ServerEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests;
