//! One configured server.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use bowline_types::text::{bare_url, shown_url};

use super::dialect::Dialect;
use super::template::Template;

/// A server that a configuration file names. Variables are not expanded yet; see
/// [`resolve`](ServerEntry::resolve).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its name in the file.
    pub name: String,
    /// The file that names it.
    pub file: PathBuf,
    /// Where in the file it stands, as a JSON path.
    pub at: String,
    /// The host whose rules the file follows.
    pub dialect: Dialect,
    /// The project that it is for, where one file holds the servers of several.
    pub project: Option<PathBuf>,
    /// How to reach it.
    pub start: Start,
    /// The entry is disabled.
    pub disabled: bool,
    /// Which of its tools are offered, and under which names.
    pub tools: ToolRules,
    /// Whether it asks its callers questions (`asks`). `None`: found out when it first does.
    pub asks: Option<bool>,
    /// Whether callers share a process or session of it (`isolate`).
    pub isolate: Isolation,
    /// Whose callers share it (`share`).
    pub share: Sharing,
    /// The prefix of its names in a gateway, if not made from its name (`namespace`).
    pub namespace: Option<String>,
    /// Whether its instructions reach models (`instructions`).
    pub instructions: bool,
}

/// How a configured server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// A program that speaks over its standard input and output.
    Command(CommandEntry),
    /// A server at a URL.
    Http(HttpEntry),
}

/// A program to start. Its `Debug` output shows no values of its environment and no arguments.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandEntry {
    /// The program.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Variables that are set in its environment.
    pub env: BTreeMap<String, Template>,
    /// Names of variables that it gets from our environment.
    pub pass_env: Vec<String>,
    /// A file with more variables, which those of `env` replace.
    pub env_file: Option<Template>,
    /// The folder that it starts in.
    pub cwd: Option<Template>,
}

/// A server at a URL. Its `Debug` output shows no values of headers.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpEntry {
    /// The URL.
    pub url: Template,
    /// Headers of every request.
    pub headers: BTreeMap<String, Template>,
    /// The variable of our environment that holds its access token.
    pub bearer_variable: Option<String>,
    /// The file says that it speaks HTTP with SSE, the transport of 2024-11-05.
    pub sse: bool,
}

/// Which tools of a server are offered, and under which names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRules {
    /// The only tools that are offered, by the server's own names. `None`: all.
    pub show: Option<Vec<String>>,
    /// Tools that are not offered.
    pub hide: Vec<String>,
    /// New names of tools, by the server's own names.
    pub rename: BTreeMap<String, String>,
}

impl ToolRules {
    /// Whether all tools are offered under their own names.
    pub fn is_empty(&self) -> bool {
        self.show.is_none() && self.hide.is_empty() && self.rename.is_empty()
    }

    /// Whether every tool is offered that is not named, and names are withheld: those of hidden tools,
    /// and those that others got. Then a call must name a listed tool exactly.
    pub(crate) fn withholds_some(&self) -> bool {
        self.show.is_none() && !(self.hide.is_empty() && self.rename.is_empty())
    }

    /// The name under which a tool of the server is offered. `None` if it is not. A tool whose own name
    /// was given to another one is not offered, unless it has another name too.
    pub fn offered<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let is_shown = self.show.as_ref().is_none_or(|show| show.iter().any(|shown| shown == name));
        let is_hidden = self.hide.iter().any(|hidden| hidden == name);
        let is_offered = is_shown && !is_hidden && self.holder(name).is_none();
        is_offered.then(|| self.rename.get(name).map_or(name, String::as_str))
    }

    /// The tool that was given the name of this one. `None` if this one keeps its name, or has another
    /// one too.
    pub(crate) fn holder(&self, name: &str) -> Option<&str> {
        if self.rename.contains_key(name) {
            return None;
        }
        self.rename.iter().find(|(_, new)| *new == name).map(|(holder, _)| holder.as_str())
    }

    /// The server's own name of a tool that is offered under this name. `None` if there is none.
    pub fn original<'n>(&'n self, offered: &'n str) -> Option<&'n str> {
        let renamed = self.rename.iter().find(|(_, new)| *new == offered);
        let name = renamed.map_or(offered, |(name, _)| name);
        (self.offered(name) == Some(offered)).then_some(name)
    }
}

/// Whether callers share a process or session of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isolation {
    /// Callers of one owner share it, as far as that cannot mix up their questions.
    #[default]
    Shared,
    /// Every caller has its own (`"isolate": "caller"`).
    Caller,
}

/// Whose callers share a process or session of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharing {
    /// Those with the same credentials.
    #[default]
    Owner,
    /// All callers (`"share": "all"`): for servers that hold nothing of a caller.
    All,
}

impl ServerEntry {
    /// What other parts of the program show for it: the program or the URL, without arguments,
    /// which may hold secrets.
    pub fn address(&self) -> String {
        match &self.start {
            Start::Command(command) => command.command.raw().to_owned(),
            Start::Http(http) => bare_url(http.url.raw()),
        }
    }
}

impl fmt::Debug for CommandEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandEntry")
            .field("command", &self.command.raw())
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd.as_ref().map(Template::raw))
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEntry")
            .field("url", &shown_url(self.url.raw()))
            .field("headers", &self.headers.keys())
            .field("sse", &self.sse)
            .finish_non_exhaustive()
    }
}
