//! Output: results on standard output, notes and errors on standard error.
//!
//! Whatever goes to a terminal is [`TerminalText`], which text from outside becomes only by being
//! cleaned. Colours appear on terminals only, unless `CLICOLOR_FORCE` or `NO_COLOR` says otherwise.

pub(crate) mod bar;
pub(crate) mod content;
mod held;
pub(crate) mod json;
pub(crate) mod log;
pub(crate) mod table;
mod terminal_text;

use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};

pub(crate) use self::held::hold_back;
pub(crate) use self::terminal_text::{Look, TerminalText, line, lines, paragraph, text};
use crate::exit::Exit;

/// Names of sections and of things.
pub(crate) const BOLD: Look = Look::new(Style::new().bold());
/// What the user should look at twice.
pub(crate) const WARNING: Look = Look::new(AnsiColor::Yellow.on_default().bold());
const ERROR: Look = Look::new(AnsiColor::Red.on_default().bold());
const HINT: Look = Look::new(AnsiColor::Cyan.on_default().bold());

/// Prints text to standard output, with a line end.
pub(crate) fn text(text: impl Into<TerminalText>) {
    let text = text.into();
    let end = if text.as_str().ends_with('\n') { "" } else { "\n" };
    finish(write!(anstream::stdout().lock(), "{}{end}", text.as_str()));
}

/// Prints bytes to standard output as they are.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    finish(stdout.write_all(bytes).and_then(|()| stdout.flush()));
}

/// Whether a terminal shows standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Prints text of a server to standard output, with a line end: cleaned if a terminal shows it,
/// else as it is.
pub(crate) fn served(text: &str) {
    if is_terminal() {
        return self::text(lines(text));
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    bytes(format!("{text}{end}").as_bytes());
}

/// Prints the text of a file to standard output: as [`served`] at a terminal, else exactly as it is.
pub(crate) fn file(text: &str) {
    match is_terminal() {
        true => served(text),
        false => bytes(text.as_bytes()),
    }
}

/// Prints a note to standard error; while a question is open there, only after it.
pub(crate) fn note(text: impl Into<TerminalText>) {
    held::line(text.into().as_str());
}

/// Prints a line that a server wrote to its standard error, without its colours.
pub(crate) fn of_server(text: &str) {
    note(line(console::strip_ansi_codes(text)));
}

/// Prints text behind a word. Its other lines are indented, because a server may have written them: only
/// a line of this program begins with such a word.
fn labelled(label: TerminalText, text: impl Into<TerminalText>) {
    note(label + " " + TerminalText::joined(text.into().lines(), "\n  "));
}

/// How many rows and columns the terminal of standard error has; no columns if it is none.
pub(crate) fn errors_size() -> (u16, Option<u16>) {
    let terminal = console::Term::stderr();
    let (rows, columns) = terminal.size();
    (rows, terminal.is_term().then_some(columns))
}

/// Shows what a command does just now, in place of what it did before; only on a terminal. An empty
/// text ends that.
pub(crate) fn progress(text: impl Into<TerminalText>) {
    let terminal = console::Term::stderr();
    if terminal.is_term() {
        let width = usize::from(terminal.size().1).saturating_sub(1);
        let text = text.into().truncated(width);
        let _ = terminal.clear_line().and_then(|()| terminal.write_str(text.as_str()));
    }
}

/// Prints a warning to standard error.
pub(crate) fn warning(text: impl Into<TerminalText>) {
    labelled(WARNING.on("warning:"), text);
}

/// Prints an error to standard error.
pub(crate) fn error(text: impl Into<TerminalText>) {
    labelled(ERROR.on("error:"), text);
}

/// Prints what the user can do about an error.
pub(crate) fn hint(text: impl Into<TerminalText>) {
    labelled(HINT.on("hint:"), text);
}

/// Ends the process if the output cannot be written. If the reader of a pipe has gone, the user knows
/// why, and reads nothing.
fn finish(outcome: io::Result<()>) {
    let Err(error) = outcome else { return };
    let exit = match error.kind() {
        io::ErrorKind::BrokenPipe => Exit::Unread,
        _ => {
            self::error(text!("cannot write the output: {error}"));
            Exit::Refused
        }
    };
    std::process::exit(exit as i32);
}
