//! Completion: suggestions for arguments and variables.

use bowline::{Prompt, Resource, Server, Typed, prompt, prompts, starting_with};
use bowline_testing::Harness;
use bowline_types::completion::Reference;

/// Summarize a repository
#[prompt]
fn summarize(
    #[arg(complete = |typed| async move { starting_with(typed, ["ada", "alan", "grace"]) })]
    owner: String,
    #[arg(complete = repositories)] repository: String,
) -> String {
    format!("Summarize {owner}/{repository}.")
}

async fn repositories(typed: Typed) -> Vec<String> {
    let known = match typed.chosen("owner") {
        Some("ada") => vec!["engine", "notes"],
        Some(_) => vec![],
        None => vec!["compiler", "engine", "notes"],
    };
    starting_with(&typed, known)
}

fn code() -> Server {
    let log = Resource::template("logs://{service}", |service: String| async move { service })
        .complete("service", |typed| async move { starting_with(typed, ["mailer", "web"]) });
    Server::new("code", "1.0.0").prompts(prompts![summarize]).resource(log)
}

#[bowline::test(every_revision, stateless)]
async fn the_server_completes_arguments_of_prompts(t: Harness) {
    let client = t.connect(code()).await;
    let asked = client.complete(Reference::prompt("summarize")).argument("owner", "a");
    assert_eq!(asked.await.unwrap().values(), ["ada", "alan"]);
}

#[bowline::test(every_revision, stateless)]
async fn the_server_completes_variables_of_templates(t: Harness) {
    let client = t.connect(code()).await;
    let asked = client.complete(Reference::resource("logs://{service}")).argument("service", "");
    assert_eq!(asked.await.unwrap().values(), ["mailer", "web"]);
}

// spec: COMP-4
#[bowline::test(every_revision, stateless)]
async fn a_completion_depends_on_earlier_arguments_in_revisions_that_send_them(t: Harness) {
    let client = t.connect(code()).await;
    let asked = client.complete(Reference::prompt("summarize")).argument("repository", "");
    let values = asked.context("owner", "ada").await.unwrap();
    let all: &[&str] = &["compiler", "engine", "notes"];
    let expected = if t.revision().has_completion_context() { &all[1..] } else { all };
    assert_eq!(values.values(), expected);
}

// spec: COMP-2
#[bowline::test(every_revision, stateless)]
async fn a_completion_has_the_total_number_of_suggestions(t: Harness) {
    let years = Prompt::new("year", || async { "" })
        .argument(bowline_types::prompt::PromptArgument::new("year"))
        .complete("year", |_| async { (0..250).map(|n| n.to_string()).collect::<Vec<_>>() });
    let client = t.connect(Server::new("calendar", "1.0.0").prompt(years)).await;
    let completion = client.complete(Reference::prompt("year")).argument("year", "").await.unwrap();
    assert_eq!(completion.values().len(), 100);
    assert_eq!((completion.total(), completion.has_more()), (Some(250), true));
}

// spec: COMP-1
#[bowline::test(every_revision, stateless)]
async fn a_server_without_completions_does_not_declare_them(t: Harness) {
    let client = t.connect(Server::new("mute", "1.0.0")).await;
    let error = client.complete(Reference::prompt("x")).argument("y", "").await.unwrap_err();
    // Before 2025-03-26 servers could not declare completions.
    assert_eq!(error.is_not_offered(), t.revision().has_completions_capability());
    assert_eq!(error.is_refused(), !t.revision().has_completions_capability());
}
