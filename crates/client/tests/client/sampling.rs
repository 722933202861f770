//! Sampling: requests are checked, reviewed and answered, in both eras.

use bowline_client::types::content::Content;
use bowline_client::types::deprecated::sampling::{
    CreateMessageResult, SamplingMessage, StopReason,
};
use bowline_client::types::revision::Revision;
use bowline_client::{ClientBuilder, Limits, Review, SamplingAnswer, SamplingRequest};
use serde_json::{Value, json};

use crate::peer::{
    Heard, both, builder, legacy, modern, pair, put, with_question_tasks, with_tasks,
};

const CREATE: &str = "sampling/createMessage";

fn asked(content: &Value) -> Value {
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 100 })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// A client whose model always gives the same answer.
fn saying(text: &'static str) -> ClientBuilder {
    builder().on_sample(move |request| async move { request.answer("m", text) })
}

/// A client that must not be asked.
fn unasked() -> ClientBuilder {
    builder().on_sample(|_| async { unreachable!("it is asked") as SamplingAnswer })
}

fn shown(request: &SamplingRequest) -> String {
    let texts = |message: &SamplingMessage| {
        message.content.iter().filter_map(Content::as_text).collect::<String>()
    };
    request.params().messages.iter().map(texts).collect()
}

// spec: SAMP-1, SAMP-2, SAMP-7
#[tokio::test(start_paused = true)]
async fn sampling_is_declared_as_the_hooks_allow() {
    for (builder, expected) in [
        (builder(), json!({})),
        (builder().allow_sampling_tools(), json!({})),
        (saying("hi"), json!({ "sampling": {} })),
        (saying("hi").allow_sampling_tools(), json!({ "sampling": { "tools": {} } })),
    ] {
        let (near, mut peer) = pair();
        let serve = async {
            let probe = peer.request("server/discover").await;
            let modern = &probe.params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(*modern, with_tasks(&expected));
            peer.refuse(&probe, -32601, "what?").await;
            let handshake = peer.shake("2025-11-25").await;
            assert_eq!(handshake.params["capabilities"], with_question_tasks(&expected));
        };
        tokio::join!(builder.connect(near), serve).0.unwrap();
    }
}

// spec: SAMP-30, SAMP-37
#[tokio::test(start_paused = true)]
async fn the_model_answers() {
    for mut pair in both(saying("Paris")).await {
        for content in [text("Capital?"), json!([text("Capital"), text("of France?")])] {
            let answer = put(&mut pair, CREATE, &asked(&content)).await.unwrap();
            let expected = json!({ "role": "assistant", "content": text("Paris"), "model": "m" });
            assert_eq!(answer, expected);
        }
    }
}

// spec: SAMP-30, SAMP-34
#[tokio::test(start_paused = true)]
async fn images_audio_and_meta_are_passed_in_both_directions() {
    let builder = builder().on_sample(|request| async move {
        let content = request.params().messages[0].content.clone();
        let mut result = CreateMessageResult::new("m", content[0].clone())
            .with_stop_reason(StopReason::Other("bored".to_owned()));
        result.content = content;
        Ok::<_, String>(result)
    });
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let sound = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
    for mut pair in both(builder).await {
        let answer = put(&mut pair, CREATE, &asked(&json!([image, sound]))).await.unwrap();
        assert_eq!(answer["content"], json!([image, sound]));
        assert_eq!(answer["stopReason"], "bored");
    }
}

// spec: SAMP-37
#[tokio::test(start_paused = true)]
async fn an_older_server_gets_one_block() {
    let builder = builder().on_sample(|_| async {
        let mut result = CreateMessageResult::new("m", "one");
        result.content.push(Content::text("two"));
        result
    });
    let mut pair = legacy(builder, Revision::V2025_06_18).await;
    let answer = put(&mut pair, CREATE, &asked(&text("hi"))).await.unwrap();
    assert_eq!(answer["content"], text("one\ntwo"));
}

// spec: SAMP-9
#[tokio::test(start_paused = true)]
async fn tools_need_a_client_that_allows_them() {
    let [mut modern, mut session] = both(unasked()).await;
    let mut tools = asked(&text("hi"));
    tools["tools"] = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
    let mut choice = asked(&text("hi"));
    choice["toolChoice"] = json!({ "mode": "auto" });
    for params in [tools, choice] {
        let error = put(&mut session, CREATE, &params).await.unwrap_err();
        assert!(error.contains("needs what this client does not declare"), "{error}");
        assert!(error.ends_with("(-32602)"), "{error}");
        let error = put(&mut modern, CREATE, &params).await.unwrap_err();
        assert!(error.contains("needs what this client does not declare"), "{error}");
        let mut older = legacy(unasked().allow_sampling_tools(), Revision::V2025_06_18).await;
        assert!(put(&mut older, CREATE, &params).await.unwrap_err().ends_with("(-32602)"));
    }
}

fn tool_use(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "t", "input": {}, "_meta": { "a.b/c": 1 } })
}

fn tool_result(id: &str) -> Value {
    json!({ "type": "tool_result", "toolUseId": id, "content": [], "_meta": { "d.e/f": 2 } })
}

fn with_tool(messages: &Value, mode: Option<&str>) -> Value {
    let tools = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
    let mut params = json!({ "messages": messages, "maxTokens": 9, "tools": tools });
    if let Some(mode) = mode {
        params["toolChoice"] = json!({ "mode": mode });
    }
    params
}

// spec: SAMP-16, SAMP-35
#[tokio::test(start_paused = true)]
async fn a_model_uses_tools_as_it_may_and_their_metadata_is_kept() {
    let builder = builder().allow_sampling_tools().on_sample(|request| async move {
        let params = request.params();
        let last = params.messages.last().unwrap();
        assert_eq!(serde_json::to_value(&last.content).unwrap(), json!([tool_result("1")]));
        assert_eq!(params.tools[0].name, "t");
        let block: Content = serde_json::from_value(tool_use("2")).unwrap();
        CreateMessageResult::new("m", block).with_stop_reason(StopReason::ToolUse)
    });
    let conversation = json!([
        { "role": "assistant", "content": tool_use("1") },
        { "role": "user", "content": [tool_result("1")] },
    ]);
    for mut pair in both(builder).await {
        let params = with_tool(&conversation, Some("required"));
        let answer = put(&mut pair, CREATE, &params).await.unwrap();
        assert_eq!(answer["content"], tool_use("2"));
        assert_eq!(answer["stopReason"], "toolUse");
        let params = with_tool(&conversation, Some("none"));
        let error = put(&mut pair, CREATE, &params).await.unwrap_err();
        let expected = "it uses a tool, which `toolChoice` forbids (-32603)";
        assert!(error.ends_with(expected), "{error}");
    }
}

// spec: SAMP-17, SAMP-18, SAMP-21, SAMP-30
#[tokio::test(start_paused = true)]
async fn an_invalid_conversation_is_refused_before_any_hook_sees_it() {
    let user = |content: Value| json!({ "role": "user", "content": content });
    let wish = json!({ "role": "assistant", "content": tool_use("1") });
    for (messages, complaint) in [
        (json!([wish]), "`messages[1]`: expected a user's message with the result of tool use `1`"),
        (
            json!([wish, user(json!([tool_result("1"), text("secret")]))]),
            "`messages[1]`: tool results stand beside other content",
        ),
        (
            json!([user(json!({ "type": "resource_link", "uri": "a://secret", "name": "b" }))]),
            "`messages[0].content[0]`: not of a type that models are asked with",
        ),
        (
            json!([{ "role": "system", "content": text("secret") }]),
            "`messages[0].role`: neither `user` nor `assistant`",
        ),
    ] {
        for mut pair in both(unasked().allow_sampling_tools()).await {
            let error = put(&mut pair, CREATE, &with_tool(&messages, None)).await.unwrap_err();
            assert!(error.ends_with(&format!("{complaint} (-32602)")), "{error}");
        }
    }
}

// spec: SAMP-3, SAMP-5, SAMP-20, TRUST-6
#[tokio::test(start_paused = true)]
async fn a_request_is_reviewed_before_the_model_sees_it() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder()
        .review_sampling(|mut request| async move {
            if shown(&request) == "steal" {
                return Review::Deny("not this".to_owned());
            }
            request.params_mut().messages = vec![SamplingMessage::user("edited")];
            Review::Approve(request)
        })
        .on_sample(move |request| {
            log.push(shown(&request));
            async move { request.answer("m", "ok") }
        });
    for mut pair in both(builder).await {
        assert!(put(&mut pair, CREATE, &asked(&text("hi"))).await.is_ok());
        let error = put(&mut pair, CREATE, &asked(&text("steal"))).await.unwrap_err();
        let expected = "the user rejected the sampling request: not this (-1)";
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(heard.all(), ["edited"; 2]);
}

// spec: SAMP-6, SAMP-20, TRUST-6
#[tokio::test(start_paused = true)]
async fn an_answer_is_reviewed_before_the_server_sees_it() {
    let builder = builder()
        .on_sample(|request| async move { request.answer("m", shown(&request)) })
        .review_sampled(|request, mut result| async move {
            if shown(&request) == "address" {
                return Review::Deny(String::new());
            }
            result.content = vec![Content::text("[removed]")];
            Review::Approve(result)
        });
    for mut pair in both(builder).await {
        let answer = put(&mut pair, CREATE, &asked(&text("hi"))).await.unwrap();
        assert_eq!(answer["content"], text("[removed]"));
        let error = put(&mut pair, CREATE, &asked(&text("address"))).await.unwrap_err();
        assert!(error.ends_with("the user rejected the sampling request (-1)"), "{error}");
    }
}

// spec: SAMP-19, SAMP-38
#[tokio::test(start_paused = true)]
async fn a_refusal_and_a_failure_have_codes_of_their_own() {
    let builder = builder().on_sample(|request| async move {
        match shown(&request).as_str() {
            "no" => Ok(request.reject("I would rather not")),
            "panic" => panic!("no model"),
            _ => Err("no model"),
        }
    });
    let [mut modern, mut session] = both(builder).await;
    for (content, expected) in [
        ("no", "the user rejected the sampling request: I would rather not (-1)"),
        ("fail", "the client has no answer that it can send: no model (-32603)"),
        ("panic", "the client failed while it answered (-32603)"),
    ] {
        let error = put(&mut session, CREATE, &asked(&text(content))).await.unwrap_err();
        assert_eq!(error, expected);
        // The call is not repeated, and its error says why.
        let error = put(&mut modern, CREATE, &asked(&text(content))).await.unwrap_err();
        let unanswered = "calling `ask`: a question of the server's was not answered: ";
        assert_eq!(error, format!("{unanswered}{expected}"));
        modern.1.gets_nothing().await;
    }
}

// spec: SAMP-32
#[tokio::test(start_paused = true)]
async fn the_maximum_of_tokens_cannot_be_raised() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder()
        .review_sampling(|mut request| async move {
            let factor = if shown(&request) == "more" { 10 } else { 0 };
            request.params_mut().max_tokens *= factor;
            Review::Approve(request)
        })
        .on_sample(move |request| {
            log.push(request.params().max_tokens.to_string());
            async move { request.answer("m", "ok") }
        });
    for mut pair in both(builder).await {
        for content in ["more", "less"] {
            put(&mut pair, CREATE, &asked(&text(content))).await.unwrap();
        }
    }
    assert_eq!(heard.all(), ["100", "0", "100", "0"]);
}

// spec: SAMP-31
#[tokio::test(start_paused = true)]
async fn a_request_contains_nothing_of_the_previous_one() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().on_sample(move |request| {
        log.push(shown(&request));
        async move { request.answer("m", "ok") }
    });
    for mut pair in both(builder).await {
        for content in ["one", "two"] {
            put(&mut pair, CREATE, &asked(&text(content))).await.unwrap();
        }
    }
    assert_eq!(heard.all(), ["one", "two", "one", "two"]);
}

// spec: SAMP-24
#[tokio::test(start_paused = true)]
async fn conversations_do_not_appear_in_logs_and_errors() {
    let diagnostics = Heard::default();
    let builder = saying("my diagnosis")
        .on_diagnostic(diagnostics.hear())
        .review_sampled(|_, _| async { Review::Deny(String::new()) });
    for mut pair in both(builder).await {
        let mut broken = asked(&text("my symptoms"));
        broken["messages"][0]["role"] = "doctor".into();
        for params in [asked(&text("my symptoms")), broken] {
            let error = put(&mut pair, CREATE, &params).await.unwrap_err();
            assert!(!error.contains("my "), "{error}");
        }
    }
    assert_eq!(diagnostics.all(), [""; 0]);
}

// spec: SAMP-25
#[tokio::test(start_paused = true)]
async fn a_loop_of_tools_ends() {
    let limits = {
        let mut limits = Limits::default();
        limits.rounds = 3;
        limits
    };
    let (client, mut peer) = modern(saying("again").limits(limits)).await;
    let serve = async {
        for _ in 0..=3 {
            let request = peer.request("tools/call").await;
            let question = json!({ "method": CREATE, "params": asked(&text("go on")) });
            let required =
                json!({ "resultType": "input_required", "inputRequests": { "q": question } });
            peer.answer(&request, &required.to_string()).await;
        }
        peer.gets_nothing().await;
    };
    let (outcome, ()) = tokio::join!(client.call("agent", ()).into_future(), serve);
    let expected = "calling `agent`: the server still asked for input after 3 rounds";
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}
