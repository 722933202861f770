//! `#[prompt]` and `prompts!`: what clients see of a function, and what reaches it.

use bowline::{Args, Claims, PromptFn, Server, State, Typed, prompt, prompts, starting_with};
use bowline_proto::upstream::Upstream as _;
use bowline_types::prompt::PromptMessage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::answer;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    #[default]
    Kind,
    Strict,
}

/// Review code,
/// line by line.
#[prompt(title = "Code review")]
async fn review(
    /// The language that
    /// it is written in
    #[arg(complete = languages)]
    language: String,
    #[arg(describe = "How long a function may be", default = 40, range = 1..=100)] lines: u32,
    #[arg(default)] tone: Tone,
    #[arg(rename = "look-for", complete = |typed| async move { starting_with(typed, ["bugs"]) })]
    focus: Option<String>,
    State(team): State<&'static str>,
) -> String {
    let tone = if matches!(tone, Tone::Kind) { "kindly" } else { "strictly" };
    format!("{team}: {language} {lines} {tone} {focus:?}")
}

async fn languages(State(team): State<&'static str>, typed: Typed) -> Vec<String> {
    starting_with(typed, ["go", "rust", team])
}

fn server() -> Server {
    Server::new("test", "1").state("rangers").prompts(prompts![review])
}

async fn said(name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    let mut answer = answer(server(), "prompts/get", params).await;
    answer["result"]["messages"][0]["content"]["text"].take()
}

#[tokio::test]
async fn the_function_stays_a_function() {
    let said = review("c".into(), 1, Tone::Strict, None, State("us")).await;
    assert_eq!(said, "us: c 1 strictly None");
}

#[test]
fn a_prompt_is_described_by_its_function() {
    let definition = serde_json::to_value(review::prompt().definition()).unwrap();
    let expected = json!({
        "name": "review",
        "title": "Code review",
        "description": "Review code, line by line.",
        "arguments": [
            {
                "name": "language",
                "description": "The language that it is written in",
                "required": true,
            },
            { "name": "lines", "description": "How long a function may be" },
            { "name": "tone" },
            { "name": "look-for" },
        ],
    });
    assert_eq!(definition, expected);
}

// spec: PRMT-7
#[tokio::test]
async fn arguments_are_read_as_their_types() {
    let few = json!({ "language": "rust" });
    assert_eq!(said("review", few).await, "rangers: rust 40 kindly None");
    let all = json!({ "language": "go", "lines": "8", "tone": "strict", "look-for": "bugs" });
    assert_eq!(said("review", all).await, r#"rangers: go 8 strictly Some("bugs")"#);
}

// spec: PRMT-14
#[tokio::test]
async fn a_missing_argument_is_named() {
    let params = json!({ "name": "review", "arguments": {} });
    let answer = answer(server(), "prompts/get", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("language"), "{message}");
}

#[tokio::test]
async fn an_argument_out_of_its_range_is_refused() {
    let params = json!({ "name": "review", "arguments": { "language": "go", "lines": "101" } });
    let answer = answer(server(), "prompts/get", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("lines"), "{message}");
}

async fn suggestions(argument: &str, value: &str) -> Value {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "review" },
        "argument": { "name": argument, "value": value },
    });
    answer(server(), "completion/complete", params).await["result"]["completion"]["values"].take()
}

#[tokio::test]
async fn arguments_are_completed_by_functions_and_closures() {
    assert_eq!(suggestions("language", "r").await, json!(["rust", "rangers"]));
    assert_eq!(suggestions("look-for", "b").await, json!(["bugs"]));
}

#[test]
fn a_prompt_may_be_called_otherwise() {
    /// For readers of the code.
    #[prompt(name = "tell a joke", describe = concat!("Be ", "funny"))]
    fn joke() -> &'static str {
        "Tell me a joke"
    }

    let definition = serde_json::to_value(joke::prompt().definition()).unwrap();
    assert_eq!(definition, json!({ "name": "tell a joke", "description": "Be funny" }));
    assert_eq!(prompts![].len(), 0);
}

#[tokio::test]
async fn a_prompt_may_hold_both_sides_of_a_conversation() {
    #[derive(Deserialize, JsonSchema)]
    struct Topic {
        topic: String,
    }

    #[prompt]
    fn quiz(Args(Topic { topic }): Args<Topic>) -> bowline::Result<Vec<PromptMessage>> {
        Ok(vec![PromptMessage::user(topic), PromptMessage::assistant("What is the answer?")])
    }

    let server = Server::new("test", "1").prompts(prompts![quiz]);
    let params = json!({ "name": "quiz", "arguments": { "topic": "rivers" } });
    let answer = answer(server, "prompts/get", params).await;
    let roles: Vec<_> =
        answer["result"]["messages"].as_array().unwrap().iter().map(|said| &said["role"]).collect();
    assert_eq!(roles, ["user", "assistant"]);
}

#[prompt(require_scope = "plan")]
async fn plan(_caller: Option<Claims>) -> &'static str {
    "plan"
}

#[test]
fn scopes_of_a_prompt() {
    let server = Server::new("test", "1").prompts(prompts![plan]);
    let needs = server.build().unwrap().needs_authorization();
    assert_eq!(needs.unwrap(), "prompt `plan` needs scopes");
}
