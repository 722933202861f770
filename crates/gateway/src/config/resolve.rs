//! An entry with its variables expanded: what to start, or which URL to call.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use bowline_types::text::shown_url;

use super::entry::{CommandEntry, HttpEntry, ServerEntry, Start};
use super::error::ConfigError;
use super::template::Template;
use super::variables::ConfigVariables;

/// The longest file of variables that is read, in bytes: such files are written by hand.
const LONGEST_ENV_FILE: u64 = 1 << 20;

/// How to reach a server, with all variables expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program to start.
    Command(CommandLaunch),
    /// A URL to call.
    Http(HttpLaunch),
}

/// A program to start. Its `Debug` output shows only the program.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandLaunch {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that are set in its environment.
    pub env: BTreeMap<String, OsString>,
    /// Whether it also gets the environment of this process. Entries of files never say so.
    pub inherits_env: bool,
    /// A file with more variables. [`ServerEntry::resolve`] has put those into `env` that the entry
    /// does not set itself.
    pub env_file: Option<PathBuf>,
    /// The folder that it starts in.
    pub cwd: Option<PathBuf>,
}

/// A URL to call. Its `Debug` output shows no values of headers and no query.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLaunch {
    /// The URL.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// The file says that it speaks HTTP with SSE, the transport of 2024-11-05.
    pub sse: bool,
}

impl ServerEntry {
    /// Expands the variables that the host of the file expands, and reads its file of variables.
    ///
    /// # Errors
    ///
    /// If a variable has no value, or if the file of variables cannot be read, is no regular file, or
    /// is over 1 MiB.
    pub fn resolve(&self, variables: &ConfigVariables) -> Result<Launch, ConfigError> {
        let mut launch = self.resolve_unread(variables)?;
        if let (Launch::Command(launch), Start::Command(entry)) = (&mut launch, &self.start)
            && let Some(path) = &launch.env_file
        {
            let resolver = Resolver { entry: self, variables };
            let read = resolver.env_file(path)?.into_iter();
            let added = read.filter(|(name, _)| !entry.env.contains_key(name));
            launch.env.extend(added.map(|(name, value)| (name, value.into())));
        }
        Ok(launch)
    }

    /// The same without the variables of the file, and without reading it: to compare entries before
    /// the user has agreed to one.
    ///
    /// # Errors
    ///
    /// If a variable has no value.
    pub fn resolve_unread(&self, variables: &ConfigVariables) -> Result<Launch, ConfigError> {
        let resolver = Resolver { entry: self, variables };
        Ok(match &self.start {
            Start::Command(command) => Launch::Command(resolver.command(command)?),
            Start::Http(http) => Launch::Http(resolver.http(http)?),
        })
    }

    /// The variables that it needs, by their names in the file, each once.
    pub fn variables(&self) -> Vec<&str> {
        let mut templates = Vec::new();
        match &self.start {
            Start::Command(command) => {
                templates.push(&command.command);
                templates.extend(&command.args);
                templates.extend(command.env.values());
                templates.extend(command.env_file.iter().chain(&command.cwd));
            }
            Start::Http(http) => {
                templates.push(&http.url);
                templates.extend(http.headers.values());
            }
        }
        let mut names: Vec<&str> = templates.into_iter().flat_map(Template::variables).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

struct Resolver<'e> {
    entry: &'e ServerEntry,
    variables: &'e ConfigVariables,
}

impl Resolver<'_> {
    fn command(&self, entry: &CommandEntry) -> Result<CommandLaunch, ConfigError> {
        let mut env = BTreeMap::new();
        for name in &entry.pass_env {
            let value = self.variables.environment(name);
            env.extend(value.map(|value| (name.clone(), value.into())));
        }
        for (name, value) in &entry.env {
            env.insert(name.clone(), self.expand(value, &format!("env.{name}"))?.into());
        }
        let args = entry.args.iter().enumerate();
        Ok(CommandLaunch {
            program: self.expand(&entry.command, "command")?.into(),
            args: args
                .map(|(index, arg)| Ok(self.expand(arg, &format!("args[{index}]"))?.into()))
                .collect::<Result<_, _>>()?,
            env,
            inherits_env: false,
            env_file: self.path(entry.env_file.as_ref(), "envFile")?,
            cwd: self.path(entry.cwd.as_ref(), "cwd")?,
        })
    }

    fn http(&self, entry: &HttpEntry) -> Result<HttpLaunch, ConfigError> {
        let mut headers = BTreeMap::new();
        if let Some(variable) = &entry.bearer_variable {
            let token = self.variables.environment(variable);
            let token = token.ok_or_else(|| self.missing("bearer_token_env_var", variable))?;
            headers.insert("Authorization".to_owned(), format!("Bearer {token}"));
        }
        for (name, value) in &entry.headers {
            headers.insert(name.clone(), self.expand(value, &format!("headers.{name}"))?);
        }
        let headers = headers.into_iter().collect();
        Ok(HttpLaunch { url: self.expand(&entry.url, "url")?, headers, sse: entry.sse })
    }

    fn expand(&self, template: &Template, member: &str) -> Result<String, ConfigError> {
        template.expand(self.variables).map_err(|missing| self.missing(member, &missing.0))
    }

    fn missing(&self, member: &str, variable: &str) -> ConfigError {
        let problem = format!("the variable `{variable}` has no value");
        let advice = match variable.split_once(':') {
            Some(("input", id)) => format!("`--input {id}=VALUE` gives it one"),
            _ if variable.starts_with("workspaceFolder") => "name the folder of a project".into(),
            Some((_, name)) => format!("set `{name}` in the environment"),
            None => format!("set it in the environment, or write `${{{variable}:-default}}`"),
        };
        self.fault(member, problem).with_advice(advice)
    }

    fn fault(&self, member: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError::new(&self.entry.file, format!("{}.{member}", self.entry.at), problem)
    }

    fn path(
        &self,
        template: Option<&Template>,
        member: &str,
    ) -> Result<Option<PathBuf>, ConfigError> {
        let path = template.map(|template| self.expand(template, member)).transpose()?;
        Ok(path.map(|path| self.beside_file(&path)))
    }

    /// A relative path is one beside the configuration file, or in its project.
    fn beside_file(&self, path: &str) -> PathBuf {
        let base = self.entry.project.as_deref().or_else(|| self.entry.file.parent());
        base.unwrap_or(Path::new("")).join(path)
    }

    /// The variables of a file with lines such as `NAME=value`.
    fn env_file(&self, path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
        let unreadable = |error: io::Error| {
            let problem = format!("cannot read {}: {error}", path.display());
            self.fault("envFile", problem).with_advice("check the path")
        };
        let text = env_text(path).map_err(unreadable)?;
        // Editors on Windows begin files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Ok(text.lines().filter_map(env_line).collect())
    }
}

/// The text of a file of variables. Opens only regular files: to open a pipe would wait for its
/// writer, and a device may have no end.
fn env_text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(LONGEST_ENV_FILE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST_ENV_FILE {
        true => Err(io::Error::other(format!("it has more than {LONGEST_ENV_FILE} bytes"))),
        false => Ok(text),
    }
}

/// A line `NAME=value`, `export NAME="value"`; comments and other lines are passed over.
fn env_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    let value = value.trim();
    let plain = || value.split(" #").next().unwrap_or_default().trim_end();
    Some((name.trim().to_owned(), quoted(value).unwrap_or_else(plain).to_owned()))
}

/// The text between two quotes, after which the line ends or a comment begins.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &value[1..];
    let mut ends = inner.match_indices(quote).map(|(at, _)| at);
    let end = ends.find(|at| {
        let rest = &inner[at + 1..];
        rest.is_empty()
            || rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with('#')
    })?;
    Some(&inner[..end])
}

impl fmt::Debug for CommandLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandLaunch").field("program", &self.program).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = shown_url(&self.url);
        f.debug_struct("HttpLaunch").field("url", &url).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_env_file_are_read_as_shells_read_them() {
        let read = |line| env_line(line).map(|(name, value)| format!("{name}={value}"));
        for (line, expected) in [
            ("A=b", Some("A=b")),
            ("export A = b # note", Some("A=b")),
            ("A=\"b # c\"", Some("A=b # c")),
            ("A='b'", Some("A=b")),
            ("A=\"b\" # note", Some("A=b")),
            ("A='b'\t# the \"note\"", Some("A=b")),
            ("A=\"b # c\" # note", Some("A=b # c")),
            ("A=\"b\"c\"", Some("A=b\"c")),
            ("A=\"b\"#c", Some("A=\"b\"#c")),
            ("A=\"", Some("A=\"")),
            ("A=", Some("A=")),
            ("A=b=c", Some("A=b=c")),
            ("# A=b", None),
            ("", None),
            ("A", None),
        ] {
            assert_eq!(read(line).as_deref(), expected, "{line}");
        }
    }
}
