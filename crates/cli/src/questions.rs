//! Questions that a server asks the user in the middle of a call: forms, web pages.
//!
//! At a terminal the user answers, declines or cancels. Without one, questions are declined.

mod fields;
mod page;

use self::fields::Asked;
use crate::exit::Failure;
use crate::print::bar::Bar;
use crate::print::{self, BOLD, TerminalText, line, lines};
use crate::terminal;
use bowline::Question;
use bowline::client::Answer;
use bowline_ops::schema::JsonMembers;

/// Answers a question. The progress bar is hidden meanwhile.
pub(crate) async fn answer(question: Question, bar: Bar) -> Answer {
    if !terminal::is_interactive() {
        print::note(TerminalText::from("note: the server asks: ") + lines(question.message()));
        print::note("note: declined, because there is no terminal");
        return question.decline();
    }
    // Reading keys blocks its thread.
    let asked = tokio::task::spawn_blocking(move || bar.suspend(|| at_terminal(&question)));
    match asked.await {
        Ok(answer) => answer,
        Err(error) => Answer::from(Err::<Answer, _>(error)),
    }
}

fn at_terminal(question: &Question) -> Answer {
    let name = question.label().unwrap_or("the server");
    let name = TerminalText::from("\n") + BOLD.on(line(name));
    print::note(name + " asks: " + lines(question.message()));
    let answer = match question.page() {
        Some(page) => page::visit(question, page),
        None => form(question),
    };
    // A question that could not be asked was not answered.
    answer.unwrap_or_else(|_| question.cancel())
}

fn form(question: &Question) -> Result<Answer, Failure> {
    if question.looks_sensitive() {
        print::warning("it seems to ask for a secret; servers must not do that here");
    }
    match choose(&["Answer", "Decline", "Cancel"])? {
        0 => {}
        1 => return Ok(question.decline()),
        _ => return Ok(question.cancel()),
    }
    let mut content = JsonMembers::default();
    loop {
        let Some(filled) = fill(question, &content)? else { return Ok(question.decline()) };
        content = filled;
        let answer = question.accept(&content);
        if let Some(problem) = answer.problem() {
            print::warning(line(problem));
            continue;
        }
        match choose(&["Send", "Change", "Decline"])? {
            0 => return Ok(answer),
            1 => {}
            _ => return Ok(question.decline()),
        }
    }
}

/// Asks field after field; what was answered before is offered again.
fn fill(question: &Question, before: &JsonMembers) -> Result<Option<JsonMembers>, Failure> {
    let Some(form) = question.form() else { return Ok(None) };
    let mut content = JsonMembers::default();
    for (name, field) in form.fields() {
        let is_required = form.required().any(|it| it == name);
        let before = before.0.iter().find(|(there, _)| there == name).map(|(_, value)| value);
        if let Some(value) = fields::ask(&Asked { name, field, is_required, before })? {
            content.set(name, value);
        }
    }
    Ok(Some(content))
}

/// Lets the user choose one of these; the first one unless moved.
fn choose(items: &[&'static str]) -> Result<usize, Failure> {
    let items: Vec<TerminalText> = items.iter().copied().map(TerminalText::from).collect();
    terminal::select(None, &items, Some(0))
}
