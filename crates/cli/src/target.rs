//! Which server a command is for, and how to connect to it.
//!
//! Every command has the same grammar: TARGET is a URL, a name, or a quoted command. Without
//! TARGET, the command that starts the server comes last, after `--`.

mod address;
mod connection;
mod entry;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use bowline::Command;
use bowline_gateway::config::{CommandLaunch, HttpLaunch, Launch};
use bowline_ops::discover::{Discovery, Folders, discover, discover_in};
use bowline_ops::suggest;
use bowline_types::revision::Revision;
use bowline_types::text::shown_url;
use http::{HeaderName, HeaderValue};

use crate::exit::{Exit, Failure};
use crate::message_size::MessageArgs;
use crate::print;
use crate::print::text;
use crate::variables::InputArgs;
use crate::wire::{Noise, Watch};

/// The options of every command that connects to a server.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct TargetArgs {
    /// The command that starts the server, instead of TARGET
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Adds a header to every request over HTTP; can be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<Header>,
    /// Sets an environment variable of the server, or passes on the one of this shell
    #[arg(short, long = "env", value_name = "NAME[=VALUE]")]
    environment: Vec<Variable>,
    /// Passes on the whole environment of this shell, secrets included
    #[arg(long)]
    inherit_env: bool,
    /// Starts the server in this folder
    #[arg(long, value_name = "FOLDER", value_parser = folder)]
    cwd: Option<PathBuf>,
    /// Looks up names of servers in this file only, instead of the files of hosts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Speaks this revision of the protocol only, such as 2025-11-25; can be repeated
    #[arg(long = "revision", value_name = "DATE")]
    revisions: Vec<Revision>,
    /// Shows the server's standard error, and output that is not a message
    #[arg(short, long)]
    verbose: bool,
    /// Runs or calls what a file of this project names, without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    pub(crate) message: MessageArgs,
    /// The command neither starts nor calls the server, so that no consent is needed.
    #[arg(skip)]
    is_only_named: bool,
}

impl TargetArgs {
    /// The options of a command that neither starts nor calls the server.
    pub(crate) fn only_named() -> Self {
        Self { is_only_named: true, ..Self::default() }
    }

    /// Finds the server that the command line names. Takes TARGET from the front of the words,
    /// unless the command line ends with a command. Asks for consent and for inputs if a
    /// configuration file names the server.
    ///
    /// # Errors
    ///
    /// If there is no TARGET, or none of that name, or the user does not consent.
    pub(crate) fn take(&self, words: &mut Vec<String>) -> Result<Target, Failure> {
        if let Some((program, arguments)) = self.command.split_first() {
            return Ok(self.started(program, arguments));
        }
        if words.is_empty() {
            return Err(Failure::usage("no server is named").hint(
                "write a URL, a name or a quoted command first, or a command last, after `--`; \
                 `-- bowline demo --stdio` is a built-in server to try",
            ));
        }
        let word = words.remove(0);
        let target = self.named(&word);
        match (target, words.first()) {
            (Err(failure), Some(second)) if address::url(second).is_some() => {
                Err(failure.hint(text!("the server comes first: `{second} {word}`")))
            }
            (target, _) => target,
        }
    }

    /// Whether the command line ends with a command.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// The servers that configuration files name.
    ///
    /// # Errors
    ///
    /// If the user names a file that cannot be used.
    pub(crate) fn discovery(&self) -> Result<Discovery, Failure> {
        let folders = Folders::of_process();
        match &self.config {
            Some(path) => Ok(discover_in(path, &folders)?),
            None => Ok(discover(&folders)),
        }
    }

    /// Whether the user agreed to everything that files of the project name.
    pub(crate) fn agrees(&self) -> bool {
        self.yes
    }

    fn named(&self, word: &str) -> Result<Target, Failure> {
        if let Some(url) = address::url(word) {
            let public_label = shown_url(&url);
            let target = self.target(url.clone(), self.http_launch(HttpLaunch::new(url)));
            return Ok(Target { public_label, ..target });
        }
        let discovery = self.discovery()?;
        if let Some(target) = self.configured(word, &discovery)? {
            return Ok(target);
        }
        if let Some(failure) = address::refused(word) {
            return Err(failure);
        }
        if word.contains(|c: char| c.is_whitespace() || c == '/' || c == '\\') {
            let words = split(word)?;
            return Ok(self.started(&words[0], &words[1..]));
        }
        Err(unknown(word, &discovery))
    }

    /// The server that configuration files give this name, if there is one.
    fn configured(&self, word: &str, discovery: &Discovery) -> Result<Option<Target>, Failure> {
        match discovery.named(word)[..] {
            [] => Ok(None),
            [found] => self.found(found).map(Some),
            ref several => {
                let names: Vec<String> = several.iter().map(|it| it.qualified()).collect();
                Err(Failure::usage(text!("several servers are named `{word}`"))
                    .hint(text!("choose one of {}", names.join(", "))))
            }
        }
    }

    /// The server of a command that the user wrote.
    fn started<W: AsRef<OsStr>>(&self, program: &W, arguments: &[W]) -> Target {
        let words = arguments.iter().map(|word| word.as_ref().to_owned());
        let launch = CommandLaunch::new(program.as_ref().to_owned(), words);
        let label = launch.command().to_string();
        let public_label = Command::new(program).to_string();
        Target { public_label, ..self.target(label, self.command_launch(launch)) }
    }

    /// A command with what the options add to it.
    fn command_launch(&self, mut launch: CommandLaunch) -> Launch {
        launch.inherits_env |= self.inherit_env;
        let added = self.environment.iter();
        launch.env.extend(added.map(|it| (it.name.clone(), it.value.clone())));
        launch.cwd = self.cwd.clone().or(launch.cwd);
        Launch::Command(launch)
    }

    /// A URL with the headers of the options before its own.
    fn http_launch(&self, mut launch: HttpLaunch) -> Launch {
        let added = self.headers.iter().map(|it| (it.name.clone(), it.value.clone()));
        launch.headers.splice(..0, added);
        Launch::Http(launch)
    }

    fn target(&self, label: String, launch: Launch) -> Target {
        let noise = matches!(launch, Launch::Command(_)).then(Noise::default);
        Target {
            public_label: label.clone(),
            label,
            launch,
            revisions: self.revisions.clone(),
            message: self.message,
            watch: Watch { trace: None, noise, is_verbose: self.verbose },
        }
    }
}

/// A server that a command is for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// How the user named it.
    pub(crate) label: String,
    /// The name for reports that other people read. A URL lacks its query, and a command its
    /// arguments: both can hold secrets.
    pub(crate) public_label: String,
    /// How to reach it.
    pub(crate) launch: Launch,
    /// The revisions to speak; all if empty.
    pub(crate) revisions: Vec<Revision>,
    /// The longest message to take.
    pub(crate) message: MessageArgs,
    /// What is watched of its connections.
    pub(crate) watch: Watch,
}

/// The failure for a name that no configuration file has.
fn unknown(word: &str, discovery: &Discovery) -> Failure {
    for problem in &discovery.problems {
        print::note(text!("left out: {problem}"));
    }
    let mut names: Vec<&str> = discovery.found.iter().map(|it| it.entry.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let hint = match suggest::nearest(word, &names)[..] {
        [near, ..] => text!("did you mean `{near}`? Configured are {}", suggest::listed(&names)),
        [] if names.is_empty() => {
            text!("a URL begins with `https://`; a command comes last: `-- {word}`")
        }
        [] => {
            text!("configured are {}; a command comes last: `-- {word}`", suggest::listed(&names))
        }
    };
    Failure::new(Exit::Unreachable, text!("there is no server named `{word}`")).hint(hint)
}

/// Splits a quoted command into words, of which there is at least one, as a shell does. Nothing else
/// of a shell happens.
fn split(text: &str) -> Result<Vec<String>, Failure> {
    let words = shell_words::split(text).ok().filter(|words| !words.is_empty());
    words.ok_or_else(|| Failure::usage(text!("`{text}` is no command: a quote is not closed")))
}

/// A folder that exists, as an absolute path: a relative one would change what a relative program
/// means.
fn folder(path: &str) -> Result<PathBuf, String> {
    let folder = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
    if folder.is_dir() { Ok(folder) } else { Err("it is no folder".to_owned()) }
}

/// `NAME: VALUE`.
#[derive(Clone, Debug)]
struct Header {
    name: String,
    value: String,
}

impl FromStr for Header {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once(':').ok_or("write it as `NAME: VALUE`")?;
        HeaderName::try_from(name.trim()).map_err(|_| "not a valid HTTP header name")?;
        HeaderValue::try_from(value.trim()).map_err(|_| "not a valid HTTP header value")?;
        Ok(Self { name: name.trim().to_owned(), value: value.trim().to_owned() })
    }
}

/// `NAME=VALUE`, or `NAME` for the value that this process has.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    value: OsString,
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((name, value)) = text.split_once('=') {
            return Ok(Self { name: name.to_owned(), value: value.into() });
        }
        let value = std::env::var_os(text).ok_or_else(|| format!("`{text}` is not set here"))?;
        Ok(Self { name: text.to_owned(), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(words: &[&str]) -> Result<(Target, Vec<String>), Failure> {
        let mut words = words.iter().map(|word| (*word).to_owned()).collect();
        let target = TargetArgs::default().take(&mut words)?;
        Ok((target, words))
    }

    #[test]
    fn a_target_is_a_url_or_a_quoted_command() {
        let (target, rest) = take(&["http://127.0.0.1:3000/mcp", "echo"]).unwrap();
        let url = "http://127.0.0.1:3000/mcp";
        assert_eq!(target.launch, Launch::Http(HttpLaunch::new(url)));
        assert_eq!(rest, ["echo"]);
        let (target, _) = take(&["npx -y 'my server'"]).unwrap();
        assert_eq!(target.label, r#"npx -y "my server""#);
        let (target, _) = take(&["./server"]).unwrap();
        assert_eq!(target.label, "./server");
    }

    #[test]
    fn the_public_label_has_neither_the_query_of_a_url_nor_the_arguments_of_a_command() {
        let label = |word: &str| take(&[word]).unwrap().0.public_label;
        assert_eq!(label("https://h.example/mcp?key=s3cr3t"), "https://h.example/mcp?…");
        assert_eq!(label("./server --token s3cr3t"), "./server");
        let command = ["./server".into(), "--token".into(), "s3cr3t".into()].to_vec();
        let args = TargetArgs { command, ..TargetArgs::default() };
        assert_eq!(args.take(&mut Vec::new()).unwrap().public_label, "./server");
    }

    #[test]
    fn a_command_at_the_end_takes_no_word() {
        let command = ["npx".into(), "server".into()].to_vec();
        let args = TargetArgs { command, ..TargetArgs::default() };
        let mut words = vec!["echo".to_owned()];
        assert_eq!(args.take(&mut words).unwrap().label, "npx server");
        assert_eq!(words, ["echo"]);
    }

    #[test]
    fn an_unknown_name_is_not_run_as_a_command() {
        let failure = take(&["rm"]).unwrap_err();
        assert_eq!(failure.to_string(), "there is no server named `rm`");
        assert_eq!(take(&[]).unwrap_err().to_string(), "no server is named");
        assert!(take(&["a 'b"]).unwrap_err().to_string().contains("a quote is not closed"));
    }
}
