//! Prompts: plain, with arguments to complete, with content other than text, and one that asks.

use bowline::{Ask, Content, Prompt, Result, Typed, prompt, prompts, starting_with};
use bowline_types::prompt::PromptMessage;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{media, resources};

pub(crate) fn prompts() -> impl IntoIterator<Item = Prompt> {
    prompts![
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
    ]
}

/// A prompt without arguments
#[prompt]
async fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with two arguments
#[prompt]
async fn test_prompt_with_arguments(
    /// First test argument
    #[arg(complete = |typed| async move { starting_with(typed, ["testValue1", "Paris", "Park"]) })]
    arg1: String,
    /// Second test argument, whose suggestions depend on the first
    #[arg(complete = second)]
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

async fn second(typed: Typed) -> Vec<String> {
    let first = typed.chosen("arg1").unwrap_or("nothing");
    let suggestions = [format!("after {first}"), format!("before {first}")];
    starting_with(&typed, suggestions)
}

/// A prompt with a resource in it
#[prompt]
async fn test_prompt_with_embedded_resource(
    /// URI of the resource to embed
    #[arg(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::resource(resources::example_at(resource_uri))),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// A prompt with an image in it
#[prompt]
async fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(media::image()),
        PromptMessage::user("Please analyze the image above."),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct UserContext {
    context: String,
}

/// A prompt that asks the user
#[prompt]
async fn test_input_required_result_prompt(ask: Ask) -> Result<String> {
    let UserContext { context } = ask.form("What is it about?").await?;
    Ok(format!("Use this context: {context}"))
}
