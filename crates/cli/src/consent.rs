//! Consent to what a project's file names: it may come from a stranger.
//!
//! The user sees the exact command or URL in full, that it runs code on this machine, and what is
//! dangerous about it. Nothing happens without a yes.

mod danger;

use std::path::PathBuf;

use bowline_gateway::config::{CommandLaunch, HttpLaunch, Launch};

use crate::exit::{Exit, Failure};
use crate::print::{self, BOLD, WARNING};
use crate::terminal;

/// What a project's file wants to start or call.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    pub(crate) launch: Launch,
}

/// Whether the user has agreed on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreed {
    /// With `--yes`.
    Yes,
    /// Not yet.
    No,
}

/// Asks the user. With `--yes` the request is only shown.
///
/// # Errors
///
/// If the user says no, or cannot be asked.
pub(crate) fn ask(request: &Request, agreed: Agreed) -> Result<(), Failure> {
    print::note(&shown(request));
    if agreed == Agreed::Yes {
        return Ok(());
    }
    let verb = match request.launch {
        Launch::Http(_) => "call",
        _ => "run",
    };
    if !terminal::is_interactive() {
        let text =
            format!("`{}` comes from a file of this project and needs consent", request.name);
        return Err(Failure::new(Exit::Unreachable, text)
            .hint(format!("read what it would {verb}, then add `--yes`")));
    }
    match terminal::confirm(&format!("{}{} it?", verb[..1].to_uppercase(), &verb[1..]))? {
        true => Ok(()),
        false => Err(Failure::new(Exit::Unreachable, "not started: you said no")),
    }
}

/// The request as text. Nothing of it is cut.
fn shown(request: &Request) -> String {
    let (file, name) = (request.file.display(), print::clean(&request.name));
    match &request.launch {
        Launch::Command(command) => {
            let head =
                format!("{BOLD}{file}{BOLD:#} wants to run code on this machine, as `{name}`:");
            let rights =
                "It runs with your rights: it can read and change your files, and use the network.";
            body(&head, &command_lines(command), &danger::of_command(command), rights)
        }
        Launch::Http(http) => {
            let head = format!("{BOLD}{file}{BOLD:#} wants to call a server, as `{name}`:");
            let rights = "The server gets what you send to it.";
            body(&head, &http_lines(http), &[], rights)
        }
        _ => format!("{file} names `{name}`"),
    }
}

fn body(head: &str, lines: &[String], dangers: &[String], rights: &str) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("  {}", print::clean(line))).collect();
    let dangers = dangers.iter();
    let dangers: String =
        dangers.map(|it| format!("{WARNING}warning:{WARNING:#} {}\n", print::clean(it))).collect();
    format!("{head}\n\n{}\n\n{dangers}{rights}", lines.join("\n"))
}

fn command_lines(launch: &CommandLaunch) -> Vec<String> {
    let command = bowline::Command::new(&launch.program).args(&launch.args);
    let mut lines = vec![command.to_string()];
    lines.extend(launch.cwd.as_ref().map(|cwd| format!("in the folder {}", cwd.display())));
    // Values may be secrets of the user; a name tells which they are.
    let names: Vec<&str> = launch.env.keys().map(String::as_str).collect();
    if !names.is_empty() {
        lines.push(format!("with the variables {}", names.join(", ")));
    }
    lines
}

fn http_lines(launch: &HttpLaunch) -> Vec<String> {
    let mut lines = vec![launch.url.clone()];
    let names: Vec<&str> = launch.headers.keys().map(String::as_str).collect();
    if !names.is_empty() {
        lines.push(format!("with the headers {}", names.join(", ")));
    }
    lines
}
