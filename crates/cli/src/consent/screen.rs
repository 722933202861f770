//! What the user sees before a yes: a line for each field of the entry, in quotes, then what is
//! dangerous about it, and last, above the question, what would run or be called.
//!
//! A value that is set for the server is shortened, with its length; the command, its arguments,
//! the URL and all names are whole. Every line is broken here. A row that continues the one above begins
//! with a sign, and names, spaces included, are in quotes: so no text of the file begins a row, or looks
//! like one of its own.

use bowline::Command;
use bowline_gateway::config::{
    CommandEntry, ConfigVariables, HttpEntry, ServerEntry, Start, Template,
};
use bowline_ops::danger;
use bowline_ops::quoting::{
    LONGEST_VALUE, cut, quoted, quoted_unless_plain, shortened, with_counted_spaces,
};

use crate::print::table::wrap;
use crate::print::{BOLD, TerminalText, WARNING, line, text};

/// The most fields that a log gets; a terminal gets all.
const MOST_FIELDS: usize = 40;
/// The longest command or URL that a log gets whole, in characters.
const LONGEST_SUBJECT: usize = 4000;

/// Begins a row that continues the one above.
const CONTINUED: &str = "\n  ↳ ";
/// How many columns are left for sign and indentation.
const MARGIN: usize = 4;

/// What the user reads.
pub(super) struct ConsentScreen {
    head: TerminalText,
    /// The settings of the entry, each as a line.
    fields: Vec<TerminalText>,
    warnings: Vec<TerminalText>,
    rights: &'static str,
    /// The command line, or the URL.
    subject: String,
    /// Where the rest can be read.
    place: TerminalText,
}

impl ConsentScreen {
    /// `loosened` are the keys that expose more than in the entry that is in use.
    pub(super) fn of(entry: &ServerEntry, variables: &ConfigVariables, loosened: &[&str]) -> Self {
        let file = BOLD.on(line(shortened(&quoted_unless_plain(&entry.file.to_string_lossy()))));
        let name = quoted(&shortened(&entry.name));
        let place = text!("`{}` of {}", entry.at, entry.file.display());
        let (head, mut fields, warnings, rights, subject) = match &entry.start {
            Start::Command(command) => (
                text!(" wants to run code on this machine, as {name}:"),
                command_fields(entry, command),
                danger::of_command(command, variables),
                "It runs with your rights: it can read and change your files, and use the network.",
                command_line(command),
            ),
            Start::Http(http) => (
                text!(" wants to call a server, as {name}:"),
                http_fields(entry, http),
                Vec::new(),
                "The server gets what you send to it.",
                quoted_unless_plain(http.url.raw()),
            ),
            _ => (text!(" names {name}"), Vec::new(), Vec::new(), "", String::new()),
        };
        if !loosened.is_empty() {
            fields
                .push(text!("with settings that expose more than before: {}", loosened.join(", ")));
        }
        let warnings = warnings.iter().map(|it| WARNING.on("warning:") + " " + line(it));
        Self { head: file + head, fields, warnings: warnings.collect(), rights, subject, place }
    }

    /// All of it, for a terminal of this width.
    pub(super) fn whole(&self, columns: usize) -> TerminalText {
        self.laid_out(&self.fields, &self.subject, columns)
    }

    /// As much as a log gets, whatever the file holds.
    pub(super) fn bounded(&self, columns: usize) -> TerminalText {
        let mut fields: Vec<_> = self.fields.iter().take(MOST_FIELDS).cloned().collect();
        if let Some(more @ 1..) = self.fields.len().checked_sub(MOST_FIELDS) {
            fields.push(text!("and {more} more: read ") + &self.place);
        }
        let length = self.subject.chars().count();
        if length <= LONGEST_SUBJECT {
            return self.laid_out(&fields, &self.subject, columns);
        }
        let subject = cut(&self.subject, LONGEST_SUBJECT);
        fields.push(text!("its {length} characters are not shown whole: read ") + &self.place);
        self.laid_out(&fields, &subject, columns)
    }

    fn laid_out(&self, fields: &[TerminalText], subject: &str, columns: usize) -> TerminalText {
        let room = columns.saturating_sub(MARGIN).max(20);
        let wrapped = |text: &TerminalText| TerminalText::joined(wrap(text, room), CONTINUED);
        let indented = |text: &TerminalText| {
            TerminalText::from("  ") + TerminalText::joined(text.pieces(room), CONTINUED)
        };
        let mut parts = vec![wrapped(&self.head), TerminalText::default()];
        parts.extend(fields.iter().map(indented));
        if !fields.is_empty() {
            parts.push(TerminalText::default());
        }
        parts.extend(self.warnings.iter().map(wrapped));
        parts.push(TerminalText::joined(wrap(&self.rights.into(), room), "\n"));
        parts.push(TerminalText::default());
        parts.push(indented(&line(subject)));
        fitted(&TerminalText::joined(parts, "\n"), columns)
    }
}

/// Breaks what is still too wide, such as a long path.
fn fitted(text: &TerminalText, columns: usize) -> TerminalText {
    let room = columns.saturating_sub(MARGIN).max(20);
    let rows = text.lines().map(|line| match line.width() <= columns {
        true => line,
        false => TerminalText::joined(line.pieces(room), CONTINUED),
    });
    TerminalText::joined(rows, "\n")
}

/// The program and its arguments, words that are not plain in quotes.
fn command_line(entry: &CommandEntry) -> String {
    let args = entry.args.iter().map(Template::raw);
    with_counted_spaces(&Command::new(entry.command.raw()).args(args).to_string())
}

fn command_fields(entry: &ServerEntry, command: &CommandEntry) -> Vec<TerminalText> {
    let mut fields = Vec::new();
    fields.extend(command.cwd.as_ref().map(|it| text!("in the folder {}", quoted(it.raw()))));
    let file = command.env_file.as_ref();
    fields.extend(file.map(|it| text!("with the variables in the file {}", quoted(it.raw()))));
    fields.extend(values(entry, &command.pass_env));
    let (dangerous, others): (Vec<_>, Vec<_>) =
        command.env.iter().partition(|(name, _)| danger::is_dangerous_variable(name));
    for (name, value) in dangerous.into_iter().chain(others) {
        let name = quoted_unless_plain(name);
        fields.push(text!("with the variable {name}={}", quoted_value(value)));
    }
    fields
}

fn http_fields(entry: &ServerEntry, http: &HttpEntry) -> Vec<TerminalText> {
    let mut fields = values(entry, http.bearer_variable.as_slice());
    let bearer = http.bearer_variable.as_ref();
    fields
        .extend(bearer.map(|name| text!("with the header Authorization: \"Bearer ${{{name}}}\"")));
    for (name, value) in &http.headers {
        let name = quoted_unless_plain(name);
        fields.push(text!("with the header {name}: {}", quoted_value(value)));
    }
    fields
}

/// Which values of the user's environment, and which inputs, the entry gets.
fn values(entry: &ServerEntry, passed: &[String]) -> Vec<TerminalText> {
    let named = entry.variables();
    let mut names: Vec<&str> =
        named.iter().map(|it| it.strip_prefix("env:").unwrap_or(it)).collect();
    names.extend(passed.iter().map(String::as_str));
    names.sort_unstable();
    names.dedup();
    let value = |name: &str| match name.strip_prefix("input:") {
        Some(id) => text!("with the value of the input {}", quoted_unless_plain(id)),
        None => text!("with the value of {}", quoted_unless_plain(name)),
    };
    names.into_iter().map(value).collect()
}

/// The text of a value as it stands in the file, in quotes.
fn quoted_value(value: &Template) -> String {
    let length = value.raw().chars().count();
    match length <= LONGEST_VALUE {
        true => quoted(value.raw()),
        false => format!("{} ({length} characters)", quoted(&cut(value.raw(), LONGEST_VALUE))),
    }
}
