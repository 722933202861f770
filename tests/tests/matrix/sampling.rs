//! Sampling: a server asks the client's model.

use bowline::client::{ClientBuilder, Review, SamplingAnswer, SamplingRequest};
use bowline::{Ask, AskError, Content, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::content::ToolUseContent;
use bowline_types::deprecated::sampling::{CreateMessageParams, CreateMessageResult, StopReason};
use bowline_types::error::code;
use bowline_types::json::Object;

/// Summarize a text
#[tool]
async fn summarize(ask: Ask) -> bowline::Result<String> {
    let question = ask.sample("Summarize: tea is hot.").system("Be brief.").max_tokens(20);
    let summary = question.await?;
    Ok(format!("{} says: {}", summary.model, summary.text()))
}

/// Describe a picture
#[tool]
async fn describe(ask: Ask) -> bowline::Result<String> {
    Ok(ask.sample("What is this?").image(b"png", "image/png").await?.text())
}

/// Tell whether it is time for lunch
#[tool]
async fn lunch(ask: Ask) -> bowline::Result<String> {
    let clock = Tool::new("clock", || async {}).describe("Tell the time");
    let question = ask.sample("Is it time for lunch?").tools([clock]);
    Ok(question.run(|_| async { "12:15" }).await?.text())
}

fn thinker() -> Server {
    Server::new("thinker", "1.0.0").tools(tools![summarize, describe, lunch])
}

/// A client whose model answers by a function.
fn model<A: Into<SamplingAnswer> + Send + 'static>(
    answer: impl Fn(SamplingRequest) -> A + Send + Sync + 'static,
) -> impl FnOnce(ClientBuilder) -> ClientBuilder {
    move |client| client.on_sample(move |request| std::future::ready(answer(request)))
}

#[bowline::test(every_revision)]
async fn a_tool_asks_the_model_and_gets_its_answer(t: Harness) {
    let answer = |request: SamplingRequest| {
        let params = request.params();
        assert_eq!(params.messages[0].content[0].as_text(), Some("Summarize: tea is hot."));
        assert_eq!(params.system_prompt.as_deref(), Some("Be brief."));
        assert_eq!(params.max_tokens, 20);
        request.answer("small", "Hot tea.")
    };
    let client = t.connect(thinker()).client(model(answer)).await;
    let outcome = client.call("summarize", ()).await.unwrap();
    assert_eq!(outcome.text(), "small says: Hot tea.");
}

#[bowline::test(every_revision)]
async fn a_tool_sends_the_model_an_image(t: Harness) {
    let answer = |request: SamplingRequest| {
        let last = request.params().messages.last().unwrap();
        assert_eq!(last.content, [Content::image(b"png", "image/png")]);
        request.answer("small", "A dot.")
    };
    let client = t.connect(thinker()).client(model(answer)).await;
    assert_eq!(client.call("describe", ()).await.unwrap().text(), "A dot.");
}

/// Calls the clock first, and answers when it has the time.
fn looks_at_the_clock(params: &CreateMessageParams) -> CreateMessageResult {
    let heard =
        params.messages.iter().flat_map(|message| &message.content).find_map(|block| match block {
            Content::ToolResult(result) => result.content[0].as_text(),
            _ => None,
        });
    match heard {
        Some(time) => CreateMessageResult::new("small", format!("Yes, it is {time}.")),
        None => {
            let wish = ToolUseContent::new("wish-1", &params.tools[0].name, Object::default());
            let wish = Content::ToolUse(wish);
            CreateMessageResult::new("small", wish).with_stop_reason(StopReason::ToolUse)
        }
    }
}

#[bowline::test(every_revision)]
async fn the_model_calls_tools_in_revisions_with_sampling_tools(t: Harness) {
    let answer = model(|request| looks_at_the_clock(request.params()));
    let client = t.connect(thinker()).client(|client| answer(client).allow_sampling_tools()).await;
    let outcome = client.call("lunch", ()).await.unwrap();
    if t.revision().has_sampling_tools() {
        assert_eq!(outcome.text(), "Yes, it is 12:15.");
    } else {
        assert!(outcome.is_error());
        assert!(outcome.text().contains("has no sampling with tools"), "{}", outcome.text());
    }
}

#[bowline::test(every_revision)]
async fn the_user_may_change_or_deny_a_sampling_request(t: Harness) {
    let review = |mut request: SamplingRequest| async move {
        if request.params().system_prompt.is_none() {
            return Review::Deny("not now".into());
        }
        request.params_mut().system_prompt = Some("Shout.".into());
        Review::Approve(request)
    };
    let answer = model(|request| {
        let system = request.params().system_prompt.clone().unwrap_or_default();
        request.answer("small", system)
    });
    let client = t.connect(thinker()).client(|client| answer(client).review_sampling(review)).await;
    assert_eq!(client.call("summarize", ()).await.unwrap().text(), "small says: Shout.");
    match client.call("describe", ()).await {
        // The server gets the refusal, and its tool returns it to the model.
        Ok(outcome) => assert!(outcome.is_error() && t.revision().has_server_requests()),
        // There is no answer for a retry.
        Err(error) => {
            assert!(error.is_unanswered() && t.revision().has_input_requests(), "{error}");
        }
    }
}

#[bowline::test(every_revision, stateless)]
async fn a_server_does_not_ask_a_client_without_sampling(t: Harness) {
    let client = t.connect(thinker()).await;
    match client.call("summarize", ()).await {
        Ok(outcome) => {
            assert!(outcome.is_error() && t.revision().has_server_requests());
            assert!(outcome.text().contains(r#"{"sampling":{}}"#), "{}", outcome.text());
        }
        Err(error) => {
            assert!(t.revision().has_input_requests());
            assert_eq!(error.rpc().unwrap().code, code::MISSING_CLIENT_CAPABILITY);
        }
    }
}

#[bowline::test(every_revision, stateless)]
async fn a_tool_can_work_without_sampling(t: Harness) {
    let guess = |ask: Ask| async move {
        match ask.sample("Guess a number.").await {
            Ok(answer) => answer.text(),
            Err(AskError::Unsupported(_)) => "4".into(),
            Err(error) => error.to_string(),
        }
    };
    let client = t.connect(Server::new("guesser", "1.0.0").tool(Tool::new("guess", guess))).await;
    assert_eq!(client.call("guess", ()).await.unwrap().text(), "4");
}
