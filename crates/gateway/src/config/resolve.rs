//! An entry with its variables expanded: what to start, or which URL to call.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::entry::{CommandEntry, HttpEntry, ServerEntry, Start};
use super::error::ConfigError;
use super::template::Template;
use super::variables::ConfigVariables;

/// How to reach a server, with all variables expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are set in its environment.
    pub env: BTreeMap<String, String>,
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
    pub headers: BTreeMap<String, String>,
    /// The file says that it speaks HTTP with SSE, the transport of 2024-11-05.
    pub sse: bool,
}

impl ServerEntry {
    /// Expands the variables that the host of the file expands.
    ///
    /// # Errors
    ///
    /// If a variable has no value, or a file of variables cannot be read.
    pub fn resolve(&self, variables: &ConfigVariables) -> Result<Launch, ConfigError> {
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
            env.extend(self.variables.environment(name).map(|value| (name.clone(), value)));
        }
        if let Some(file) = &entry.env_file {
            env.extend(self.env_file(&self.expand(file, "envFile")?)?);
        }
        for (name, value) in &entry.env {
            env.insert(name.clone(), self.expand(value, &format!("env.{name}"))?);
        }
        let args = entry.args.iter().enumerate();
        let cwd = entry.cwd.as_ref().map(|cwd| self.expand(cwd, "cwd")).transpose()?;
        Ok(CommandLaunch {
            program: self.expand(&entry.command, "command")?,
            args: args
                .map(|(index, arg)| self.expand(arg, &format!("args[{index}]")))
                .collect::<Result<_, _>>()?,
            env,
            cwd: cwd.map(|cwd| self.beside_file(&cwd)),
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

    /// A relative folder is one beside the configuration file, or in its project.
    fn beside_file(&self, path: &str) -> PathBuf {
        let base = self.entry.project.as_deref().or_else(|| self.entry.file.parent());
        base.unwrap_or(Path::new("")).join(path)
    }

    /// The variables of a file with lines such as `NAME=value`.
    fn env_file(&self, path: &str) -> Result<Vec<(String, String)>, ConfigError> {
        let path = self.beside_file(path);
        let unreadable = |error: std::io::Error| {
            let problem = format!("cannot read {}: {error}", path.display());
            self.fault("envFile", problem).with_advice("check the path")
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        Ok(text.lines().filter_map(env_line).collect())
    }
}

/// A line `NAME=value`, `export NAME="value"`; comments and other lines are passed over.
fn env_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    let value = value.trim();
    let quoted =
        ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    let plain = || value.split(" #").next().unwrap_or_default().trim_end();
    Some((name.trim().to_owned(), quoted.unwrap_or_else(plain).to_owned()))
}

impl fmt::Debug for CommandLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandLaunch").field("program", &self.program).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split(['?', '#']).next();
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
