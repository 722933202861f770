//! Consent to what a project's file names: it may come from a stranger.
//!
//! The user sees what would run, as it stands in the file, and what is dangerous about it, on one
//! [screen](screen) that the file cannot fill with text of its own. Variables stay variables: their
//! values may be secret, and standard error may end in the log of a CI system. Nothing happens
//! without a yes.

mod screen;

use bowline_gateway::config::{ConfigVariables, ServerEntry, Start};
use bowline_ops::quoting;

use self::screen::ConsentScreen;
use crate::exit::{Exit, Failure};
use crate::print::{self, text};
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
/// what is dangerous. `loosened` are the keys that expose more than in the entry that is in use. Nothing
/// else is written to the terminal while it asks.
///
/// # Errors
///
/// If the user says no, or cannot be asked, or the terminal is too small to show the entry.
pub(crate) fn ask(
    entry: &ServerEntry,
    variables: &ConfigVariables,
    loosened: &[&str],
    agreed: Agreed,
) -> Result<(), Failure> {
    let (verb, question) = match entry.start {
        Start::Http(_) => ("call", "Call it?"),
        _ => ("run", "Run it?"),
    };
    let screen = ConsentScreen::of(entry, variables, loosened);
    let (rows, columns) = print::errors_size();
    let columns = columns.map_or(usize::MAX, usize::from);
    if agreed == Agreed::Yes || !terminal::is_interactive() {
        print::note(screen.bounded(columns));
        if agreed == Agreed::Yes {
            return Ok(());
        }
        let name = quoting::shortened(&quoting::quoted_unless_plain(&entry.name));
        let text = text!("`{name}` comes from a file of this project and needs consent");
        let hint = text!("read what it would {verb}, then add `--yes`");
        return Err(Failure::new(Exit::Unreachable, text).hint(hint));
    }
    let shown = screen.whole(columns);
    let needed = shown.lines().count() + 1;
    if needed > usize::from(rows) {
        return Err(unseen(entry, needed, rows));
    }
    let quiet = print::hold_back();
    quiet.show(&shown);
    match terminal::confirm(question)? {
        true => Ok(()),
        false => Err(Failure::new(Exit::Unreachable, "not started: you said no")),
    }
}

/// A question below text that has scrolled away would be a question about something else.
fn unseen(entry: &ServerEntry, needed: usize, rows: u16) -> Failure {
    let text = text!(
        "`{}` needs consent, and its entry takes {needed} lines of a terminal that has {rows}",
        quoting::shortened(&quoting::quoted_unless_plain(&entry.name))
    );
    let file = entry.file.display();
    Failure::new(Exit::Unreachable, text)
        .hint(text!("make the terminal larger, or read `{}` in {file}, then add `--yes`", entry.at))
}
