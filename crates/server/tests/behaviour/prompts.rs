//! Prompts: their arguments, their messages, and what goes wrong.

use bowline_server::layer::{self, Next};
use bowline_server::{Args, Ask, Error, Prompt, Server, State};
use bowline_types::content::Content;
use bowline_types::implementation::Icon;
use bowline_types::method::Method;
use bowline_types::prompt::{GetPromptResult, PromptArgument, PromptMessage};
use bowline_types::resource::ResourceContents;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer, Raw, accept};

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// What it is written in
    language: String,
    lines: Option<u16>,
}

async fn review(Args(Review { language, lines }): Args<Review>) -> String {
    format!("Review this {language} code, {lines:?}")
}

fn one(prompt: Prompt) -> Server {
    Server::new("prompter", "1").prompt(prompt)
}

fn text(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}

// spec: PRMT-7, PRMT-8
#[tokio::test]
async fn a_prompt_is_made_of_texts() {
    let server = one(Prompt::new("review", review).describe("Review code"));
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        let arguments = json!({ "language": "Rust", "lines": "40" });
        let params = json!({ "name": "review", "arguments": arguments });
        let result = peer.ask(Method::PromptsGet, params).await.unwrap();
        let message = text("user", "Review this Rust code, Some(40)");
        assert_eq!(result, json!({ "description": "Review code", "messages": [message] }));
        let messages = peer.prompt("review", json!({ "language": "Go", "lines": "" })).await;
        assert_eq!(messages.unwrap(), json!([text("user", "Review this Go code, None")]));
    }
}

// spec: PRMT-14, PRMT-16, ERR-4
#[tokio::test]
async fn arguments_that_do_not_fit_are_an_error_of_the_request() {
    let server = one(Prompt::new("review", review));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (arguments, expected) in [
            (json!({}), "`arguments.language`: missing; the prompt `review` requires it"),
            (json!(null), "`arguments.language`: missing"),
            (
                json!({ "language": "a", "lines": "many" }),
                "`arguments.lines`: expected a whole number from 0 to 65535, found \"many\"",
            ),
            (
                json!({ "language": 1 }),
                "`params.arguments.language`: expected a string, found the number 1",
            ),
            (json!([]), "`params.arguments`: expected an object, found an array"),
        ] {
            let error = peer.prompt("review", arguments).await.unwrap_err();
            assert_eq!(error.code, -32602);
            assert!(error.message.starts_with(expected), "{error}");
        }
    }
}

// spec: PRMT-16
#[tokio::test]
async fn arguments_are_checked_beyond_their_types() {
    #[derive(Deserialize, JsonSchema)]
    struct Days {
        #[schemars(range(max = 7))]
        days: u8,
    }
    let forecast = |Args(Days { days }): Args<Days>| async move { days.to_string() };
    let server = one(Prompt::new("forecast", forecast));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let messages = peer.prompt("forecast", json!({ "days": "7" })).await.unwrap();
        assert_eq!(messages, json!([text("user", "7")]));
        let error = peer.prompt("forecast", json!({ "days": "8" })).await.unwrap_err();
        assert_eq!(error.code, -32602);
        assert_eq!(error.message, "`arguments.days`: expected at most 7, found 8");
    }
}

// spec: PRMT-13, ERR-4
#[tokio::test]
async fn an_unknown_prompt_is_an_error_of_the_request() {
    let server = one(Prompt::new("review", review));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (params, expected) in [
            (json!({ "name": "nope" }), "no prompt is named `nope`"),
            (json!({}), "`params.name`: missing; name the prompt to call"),
            (json!({ "name": 1 }), "`params.name`: expected a string, found the number 1"),
        ] {
            let error = peer.ask(Method::PromptsGet, params).await.unwrap_err();
            assert_eq!(error.code, -32602);
            assert!(error.message.starts_with(expected), "{error}");
        }
    }
}

// spec: PRMT-8, PRMT-12
#[tokio::test]
async fn a_prompt_has_messages_of_both_sides_and_of_all_kinds() {
    let contents = ResourceContents::text("a://b", "b").with_mime_type("text/plain");
    let all = move || {
        let contents = contents.clone();
        async move {
            vec![
                PromptMessage::user("Look"),
                PromptMessage::user(Content::image(&[1], "image/png")),
                PromptMessage::assistant(Content::audio(&[2], "audio/wav")),
                PromptMessage::user(Content::resource(contents)),
                PromptMessage::user(Content::resource_link("a://c", "c")),
            ]
        }
    };
    let server = one(Prompt::new("all", all));
    let messages = Peer::new(&server, Revision::LATEST).prompt("all", json!({})).await.unwrap();
    let block = |role: &str, content: Value| json!({ "role": role, "content": content });
    let resource = json!({ "uri": "a://b", "mimeType": "text/plain", "text": "b" });
    let expected = json!([
        text("user", "Look"),
        block("user", json!({ "type": "image", "data": "AQ==", "mimeType": "image/png" })),
        block("assistant", json!({ "type": "audio", "data": "Ag==", "mimeType": "audio/wav" })),
        block("user", json!({ "type": "resource", "resource": resource })),
        block("user", json!({ "type": "resource_link", "uri": "a://c", "name": "c" })),
    ]);
    assert_eq!(messages, expected);
    let old = Peer::new(&server, Revision::V2024_11_05).prompt("all", json!({})).await.unwrap();
    let kinds: Vec<_> =
        old.as_array().unwrap().iter().map(|message| &message["content"]["type"]).collect();
    assert_eq!(kinds, ["text", "image", "text", "resource", "text"]);
}

#[tokio::test]
async fn plain_results_are_said_by_the_user() {
    let server = one(Prompt::new("text", || async { "a" }))
        .prompt(Prompt::new("block", || async { Content::text("b") }))
        .prompt(Prompt::new("blocks", || async { vec![Content::text("c"), Content::text("d")] }))
        .prompt(Prompt::new("message", || async { PromptMessage::assistant("e") }))
        .prompt(Prompt::new("messages", || async { [PromptMessage::user("f")] }))
        .prompt(Prompt::new("result", || async { Ok::<_, Error>(String::from("g")) }));
    let peer = Peer::new(&server, Revision::LATEST);
    let get = async |name| peer.prompt(name, json!({})).await.unwrap();
    assert_eq!(get("text").await, json!([text("user", "a")]));
    assert_eq!(get("block").await, json!([text("user", "b")]));
    assert_eq!(get("blocks").await, json!([text("user", "c"), text("user", "d")]));
    assert_eq!(get("message").await, json!([text("assistant", "e")]));
    assert_eq!(get("messages").await, json!([text("user", "f")]));
    assert_eq!(get("result").await, json!([text("user", "g")]));
}

#[tokio::test]
async fn a_prompt_may_describe_what_it_made() {
    let made = || async { GetPromptResult::new(Vec::new()).with_description("Made today") };
    let server = one(Prompt::new("made", made).describe("Makes something"));
    let peer = Peer::new(&server, Revision::LATEST);
    let result = peer.ask(Method::PromptsGet, json!({ "name": "made" })).await.unwrap();
    assert_eq!(result, json!({ "description": "Made today", "messages": [] }));
}

// spec: PRMT-15, PRMT-19
#[tokio::test]
async fn a_prompt_that_cannot_be_made_is_an_internal_error() {
    let server = one(Prompt::new("fails", || async { "x".parse::<u8>().map(|_| "a") }))
        .prompt(Prompt::new("panics", || async { panic!("secret") as String }))
        .prompt(Prompt::new("odd", || async { Content::image(&[1], "png") }))
        .prompt(Prompt::new("refuses", || async { Err::<String, _>(Error::rpc(-32000, "no")) }));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (name, code, message) in [
            ("fails", -32603, "invalid digit found in string"),
            ("panics", -32603, "the prompt `panics` panicked"),
            (
                "odd",
                -32603,
                "the prompt `odd` failed: `messages[0].content`: \
                 `png` is not a media type such as `image/png`",
            ),
            ("refuses", -32000, "no"),
        ] {
            let error = peer.prompt(name, json!({})).await.unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (code, message));
        }
    }
}

// spec: PRMT-2
#[tokio::test]
async fn clients_see_the_definition_of_a_prompt() {
    let prompt = Prompt::new("review", review)
        .title("Review")
        .describe("Review code")
        .icon(Icon::new("https://example.com/r.png"))
        .meta("com.example/shelf", &7)
        .argument(PromptArgument::new("lines").with_title("Lines"))
        .argument(PromptArgument::required("extra"));
    let server = one(prompt);
    let arguments = json!([
        { "name": "language", "description": "What it is written in", "required": true },
        { "name": "lines", "title": "Lines" },
        { "name": "extra", "required": true },
    ]);
    let mut expected = json!({
        "name": "review", "title": "Review", "description": "Review code", "arguments": arguments,
        "icons": [{ "src": "https://example.com/r.png" }], "_meta": { "com.example/shelf": 7 },
    });
    let list = async |revision| {
        Peer::new(&server, revision).ask(Method::PromptsList, json!({})).await.unwrap()
    };
    assert_eq!(list(Revision::LATEST).await, json!({ "prompts": [expected] }));
    for newer in ["title", "icons", "_meta"] {
        expected.as_object_mut().unwrap().remove(newer);
    }
    expected["arguments"][1].as_object_mut().unwrap().remove("title");
    assert_eq!(list(Revision::V2024_11_05).await, json!({ "prompts": [expected] }));
}

#[tokio::test]
async fn what_no_type_declares_is_there_as_text() {
    let echo = |Raw(arguments): Raw| async move { arguments };
    let server = one(Prompt::new("echo", echo).argument(PromptArgument::new("a")));
    let peer = Peer::new(&server, Revision::LATEST);
    let messages = peer.prompt("echo", json!({ "a": "1", "b": "2" })).await.unwrap();
    assert_eq!(messages, json!([text("user", r#"{"a":"1","b":"2"}"#)]));
}

fn asking() -> Server {
    one(Prompt::new("letter", |ask: Ask| async move {
        let formal = ask.confirm("Formal?").await?;
        Ok::<_, Error>(if formal { "Dear Sir or Madam" } else { "Hi" })
    }))
}

// spec: PRMT-20, MRTR-2
#[tokio::test]
async fn a_prompt_may_ask_the_user() {
    let yes = accept(&json!({ "confirm": true }));
    let legacy = Peer::with_forms(&asking(), Revision::LATEST_LEGACY);
    legacy.inbox.answer(Ok(yes.clone()));
    let messages = legacy.prompt("letter", json!({})).await.unwrap();
    assert_eq!(messages, json!([text("user", "Dear Sir or Madam")]));
    let modern = Peer::with_forms(&asking(), Revision::LATEST);
    let params = json!({ "name": "letter" });
    let round = modern.round_of(Method::PromptsGet, &params, json!({}), None).await;
    let (_, state) = round.asks();
    let responses = json!({ "q1": yes });
    let done = modern.round_of(Method::PromptsGet, &params, responses, Some(&state)).await.done();
    assert_eq!(done["messages"], json!([text("user", "Dear Sir or Madam")]));
}

// spec: RQM-8
#[tokio::test]
async fn a_prompt_that_cannot_ask_says_what_it_needs() {
    let error = Peer::new(&asking(), Revision::LATEST).prompt("letter", json!({})).await;
    assert_eq!(error.unwrap_err().code, -32021);
    let error = Peer::new(&asking(), Revision::LATEST_LEGACY).prompt("letter", json!({})).await;
    let error = error.unwrap_err();
    assert_eq!(error.code, -32603);
    assert!(error.message.contains("needs input from the user"), "{error}");
}

// spec: ERR-3, PRMT-18
#[tokio::test]
async fn a_server_without_prompts_knows_no_methods_for_them() {
    let server = Server::new("empty", "1");
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for method in [Method::PromptsList, Method::PromptsGet] {
            let error = peer.ask(method, json!({ "name": "a" })).await.unwrap_err();
            assert_eq!(error.code, -32601, "{method}");
        }
    }
}

// spec: PRMT-2, PRMT-3
#[tokio::test]
async fn a_server_may_have_no_prompts_yet() {
    let server = Server::new("empty", "1").prompts([]);
    for revision in BOTH {
        let list = Peer::new(&server, revision).ask(Method::PromptsList, json!({})).await.unwrap();
        assert_eq!(list, json!({ "prompts": [] }));
    }
}

#[tokio::test]
async fn a_layer_is_put_around_one_prompt() {
    let pass = |request, next: Next| next.run(request);
    let fail = |_, _: Next| async { Err(bowline_types::error::ErrorObject::internal("closed")) };
    let server = one(Prompt::new("open", || async { "a" }).layer(layer::from_fn(pass)))
        .prompt(Prompt::new("closed", || async { "a" }).layer(layer::from_fn(fail)));
    let peer = Peer::new(&server, Revision::LATEST);
    assert_eq!(peer.prompt("open", json!({})).await.unwrap(), json!([text("user", "a")]));
    assert_eq!(peer.prompt("closed", json!({})).await.unwrap_err().message, "closed");
}

#[test]
fn what_is_wrong_with_a_prompt_is_found_before_it_is_served() {
    let problem = |prompt| one(prompt).build().unwrap_err().to_string();
    let error = problem(Prompt::new("", || async { "a" }));
    assert_eq!(error, "a prompt has no name; give it one");
    let error = problem(Prompt::new("review", review).complete("langage", |_| async { [""] }));
    let expected = "prompt `review` completes `langage`, but takes only `language`, `lines`";
    assert_eq!(error, expected);
    let twin = || Prompt::new("a", || async { "a" });
    let error = one(twin()).prompt(twin()).build().unwrap_err();
    assert!(error.is_duplicate());
    assert_eq!(error.to_string(), "two prompts are named `a`");
    let needs = |State(number): State<u8>| async move { number.to_string() };
    let error = problem(Prompt::new("a", needs));
    assert!(error.starts_with("prompt `a` needs `State<u8>`"), "{error}");
    let complete = |State(number): State<u8>| async move { [number.to_string()] };
    let error = problem(Prompt::new("review", review).complete_with("language", complete));
    let expected = "the completion of `language` of prompt `review` needs `State<u8>`";
    assert!(error.starts_with(expected), "{error}");
}
