//! Questions to the user at the terminal. They are asked on standard error, so that standard output
//! holds results only.

use std::io::IsTerminal as _;

use bowline_gateway::config::ConfigInput;
use dialoguer::theme::ColorfulTheme;
use dialoguer::{Confirm, Input, MultiSelect, Password, Select};

use crate::exit::Failure;
use crate::print::{self, TerminalText, line, paragraph, text};

/// Whether there is a user to ask.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn theme() -> ColorfulTheme {
    ColorfulTheme::default()
}

/// Asks for yes or no. There is no default: Enter alone is no answer.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn confirm(question: impl Into<TerminalText>) -> Result<bool, Failure> {
    let theme = theme();
    let prompt = question.into();
    // Escape and `q` are a no.
    let answer = Confirm::with_theme(&theme).with_prompt(prompt.as_str()).interact_opt();
    Ok(answer.map_err(unasked)?.unwrap_or(false))
}

/// Lets the user choose one item. Without a default, Enter alone chooses nothing.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn select(
    prompt: Option<&TerminalText>,
    items: &[TerminalText],
    default: Option<usize>,
) -> Result<usize, Failure> {
    let theme = theme();
    let mut select = Select::with_theme(&theme).items(items.iter().map(TerminalText::as_str));
    if let Some(prompt) = prompt {
        select = select.with_prompt(prompt.as_str());
    }
    if let Some(default) = default {
        select = select.default(default);
    }
    select.interact().map_err(unasked)
}

/// Lets the user mark items. Those of `marked` are at first.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn mark(
    prompt: &TerminalText,
    items: &[TerminalText],
    marked: &[bool],
) -> Result<Vec<usize>, Failure> {
    let theme = theme();
    let select = MultiSelect::with_theme(&theme).with_prompt(prompt.as_str());
    let select = select.items(items.iter().map(TerminalText::as_str)).defaults(marked);
    select.interact().map_err(unasked)
}

/// A line that the user types.
pub(crate) struct TypedLine<'a> {
    pub(crate) prompt: &'a TerminalText,
    /// What Enter alone answers.
    pub(crate) default: Option<String>,
    pub(crate) may_be_empty: bool,
}

impl TypedLine<'_> {
    /// Asks until the answer passes the check.
    ///
    /// # Errors
    ///
    /// If the user cannot be asked or pressed Ctrl-C.
    pub(crate) fn ask(
        self,
        check: impl Fn(&str) -> Result<(), TerminalText>,
    ) -> Result<String, Failure> {
        let theme = theme();
        let check = |text: &String| check(text).map_err(|wrong| wrong.as_str().to_owned());
        let mut input = Input::<String>::with_theme(&theme)
            .with_prompt(self.prompt.as_str())
            .allow_empty(self.may_be_empty)
            .validate_with(check);
        if let Some(default) = self.default {
            input = with_default(input, default);
        }
        input.interact_text().map_err(unasked)
    }
}

/// Asks for the value of `${input:id}`.
///
/// # Errors
///
/// If the user cannot be asked or pressed Ctrl-C.
pub(crate) fn input(input: &ConfigInput) -> Result<String, Failure> {
    // The text comes from a file, which may be a stranger's.
    let prompt = paragraph(input.description.as_deref().unwrap_or(&input.id));
    if input.password {
        let theme = theme();
        let password = Password::with_theme(&theme).with_prompt(prompt.as_str());
        return password.allow_empty_password(true).interact().map_err(unasked);
    }
    if !input.options.is_empty() {
        let default = input.options.iter().position(|it| Some(it) == input.default.as_ref());
        let options: Vec<TerminalText> = input.options.iter().map(line).collect();
        let chosen = select(Some(&prompt), &options, default.or(Some(0)))?;
        return Ok(input.options[chosen].clone());
    }
    let typed = TypedLine { prompt: &prompt, default: input.default.clone(), may_be_empty: true };
    typed.ask(|_| Ok(()))
}

/// Offers a default, which Enter alone takes as it is. One that would command the terminal is shown
/// cleaned, beside the question: `dialoguer` prints defaults as they are.
fn with_default(question: Input<'_, String>, default: String) -> Input<'_, String> {
    let shown = line(&default);
    if shown.as_str() == default {
        return question.default(default);
    }
    print::note(TerminalText::from("Enter alone answers: ") + shown);
    question.default(default).show_default(false).report(false)
}

/// The failure of a question.
fn unasked(error: dialoguer::Error) -> Failure {
    let dialoguer::Error::IO(error) = error;
    // The cursor is hidden while a question is open.
    let _ = console::Term::stderr().show_cursor();
    match error.kind() {
        std::io::ErrorKind::Interrupted => Failure::interrupted(),
        _ => Failure::usage(text!("cannot ask: {error}")),
    }
}
