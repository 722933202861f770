//! Consent to what a project's file names: it may come from a stranger.
//!
//! The user sees the command or URL in full, as it stands in the file, that it runs code on this
//! machine, and what is dangerous about it. Variables stay variables: their values may be secret,
//! and standard error may end in the log of a CI system. Nothing happens without a yes.

mod danger;

use bowline::Command;
use bowline_gateway::config::{
    CommandEntry, ConfigVariables, HttpEntry, ServerEntry, Start, Template,
};

use crate::exit::{Exit, Failure};
use crate::print::{self, BOLD, TerminalText, WARNING, line, text};
use crate::terminal;

/// Whether the user has agreed on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreed {
    /// With `--yes`.
    Yes,
    /// Not yet.
    No,
}

/// Asks the user. With `--yes` the entry is only shown. The values of the variables serve to find
/// what is dangerous.
///
/// # Errors
///
/// If the user says no, or cannot be asked.
pub(crate) fn ask(
    entry: &ServerEntry,
    variables: &ConfigVariables,
    agreed: Agreed,
) -> Result<(), Failure> {
    print::note(shown(entry, variables));
    if agreed == Agreed::Yes {
        return Ok(());
    }
    let (verb, question) = match entry.start {
        Start::Http(_) => ("call", "Call it?"),
        _ => ("run", "Run it?"),
    };
    if !terminal::is_interactive() {
        let text = text!("`{}` comes from a file of this project and needs consent", entry.name);
        return Err(Failure::new(Exit::Unreachable, text)
            .hint(text!("read what it would {verb}, then add `--yes`")));
    }
    match terminal::confirm(question)? {
        true => Ok(()),
        false => Err(Failure::new(Exit::Unreachable, "not started: you said no")),
    }
}

/// The entry as text. Nothing of it is cut.
fn shown(entry: &ServerEntry, variables: &ConfigVariables) -> TerminalText {
    let (file, name) = (BOLD.on(line(entry.file.display())), &entry.name);
    match &entry.start {
        Start::Command(command) => {
            let head = file + text!(" wants to run code on this machine, as `{name}`:");
            let rights =
                "It runs with your rights: it can read and change your files, and use the network.";
            let mut lines = command_lines(command);
            lines.extend(values(entry, &command.pass_env));
            body(&head, &lines, &danger::of_command(command, variables), rights)
        }
        Start::Http(http) => {
            let head = file + text!(" wants to call a server, as `{name}`:");
            let rights = "The server gets what you send to it.";
            let mut lines = http_lines(http);
            lines.extend(values(entry, http.bearer_variable.as_slice()));
            body(&head, &lines, &[], rights)
        }
        _ => file + text!(" names `{name}`"),
    }
}

fn body(
    head: &TerminalText,
    lines: &[String],
    dangers: &[String],
    rights: &'static str,
) -> TerminalText {
    let lines = lines.iter().map(|it| TerminalText::from("  ") + line(it) + "\n");
    let dangers = dangers.iter().map(|it| WARNING.on("warning:") + " " + line(it) + "\n");
    let lines = TerminalText::joined(lines, "");
    head.clone() + "\n\n" + lines + "\n" + TerminalText::joined(dangers, "") + rights
}

fn command_lines(entry: &CommandEntry) -> Vec<String> {
    let args = entry.args.iter().map(Template::raw);
    let mut lines = vec![Command::new(entry.command.raw()).args(args).to_string()];
    lines.extend(entry.cwd.as_ref().map(|cwd| format!("in the folder {}", cwd.raw())));
    // Values may be secrets of the user; a name tells which they are.
    if !entry.env.is_empty() {
        lines.push(format!("with the variables {}", joined(entry.env.keys())));
    }
    let file = entry.env_file.as_ref();
    lines.extend(file.map(|file| format!("with the variables in the file {}", file.raw())));
    lines
}

fn http_lines(entry: &HttpEntry) -> Vec<String> {
    let mut lines = vec![entry.url.raw().to_owned()];
    let bearer = entry.bearer_variable.as_ref().map(|_| "Authorization".to_owned());
    let names: Vec<&String> = bearer.iter().chain(entry.headers.keys()).collect();
    if !names.is_empty() {
        lines.push(format!("with the headers {}", joined(names)));
    }
    lines
}

/// Which values of the user's environment, and which inputs, the entry gets.
fn values(entry: &ServerEntry, passed: &[String]) -> Option<String> {
    let (inputs, variables): (Vec<&str>, Vec<&str>) =
        entry.variables().into_iter().partition(|name| name.starts_with("input:"));
    let mut variables: Vec<&str> =
        variables.into_iter().map(|name| name.strip_prefix("env:").unwrap_or(name)).collect();
    variables.extend(passed.iter().map(String::as_str));
    variables.sort_unstable();
    variables.dedup();
    let inputs: Vec<&str> =
        inputs.into_iter().filter_map(|name| name.strip_prefix("input:")).collect();
    let noun = if variables.len() + inputs.len() == 1 { "value" } else { "values" };
    let input = if inputs.len() == 1 { "input" } else { "inputs" };
    match (variables.is_empty(), inputs.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("with the {noun} of {}", variables.join(", "))),
        (true, false) => Some(format!("with the {noun} of the {input} {}", inputs.join(", "))),
        (false, false) => Some(format!(
            "with the {noun} of {} and of the {input} {}",
            variables.join(", "),
            inputs.join(", ")
        )),
    }
}

fn joined<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
