//! Prompts: listed, and filled in with text.

use std::collections::BTreeMap;

use bowline_client::types::content::{Content, Role};
use serde_json::{Value, json};

use crate::peer::{both, both_with, builder};

fn prompts() -> Value {
    json!({ "prompts": {} })
}

fn said(text: &str) -> String {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "resultType": "complete", "messages": [message] }).to_string()
}

// spec: PRMT-17
#[tokio::test(start_paused = true)]
async fn prompts_are_a_list() {
    for (client, mut peer) in both_with(builder(), &prompts()).await {
        let serve = async {
            let request = peer.request("prompts/list").await;
            let arguments = r#"[{"name":"language","required":true},{"name":"focus"}]"#;
            let prompt = format!(r#"{{"name":"review","title":"Review","arguments":{arguments}}}"#);
            peer.answer(&request, &format!(r#"{{"prompts":[{prompt}],"nextCursor":""}}"#)).await;
            let request = peer.request("prompts/list").await;
            assert_eq!(request.params["cursor"], "");
            peer.answer(&request, r#"{"prompts":[{"name":"plan"}]}"#).await;
        };
        let (prompts, ()) = tokio::join!(client.prompts().all(), serve);
        let prompts = prompts.unwrap();
        assert_eq!([prompts[0].display_name(), prompts[1].display_name()], ["Review", "plan"]);
        assert!(prompts[0].arguments[0].required && !prompts[0].arguments[1].required);
    }
}

// spec: PRMT-7
#[tokio::test(start_paused = true)]
async fn arguments_are_text_given_one_by_one_or_together() {
    for (client, mut peer) in both_with(builder(), &prompts()).await {
        let map = BTreeMap::from([("language", "rust"), ("focus", "locks")]);
        let calls = [
            (client.prompt("review"), None),
            (
                client.prompt("review").argument("language", "rust").argument("n", "7"),
                Some(json!({ "language": "rust", "n": "7" })),
            ),
            (
                client.prompt("review").arguments(map).argument("focus", "names"),
                Some(json!({ "language": "rust", "focus": "names" })),
            ),
        ];
        for (call, expected) in calls {
            let serve = async {
                let request = peer.request("prompts/get").await;
                assert_eq!(request.params["name"], "review");
                assert_eq!(request.params.get("arguments"), expected.as_ref());
                peer.answer(&request, &said("Look at this.")).await;
            };
            let (outcome, ()) = tokio::join!(call.into_future(), serve);
            let prompt = outcome.unwrap();
            assert_eq!(prompt.messages[0].role, Role::User);
            assert_eq!(prompt.messages[0].content.as_text(), Some("Look at this."));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn options_and_arguments_go_together_in_any_order() {
    for (client, mut peer) in both_with(builder(), &prompts()).await {
        let mut steps = 0;
        let call = client
            .prompt("review")
            .meta("com.example/trace", "t")
            .progress(|_| steps += 1)
            .argument("language", "rust");
        let serve = async {
            let request = peer.request("prompts/get").await;
            assert_eq!(request.params["arguments"], json!({ "language": "rust" }));
            assert_eq!(request.params["_meta"]["com.example/trace"], "t");
            peer.report(&request.params["_meta"]["progressToken"], 1.0).await;
            peer.answer(&request, &said("x")).await;
        };
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        outcome.unwrap();
        assert_eq!(steps, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn messages_hold_every_kind_of_content() {
    for (client, mut peer) in both_with(builder(), &prompts()).await {
        let contents = [
            json!({ "type": "text", "text": "t" }),
            json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
            json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }),
            json!({ "type": "resource", "resource": { "uri": "a:/1", "text": "r" } }),
            json!({ "type": "resource_link", "uri": "a:/2", "name": "two" }),
        ];
        let message = |content: &Value| json!({ "role": "assistant", "content": content });
        let messages: Vec<_> = contents.iter().map(message).collect();
        let result = json!({ "description": "All of them", "messages": messages }).to_string();
        let serve = async {
            let request = peer.request("prompts/get").await;
            peer.answer(&request, &result).await;
        };
        let (outcome, ()) = tokio::join!(client.prompt("all").into_future(), serve);
        let prompt = outcome.unwrap();
        assert_eq!(prompt.description.as_deref(), Some("All of them"));
        let kinds = prompt.messages.iter().map(|message| match &message.content {
            Content::Text(_) => "text",
            Content::Image(_) => "image",
            Content::Audio(_) => "audio",
            Content::Resource(_) => "resource",
            Content::ResourceLink(_) => "link",
            _ => "other",
        });
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource", "link"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_for_a_refused_prompt_names_the_prompt() {
    for (client, mut peer) in both_with(builder(), &prompts()).await {
        let serve = async {
            let request = peer.request("prompts/get").await;
            peer.refuse(&request, -32602, "`language` is missing").await;
        };
        let (outcome, ()) = tokio::join!(client.prompt("review").into_future(), serve);
        let error = outcome.unwrap_err();
        let expected = "calling `review`: the server answered with an error: \
                        `language` is missing (-32602)";
        assert_eq!(error.to_string(), expected);
        assert!(!error.is_not_found());
    }
}

// spec: PRMT-18
#[tokio::test(start_paused = true)]
async fn a_server_without_prompts_is_not_asked_for_any() {
    for (client, mut peer) in both(builder()).await {
        assert!(client.prompt("review").await.unwrap_err().is_not_offered());
        assert!(client.prompts().all().await.unwrap_err().is_not_offered());
        peer.gets_nothing().await;
    }
}
