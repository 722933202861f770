//! Output: results on standard output, notes and errors on standard error.
//!
//! Colours appear on terminals only, unless `CLICOLOR_FORCE` or `NO_COLOR` says otherwise. Text of
//! a server is [cleaned](clean) before a terminal gets it.

pub(crate) mod content;
pub(crate) mod json;
pub(crate) mod log;
pub(crate) mod table;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};

use crate::exit::Exit;

/// Names of sections and of things.
pub(crate) const BOLD: Style = Style::new().bold();
/// What the user should look at twice.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Prints text to standard output, with a line end.
pub(crate) fn text(text: &str) {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    finish(write!(anstream::stdout().lock(), "{text}{end}"));
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
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let text = if is_terminal() { clean(text) } else { Cow::Borrowed(text) };
    bytes(format!("{text}{end}").as_bytes());
}

/// Prints the text of a file to standard output: as [`served`] at a terminal, else exactly as it is.
pub(crate) fn file(text: &str) {
    match is_terminal() {
        true => served(text),
        false => bytes(text.as_bytes()),
    }
}

/// Prints a note to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Shows what a command does just now, in place of what it did before; only on a terminal. An empty
/// text ends that.
pub(crate) fn progress(text: &str) {
    let terminal = console::Term::stderr();
    if terminal.is_term() {
        let width = usize::from(terminal.size().1).saturating_sub(1);
        let text: String = clean(text).chars().take(width).collect();
        let _ = terminal.clear_line().and_then(|()| terminal.write_str(&text));
    }
}

/// Prints an error to standard error.
pub(crate) fn error(text: &str) {
    note(&format!("{ERROR}error:{ERROR:#} {}", clean(text)));
}

/// Prints what the user can do about an error.
pub(crate) fn hint(text: &str) {
    note(&format!("{HINT}hint:{HINT:#} {}", clean(text)));
}

/// Removes what a terminal would obey instead of show: control characters, and characters that
/// reverse or hide text. Line ends and tabs stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !is_obeyed(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if is_plain(c) { c.to_string() } else { c.escape_unicode().to_string() };
    Cow::Owned(text.replace("\r\n", "\n").chars().map(escape).collect())
}

fn is_obeyed(c: char) -> bool {
    let is_reordering =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || is_reordering
}

/// Ends the process if the output cannot be written. If the reader of a pipe has gone, the user knows
/// why, and reads nothing.
fn finish(outcome: io::Result<()>) {
    let Err(error) = outcome else { return };
    let exit = match error.kind() {
        io::ErrorKind::BrokenPipe => Exit::Unread,
        _ => {
            self::error(&format!("cannot write the output: {error}"));
            Exit::Refused
        }
    };
    std::process::exit(exit as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_server_cannot_command_the_terminal() {
        assert_eq!(clean("two\n\tlines ü"), "two\n\tlines ü");
        assert_eq!(clean("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(clean("a\u{202e}b\r\nc"), "a\\u{202e}b\nc");
    }
}
