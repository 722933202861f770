//! Questions to the user at the terminal. They are asked on standard error, so that standard output
//! holds results only.

use std::io::IsTerminal as _;

use bowline_gateway::config::ConfigInput;
use dialoguer::theme::ColorfulTheme;
use dialoguer::{Confirm, Input, Password, Select};

use crate::exit::Failure;
use crate::print::{self, clean};

/// Whether there is a user to ask.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// How questions look.
pub(crate) fn theme() -> ColorfulTheme {
    ColorfulTheme::default()
}

/// Asks for yes or no. There is no default: Enter alone is no answer.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    let theme = theme();
    // Escape and `q` are a no.
    let answer = Confirm::with_theme(&theme).with_prompt(question).interact_opt();
    Ok(answer.map_err(unasked)?.unwrap_or(false))
}

/// Asks for the value of `${input:id}`.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn input(input: &ConfigInput) -> Result<String, Failure> {
    let theme = theme();
    // The text comes from a file, which may be a stranger's.
    let question = clean(input.description.as_deref().unwrap_or(&input.id)).replace('\n', " ");
    if input.password {
        let password =
            Password::with_theme(&theme).with_prompt(question).allow_empty_password(true);
        return password.interact().map_err(unasked);
    }
    if !input.options.is_empty() {
        let default = input.options.iter().position(|it| Some(it) == input.default.as_ref());
        let select = Select::with_theme(&theme).with_prompt(question);
        let options = input.options.iter().map(|it| clean(it).replace('\n', " "));
        let select = select.items(options.collect::<Vec<_>>());
        let chosen = select.default(default.unwrap_or(0)).interact().map_err(unasked)?;
        return Ok(input.options[chosen].clone());
    }
    let mut text = Input::<String>::with_theme(&theme).with_prompt(question).allow_empty(true);
    if let Some(default) = &input.default {
        text = with_default(text, default.clone());
    }
    text.interact_text().map_err(unasked)
}

/// Offers a default, which Enter alone takes as it is. One that would command the terminal is shown
/// cleaned, beside the question: `dialoguer` prints defaults as they are.
pub(crate) fn with_default(question: Input<'_, String>, default: String) -> Input<'_, String> {
    let shown = clean(&default).replace('\n', " ");
    if shown == default {
        return question.default(default);
    }
    print::note(&format!("Enter alone answers: {shown}"));
    question.default(default).show_default(false).report(false)
}

/// The failure of a question.
pub(crate) fn unasked(error: dialoguer::Error) -> Failure {
    let dialoguer::Error::IO(error) = error;
    // The cursor is hidden while a question is open.
    let _ = console::Term::stderr().show_cursor();
    match error.kind() {
        std::io::ErrorKind::Interrupted => Failure::interrupted(),
        _ => Failure::usage(format!("cannot ask: {error}")),
    }
}
