//! Finds the entries of servers in a configuration file.

use std::collections::BTreeMap;
use std::path::Path;

use super::ConfigFile;
use super::dialect::Dialect;
use super::document::At;
use super::entry::{CommandEntry, HttpEntry, Isolation, ServerEntry, Sharing, Start, ToolRules};
use super::error::ConfigError;
use super::names;
use super::template::Template;

/// A question that a file of VS Code declares; `${input:id}` stands for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigInput {
    /// Its id.
    pub id: String,
    /// The question for the user.
    pub description: Option<String>,
    /// The answer if the user gives none.
    pub default: Option<String>,
    /// The answers to choose from, if not any text.
    pub options: Vec<String>,
    /// The answer is secret.
    pub password: bool,
}

/// Reads all entries and inputs of a file.
pub(crate) fn read(root: &At<'_>, file: &mut ConfigFile) -> Result<(), ConfigError> {
    root.members()?;
    for place in file.dialect.places() {
        let at = place.iter().try_fold(root.clone(), |at, name| at.member(name));
        if let Some(at) = at {
            read_servers(&at, None, file)?;
        }
    }
    if file.dialect == Dialect::ClaudeCode {
        read_projects(root, file)?;
    }
    let inputs = [root.member("inputs"), root.member("mcp").and_then(|at| at.member("inputs"))];
    for at in inputs.into_iter().flatten().filter(At::is_list) {
        for at in at.items()? {
            match read_input(&at) {
                Ok(input) => file.inputs.push(input),
                Err(fault) => file.faults.push(fault),
            }
        }
    }
    Ok(())
}

/// `~/.claude.json` holds the servers of each project that its user added with the scope `local`.
fn read_projects(root: &At<'_>, file: &mut ConfigFile) -> Result<(), ConfigError> {
    let Some(projects) = root.member("projects").filter(At::is_map) else { return Ok(()) };
    for (folder, at) in projects.members()? {
        let Some(servers) = at.member("mcpServers") else { continue };
        let before = file.entries.len();
        read_servers(&servers, Some(Path::new(folder)), file)?;
        let disabled = at.member("disabledMcpServers").map_or(Ok(Vec::new()), |at| texts(&at))?;
        for entry in &mut file.entries[before..] {
            entry.disabled |= disabled.contains(&entry.name);
        }
    }
    Ok(())
}

fn read_servers(
    at: &At<'_>,
    project: Option<&Path>,
    file: &mut ConfigFile,
) -> Result<(), ConfigError> {
    for (name, at) in at.members()? {
        match read_entry(name, &at, file.dialect) {
            Ok(mut entry) => {
                entry.project = project.map(Path::to_owned);
                file.entries.push(entry);
            }
            Err(fault) => file.faults.push(fault),
        }
    }
    Ok(())
}

/// One entry.
fn read_entry(name: &str, at: &At<'_>, dialect: Dialect) -> Result<ServerEntry, ConfigError> {
    names::check("server", name, at)?;
    let reader = EntryReader { at, dialect };
    let start = reader.start()?;
    Ok(ServerEntry {
        name: name.to_owned(),
        file: at.file().to_owned(),
        at: at.path().to_owned(),
        dialect,
        project: None,
        start,
        disabled: reader.is_disabled()?,
        tools: reader.tools()?,
        asks: at.member("asks").map(|at| at.flag()).transpose()?,
        isolate: reader.word("isolate", &[("caller", Isolation::Caller)])?,
        share: reader.word("share", &[("all", Sharing::All), ("owner", Sharing::Owner)])?,
        namespace: at.member("namespace").map(|at| names::text("namespace", &at)).transpose()?,
        instructions: at.member("instructions").map_or(Ok(true), |at| at.flag())?,
    })
}

struct EntryReader<'a> {
    at: &'a At<'a>,
    dialect: Dialect,
}

impl EntryReader<'_> {
    fn start(&self) -> Result<Start, ConfigError> {
        self.at.members()?;
        let kind = self.at.member("type").filter(|at| at.text().is_ok());
        let kind = kind.map(|at| at.text()).transpose()?.unwrap_or_default();
        let urls = ["url", "serverUrl", "httpUrl"];
        let url = self.at.member_of(&urls).filter(|_| kind != "stdio");
        if let Some(url) = url {
            return self.http(&url, kind == "sse").map(Start::Http);
        }
        if let Some(command) = self.at.member("command") {
            return self.command(&command).map(Start::Command);
        }
        if self.at.member("settings").is_some() || self.at.member("source").is_some() {
            // The entry only has settings for an extension of the editor, which has the command.
            let fault = self.at.fault("an extension of the editor starts this server");
            return Err(fault.with_advice("add an entry with the `command` of the server"));
        }
        let fault = self.at.fault("the entry has neither a command nor a URL");
        Err(fault.with_advice("add `command` for a program, or `url` for a server over HTTP"))
    }

    fn http(&self, url: &At<'_>, sse: bool) -> Result<HttpEntry, ConfigError> {
        let mut headers = BTreeMap::new();
        for at in ["headers", "http_headers"].into_iter().filter_map(|name| self.at.member(name)) {
            headers.extend(self.templates("header", &at)?);
        }
        if let Some(at) = self.at.member("env_http_headers") {
            for (name, at) in at.members()? {
                names::check("header", name, &at)?;
                // Codex takes the value of the header from the variable with this name.
                let text = format!("${{{}}}", names::text("variable", &at)?);
                headers.insert(name.to_owned(), Template::new(text, Dialect::Bowline.syntax()));
            }
        }
        let bearer = self.at.member("bearer_token_env_var");
        Ok(HttpEntry {
            url: self.template(url.text()?),
            headers,
            bearer_variable: bearer.map(|at| names::text("variable", &at)).transpose()?,
            sse,
        })
    }

    fn command(&self, command: &At<'_>) -> Result<CommandEntry, ConfigError> {
        // Older settings of Zed nest the program: `"command": {"path": …, "args": …, "env": …}`.
        let (program, outer) = match command.member("path").filter(|_| command.is_map()) {
            Some(path) => (path, command),
            None => (command.clone(), self.at),
        };
        if program.text()?.trim().is_empty() {
            return Err(program.fault("the command is empty").with_advice("name a program"));
        }
        let member = |name: &str| outer.member(name);
        let args = member("args").map_or(Ok(Vec::new()), |at| at.items())?;
        let args = args.iter().map(|at| Ok(self.template(&at.scalar()?)));
        let text = |name: &str| member(name).map(|at| Ok(self.template(at.text()?))).transpose();
        Ok(CommandEntry {
            command: self.template(program.text()?),
            args: args.collect::<Result<_, ConfigError>>()?,
            env: member("env").map_or(Ok(BTreeMap::new()), |at| self.templates("variable", &at))?,
            pass_env: member("env_vars").map_or(Ok(Vec::new()), |at| variables(&at))?,
            env_file: text("envFile")?,
            cwd: text("cwd")?,
        })
    }

    fn is_disabled(&self) -> Result<bool, ConfigError> {
        let disabled = self.at.member("disabled").map_or(Ok(false), |at| at.flag())?;
        let enabled = self.at.member("enabled").map_or(Ok(true), |at| at.flag())?;
        Ok(disabled || !enabled)
    }

    fn tools(&self) -> Result<ToolRules, ConfigError> {
        let mut rules = ToolRules::default();
        if let Some(at) = self.at.member_of(&["includeTools", "enabled_tools"]) {
            rules.show = Some(texts(&at)?);
        }
        if let Some(at) = self.at.member_of(&["excludeTools", "disabled_tools", "disabledTools"]) {
            rules.hide = texts(&at)?;
        }
        let Some(at) = self.at.member("tools") else { return Ok(rules) };
        if at.is_list() {
            let shown = texts(&at)?;
            rules.show = Some(shown).filter(|shown| !shown.iter().any(|name| name == "*"));
            return Ok(rules);
        }
        for (name, at) in at.members()? {
            match name {
                "show" => rules.show = Some(texts(&at)?),
                "hide" => rules.hide.extend(texts(&at)?),
                "rename" => rules.rename = renames(&at)?,
                _ => {
                    let fault = at.fault("this setting of tools is unknown");
                    return Err(fault.with_advice("it may have show, hide, rename"));
                }
            }
        }
        let mut shown = rules.show.iter().flatten();
        if let Some(name) = shown.find(|name| rules.holder(name).is_some()) {
            let fault = at.fault(format!("the tool `{name}` is shown, and another has its name"));
            return Err(fault.with_advice("rename it too, or do not show it"));
        }
        Ok(rules)
    }

    /// One of a few words, or the default.
    fn word<T: Copy + Default>(&self, name: &str, words: &[(&str, T)]) -> Result<T, ConfigError> {
        let Some(at) = self.at.member(name) else { return Ok(T::default()) };
        let text = at.text()?;
        let word = words.iter().find(|(word, _)| *word == text);
        word.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            let advice = format!("write {}, or leave it out", known.join(" or "));
            at.fault("this word is unknown").with_advice(advice)
        })
    }

    /// The values of variables or headers, by their names.
    fn templates(
        &self,
        kind: &str,
        at: &At<'_>,
    ) -> Result<BTreeMap<String, Template>, ConfigError> {
        let template = |(name, at): (&str, At<'_>)| {
            names::check(kind, name, &at)?;
            Ok((name.to_owned(), self.template(&at.scalar()?)))
        };
        at.members()?.into_iter().map(template).collect()
    }

    fn template(&self, text: &str) -> Template {
        Template::new(text, self.dialect.syntax())
    }
}

fn texts(at: &At<'_>) -> Result<Vec<String>, ConfigError> {
    at.items()?.iter().map(|at| at.text().map(str::to_owned)).collect()
}

fn variables(at: &At<'_>) -> Result<Vec<String>, ConfigError> {
    at.items()?.iter().map(|at| names::text("variable", at)).collect()
}

/// New names of tools. Two tools cannot have one name.
fn renames(at: &At<'_>) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut renames: BTreeMap<String, String> = BTreeMap::new();
    for (name, at) in at.members()? {
        let new = at.text()?;
        if renames.values().any(|other| other == new) {
            let fault = at.fault("another tool has this name already");
            return Err(fault.with_advice("choose a name for each tool"));
        }
        renames.insert(name.to_owned(), new.to_owned());
    }
    Ok(renames)
}

fn read_input(at: &At<'_>) -> Result<ConfigInput, ConfigError> {
    let text = |name: &str| at.member(name).map(|at| at.scalar()).transpose();
    let Some(id) = text("id")? else {
        return Err(at.fault("the input has no id").with_advice("add `id`"));
    };
    names::check("input", &id, at)?;
    let options =
        at.member("options").filter(At::is_list).map_or(Ok(Vec::new()), |at| at.items())?;
    // Options are texts, or objects with a label and a value.
    let options =
        options.iter().map(|at| at.member("value").unwrap_or_else(|| at.clone()).scalar());
    Ok(ConfigInput {
        id,
        description: text("description")?,
        default: text("default")?,
        options: options.collect::<Result<_, _>>()?,
        password: at.member("password").map_or(Ok(false), |at| at.flag())?,
    })
}
