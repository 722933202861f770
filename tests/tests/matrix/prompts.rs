//! Prompts: messages from arguments.

use bowline::{Content, Server, prompt, prompts};
use bowline_testing::Harness;
use bowline_types::error::code;
use bowline_types::prompt::PromptMessage;

/// Review code
#[prompt(title = "Code review")]
fn review(
    /// The language that it is written in
    language: String,
    #[arg(default = 40)] lines: u32,
    focus: Option<String>,
) -> String {
    let focus = focus.unwrap_or("mistakes".into());
    format!("Review {language} for {focus}, {lines} lines at most.")
}

/// Describe a picture
#[prompt]
fn describe() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user("Describe pictures in one sentence."),
        PromptMessage::assistant("Show me one."),
        PromptMessage::user(Content::image(b"png", "image/png")),
        PromptMessage::user(Content::audio(b"wav", "audio/wav")),
    ]
}

fn reviewer() -> Server {
    Server::new("reviewer", "1.0.0").prompts(prompts![review, describe])
}

#[bowline::test(every_revision, stateless)]
async fn a_prompt_gets_its_arguments(t: Harness) {
    let client = t.connect(reviewer()).await;
    let asked = client.prompt("review").argument("language", "Rust").argument("lines", "60");
    let prompt = asked.await.unwrap();
    assert_eq!(
        prompt.messages,
        [PromptMessage::user("Review Rust for mistakes, 60 lines at most.")]
    );
}

// spec: PRMT-8, PRMT-9
#[bowline::test(every_revision, stateless)]
async fn a_prompt_may_have_messages_of_both_roles(t: Harness) {
    let client = t.connect(reviewer()).await;
    let mut expected = describe();
    if !t.revision().has_audio() {
        let text = "[audio of type audio/wav left out: revision 2024-11-05 cannot carry it]";
        expected[3] = PromptMessage::user(text);
    }
    assert_eq!(client.prompt("describe").await.unwrap().messages, expected);
}

#[bowline::test(every_revision, stateless)]
async fn the_list_of_prompts_has_their_arguments(t: Harness) {
    let client = t.connect(reviewer()).await;
    let listed = client.prompts().all().await.unwrap();
    let names: Vec<_> = listed.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names, ["review", "describe"]);
    assert_eq!(listed[0].title.is_some(), t.revision().has_titles());
    let arguments = listed[0].arguments.iter();
    let arguments: Vec<_> =
        arguments.map(|argument| (argument.name.as_str(), argument.required)).collect();
    assert_eq!(arguments, [("language", true), ("lines", false), ("focus", false)]);
}

// spec: PRMT-14, PRMT-16
#[bowline::test(every_revision, stateless)]
async fn the_server_refuses_missing_or_invalid_prompt_arguments_by_name(t: Harness) {
    let client = t.connect(reviewer()).await;
    let missing = client.prompt("review");
    let unfit = client.prompt("review").argument("language", "Rust").argument("lines", "many");
    for (call, name) in [(missing, "language"), (unfit, "lines")] {
        let error = call.await.unwrap_err();
        let error = error.rpc().unwrap();
        assert_eq!(error.code, code::INVALID_PARAMS);
        assert!(error.message.contains(name), "{}", error.message);
    }
}

// spec: PRMT-13
#[bowline::test(every_revision, stateless)]
async fn the_server_refuses_an_unknown_prompt(t: Harness) {
    let client = t.connect(reviewer()).await;
    let error = client.prompt("rewrite").await.unwrap_err();
    assert_eq!(error.rpc().unwrap().code, code::INVALID_PARAMS);
}
