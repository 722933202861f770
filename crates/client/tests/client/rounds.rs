//! Questions inside results (2026-07-28): the user answers, and the call is repeated.

use std::time::Duration;

use bowline_client::{Answer, ClientBuilder, Limits};
use futures_util::poll;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::peer::{Heard, builder, modern};

fn ask(message: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "size": { "type": "integer", "default": 3 } },
        "required": ["name"],
    });
    let params = json!({ "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn required(questions: &Value, state: Option<&str>) -> String {
    let mut result = json!({ "resultType": "input_required", "inputRequests": questions });
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result.to_string()
}

/// Answers with the text of the question as the name.
fn echoing() -> ClientBuilder {
    builder()
        .on_ask(|question| async move { question.accept(json!({ "name": question.message() })) })
}

// spec: MRTR-19, MRTR-21, MRTR-22, MRTR-24, MRTR-25, MRTR-26, ELIC-22
#[tokio::test(start_paused = true)]
async fn a_call_is_repeated_with_all_answers_and_the_unchanged_state() {
    let (client, mut peer) = modern(echoing()).await;
    let state = r#"é\u00e9 "{\"a\": 1}" ==/+"#;
    let serve = async {
        let first = peer.request("tools/call").await;
        let questions = json!({ "one": ask("Ada"), "two": ask("Bob") });
        let required = format!(
            r#"{{"resultType":"input_required","inputRequests":{questions},"requestState":{}}}"#,
            Value::from(state)
        );
        peer.answer(&first, &required).await;
        let again = peer.request("tools/call").await;
        assert_ne!(again.id, first.id);
        let mut params = again.params;
        let responses = params["inputResponses"].take();
        let expected = json!({
            "one": { "action": "accept", "content": { "name": "Ada", "size": 3 } },
            "two": { "action": "accept", "content": { "name": "Bob", "size": 3 } },
        });
        assert_eq!(responses, expected);
        assert_eq!(params["requestState"], state);
        assert_eq!(params["name"], first.params["name"]);
        assert_eq!(params["arguments"], first.params["arguments"]);
        assert_eq!(params["_meta"], first.params["_meta"]);
        peer.answer(&first, "{}").await;
        peer.send_json(json!({ "jsonrpc": "2.0", "id": again.id, "result": { "content": [] } }))
            .await;
        let other = peer.request("tools/call").await;
        assert_eq!(other.params.get("inputResponses"), None);
        assert_eq!(other.params.get("requestState"), None);
        peer.answer_text(&other, "other").await;
    };
    let calls = async {
        client.call("greet", json!({ "loud": true })).await.unwrap();
        client.call("other", ()).await.unwrap()
    };
    let (other, ()) = tokio::join!(calls, serve);
    assert_eq!(other.text(), "other");
}

// spec: MRTR-23
#[tokio::test(start_paused = true)]
async fn no_state_is_sent_when_none_was_given() {
    let (client, mut peer) = modern(echoing()).await;
    let serve = async {
        let first = peer.request("tools/call").await;
        peer.answer(&first, &required(&json!({ "q": ask("Ada") }), Some("s"))).await;
        let second = peer.request("tools/call").await;
        assert_eq!(second.params["requestState"], "s");
        peer.answer(&second, &required(&json!({ "r": ask("Bob") }), None)).await;
        let third = peer.request("tools/call").await;
        assert_eq!(third.params.get("requestState"), None);
        let keys: Vec<_> = third.params["inputResponses"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["r"]);
        peer.answer_text(&third, "done").await;
    };
    let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: MRTR-20
#[tokio::test(start_paused = true)]
async fn state_without_questions_is_repeated_at_once() {
    let (client, mut peer) = modern(builder()).await;
    let serve = async {
        let first = peer.request("tools/call").await;
        peer.answer(&first, r#"{"resultType":"input_required","requestState":""}"#).await;
        let again = peer.request("tools/call").await;
        assert_eq!(again.params["requestState"], "");
        assert_eq!(again.params.get("inputResponses"), None);
        peer.answer_text(&again, "done").await;
    };
    let (outcome, ()) = tokio::join!(client.call("poll", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: MRTR-18
#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_asking_is_given_up() {
    let (client, mut peer) = modern(echoing()).await;
    let rounds = Limits::default().rounds;
    let serve = async {
        for round in 0..=rounds {
            let request = peer.request("tools/call").await;
            peer.answer(&request, &required(&json!({ "q": ask("Ada") }), Some(&round.to_string())))
                .await;
        }
        peer.gets_nothing().await;
    };
    let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
    let expected = "calling `greet`: the server still asked for input after 16 rounds";
    assert_eq!(outcome.unwrap_err().to_string(), expected);
}

// spec: MRTR-4, MRTR-6, MRTR-7, ELIC-6
#[tokio::test(start_paused = true)]
async fn invalid_questions_fail_the_call_and_do_not_reach_the_user() {
    let url = json!({ "mode": "url", "message": "Go", "url": "https://example.com" });
    for (result, complaint) in [
        (json!({}), "`input_required` has neither `inputRequests` nor `requestState`"),
        (
            json!({ "inputRequests": { "q": { "method": "roots/list" } } }),
            "the question `q`: this client does not offer `roots/list`",
        ),
        (
            json!({ "inputRequests": { "q": { "method": "elicitation/create", "params": url } } }),
            "the question `q`: `elicitation/create` needs what this client does not declare",
        ),
        (json!({ "inputRequests": { "q": { "method": "tools/list" } } }), "the question `q`"),
        (json!({ "inputRequests": { "q": 7 } }), "input request"),
    ] {
        let heard = Heard::default();
        let log = heard.clone();
        let builder = builder().on_ask(move |question| {
            log.push(question.message());
            async move { question.decline() }
        });
        let (client, mut peer) = modern(builder).await;
        let serve = async {
            let request = peer.request("tools/call").await;
            let mut result = result;
            result["resultType"] = "input_required".into();
            peer.answer(&request, &result.to_string()).await;
            peer.gets_nothing().await;
        };
        let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
        let error = outcome.unwrap_err();
        assert!(error.is_invalid_answer());
        assert!(error.to_string().contains(complaint), "{error}");
        assert_eq!(heard.all(), [""; 0]);
    }
}

// spec: ELIC-27, ELIC-53
#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_user_is_an_answer() {
    let builder = builder().on_ask(|question| async move {
        if question.message() == "a" { question.decline() } else { question.cancel() }
    });
    let (client, mut peer) = modern(builder).await;
    let serve = async {
        let first = peer.request("tools/call").await;
        peer.answer(&first, &required(&json!({ "a": ask("a"), "b": ask("b") }), None)).await;
        let again = peer.request("tools/call").await;
        let expected = json!({ "a": { "action": "decline" }, "b": { "action": "cancel" } });
        assert_eq!(again.params["inputResponses"], expected);
        peer.answer_text(&again, "as you like").await;
    };
    let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "as you like");
}

// spec: ELIC-57
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_form_fails_the_call() {
    let builder =
        builder().on_ask(|question| async move { question.accept(json!({ "size": "L" })) });
    let (client, mut peer) = modern(builder).await;
    let serve = async {
        let first = peer.request("tools/call").await;
        peer.answer(&first, &required(&json!({ "q": ask("Ada") }), None)).await;
        peer.gets_nothing().await;
    };
    let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
    let error = outcome.unwrap_err();
    assert!(!error.is_refused(), "it is ours, not the server's");
    let text = error.to_string();
    assert!(text.starts_with("calling `greet`: a question of the server's was not answered: "));
    assert!(text.contains("`size`: expected a whole number, found `\"L\"`"), "{text}");
    assert!(text.contains("`name`: it is required but missing"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_or_panics_fails_the_call_alone() {
    let builder = builder().on_ask(|question| async move {
        match question.message() {
            "fail" => Err("no terminal"),
            _ => panic!("no terminal either"),
        }
        .map(|()| question.decline())
    });
    let (client, mut peer) = modern(builder).await;
    for (message, complaint) in [
        ("fail", "the client has no answer that it can send: no terminal"),
        ("panic", "the client failed while it answered"),
    ] {
        let serve = async {
            let request = peer.request("tools/call").await;
            peer.answer(&request, &required(&json!({ "q": ask(message) }), None)).await;
            peer.gets_nothing().await;
        };
        let (outcome, ()) = tokio::join!(client.call("greet", ()).into_future(), serve);
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

// spec: CANC-1, CANC-17
#[tokio::test(start_paused = true)]
async fn dropping_a_call_drops_its_questions_and_sends_nothing() {
    struct Dropped(Heard);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.push("dropped");
        }
    }

    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().on_ask(move |_| {
        let guard = Dropped(log.clone());
        log.push("asked");
        async move {
            let _guard = guard;
            std::future::pending::<Answer>().await
        }
    });
    let (client, mut peer) = modern(builder).await;
    let mut call = client.call("greet", ()).into_future();
    assert!(poll!(&mut call).is_pending());
    let request = peer.request("tools/call").await;
    peer.answer(&request, &required(&json!({ "q": ask("Ada") }), None)).await;
    peer.gets_nothing().await;
    assert_eq!(heard.all(), ["asked"]);
    drop(call);
    peer.gets_nothing().await;
    assert_eq!(heard.all(), ["asked", "dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_user_who_takes_long_does_not_time_the_call_out() {
    let builder = builder().on_ask(|question| async move {
        sleep(Duration::from_secs(300)).await;
        question.accept(json!({ "name": "Ada" }))
    });
    let (client, mut peer) = modern(builder).await;
    let serve = async {
        let first = peer.request("tools/call").await;
        peer.answer(&first, &required(&json!({ "q": ask("Who?") }), None)).await;
        let again = peer.request("tools/call").await;
        peer.answer_text(&again, "done").await;
    };
    let call = client.call("greet", ()).timeout(Duration::from_secs(5));
    let (outcome, ()) = tokio::join!(call.into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

// spec: PROG-2
#[tokio::test(start_paused = true)]
async fn progress_is_reported_in_every_round() {
    let (client, mut peer) = modern(echoing()).await;
    let mut seen = Vec::new();
    let serve = async {
        let first = peer.request("tools/call").await;
        let token = first.params["_meta"]["progressToken"].clone();
        peer.report(&token, 1.0).await;
        peer.answer(&first, &required(&json!({ "q": ask("Ada") }), None)).await;
        let again = peer.request("tools/call").await;
        assert_ne!(again.params["_meta"]["progressToken"], token);
        peer.report(&again.params["_meta"]["progressToken"], 2.0).await;
        peer.answer_text(&again, "done").await;
    };
    let call = client.call("greet", ()).progress(|it| seen.push(it.progress));
    let (outcome, ()) = tokio::join!(call.into_future(), serve);
    outcome.unwrap();
    assert_eq!(seen, [1.0, 2.0]);
}
