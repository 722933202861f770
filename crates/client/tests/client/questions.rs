//! Questions as requests of the server (2025-06-18 and 2025-11-25).

use std::sync::Arc;

use bowline_client::types::implementation::Implementation;
use bowline_client::types::revision::Revision;
use bowline_client::{Answer, Question};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::peer::{Heard, Peer, builder, legacy};

/// Asks by a form, and returns the response.
async fn ask(peer: &mut Peer, params: Value) -> Value {
    peer.send_json(json!({
        "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params
    }))
    .await;
    let answer = peer.message().await;
    assert_eq!(answer["id"], "q");
    answer
}

fn form() -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "size": { "type": "integer", "default": 3 } },
        "required": ["name"],
    });
    json!({ "message": "Who?", "requestedSchema": schema })
}

type Reply = fn(&Question) -> Answer;

async fn answered(answer: Reply, params: Value, revision: Revision) -> Value {
    let builder = builder().on_ask(move |question| async move { answer(&question) });
    let (_client, mut peer) = legacy(builder, revision).await;
    ask(&mut peer, params).await
}

// spec: ELIC-22, ELIC-27
#[tokio::test(start_paused = true)]
async fn a_form_is_accepted_with_its_defaults_declined_or_cancelled() {
    let accepted = json!({ "action": "accept", "content": { "name": "Ada", "size": 3 } });
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let cases: [(Reply, Value); 3] = [
            (|question| question.accept(json!({ "name": "Ada" })), accepted.clone()),
            (Question::decline, json!({ "action": "decline" })),
            (Question::cancel, json!({ "action": "cancel" })),
        ];
        for (answer, expected) in cases {
            assert_eq!(answered(answer, form(), revision).await["result"], expected);
        }
    }
}

// spec: ELIC-17
#[tokio::test(start_paused = true)]
async fn a_form_may_name_its_mode() {
    let mut params = form();
    params["mode"] = "form".into();
    let answer = answered(Question::decline, params, Revision::V2025_11_25).await;
    assert_eq!(answer["result"]["action"], "decline");
}

// spec: ELIC-6, ERR-4
#[tokio::test(start_paused = true)]
async fn a_mode_that_was_not_declared_is_refused() {
    let url = json!({
        "mode": "url", "message": "Go", "url": "https://example.com", "elicitationId": "1"
    });
    let unknown = json!({ "mode": "smell", "message": "Go" });
    for params in [url, unknown] {
        let answer = answered(Question::decline, params, Revision::V2025_11_25).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

// spec: ERR-4
#[tokio::test(start_paused = true)]
async fn the_error_for_an_invalid_question_names_the_member() {
    let answer =
        answered(Question::decline, json!({ "message": "?" }), Revision::V2025_11_25).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("requestedSchema"), "{message}");
}

// spec: ELIC-56, ELIC-57
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_the_form_is_not_sent() {
    let answer =
        answered(|question| question.accept(json!({})), form(), Revision::V2025_06_18).await;
    assert_eq!(answer["error"]["code"], -32603);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("`name`: it is required but missing"), "{message}");
}

// spec: ELIC-10, ELIC-51, ELIC-55
#[tokio::test(start_paused = true)]
async fn a_question_names_the_server_and_its_text() {
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder().on_ask(move |question| {
        let fields: Vec<_> = question.form().unwrap().fields().map(|(name, _)| name).collect();
        let server = question.server().map(Implementation::display_name);
        log.push(format!("{server:?} {} {fields:?} {:?}", question.message(), question.url()));
        async move { question.cancel() }
    });
    let (_client, mut peer) = legacy(builder, Revision::V2025_11_25).await;
    ask(&mut peer, form()).await;
    assert_eq!(heard.all(), [r#"Some("scripted") Who? ["name", "size"] None"#]);
}

// spec: CANC-5, CANC-6, CANC-7
#[tokio::test(start_paused = true)]
async fn a_question_that_the_server_cancels_is_dropped_and_not_answered() {
    let (asked, token) = (Arc::new(Notify::new()), Arc::new(()));
    let (signal, held) = (Arc::clone(&asked), Arc::clone(&token));
    let builder = builder().on_ask(move |_| {
        let (signal, held) = (Arc::clone(&signal), Arc::clone(&held));
        async move {
            signal.notify_one();
            let _held = held;
            std::future::pending::<Answer>().await
        }
    });
    let (_client, mut peer) = legacy(builder, Revision::V2025_11_25).await;
    let question =
        json!({ "jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": form() });
    peer.send_json(question).await;
    asked.notified().await;
    assert_eq!(Arc::strong_count(&token), 3);
    let params = json!({ "requestId": 9 });
    let method = "notifications/cancelled";
    peer.send_json(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    peer.gets_nothing().await;
    assert_eq!(Arc::strong_count(&token), 2);
}

// spec: PING-1
#[tokio::test(start_paused = true)]
async fn a_ping_is_answered_while_the_user_thinks() {
    let builder = builder().on_ask(|_| std::future::pending::<Answer>());
    let (_client, mut peer) = legacy(builder, Revision::V2025_11_25).await;
    let question =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": form() });
    peer.send_json(question).await;
    peer.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(peer.message().await, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
}
