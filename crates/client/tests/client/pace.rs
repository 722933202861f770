//! The rate of questions: too many do not reach the user.

use std::time::Duration;

use bowline_client::{ClientBuilder, Limits};
use serde_json::{Value, json};

use crate::peer::{Heard, both, builder, modern, put};

/// A client that answers every question up to this rate, and the questions that it got.
fn answering(per_minute: usize, heard: &Heard) -> ClientBuilder {
    let mut limits = Limits::default();
    limits.questions_per_minute = per_minute;
    let (asked, sampled) = (heard.clone(), heard.clone());
    builder()
        .limits(limits)
        .on_ask(move |question| {
            asked.push("asked");
            async move { question.accept(()) }
        })
        .on_sample(move |request| {
            sampled.push("sampled");
            async move { request.answer("m", "ok") }
        })
}

fn form() -> Value {
    json!({ "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} } })
}

// spec: ELIC-54, SAMP-23, SAMP-25
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_too_often_is_not_answered() {
    let messages = json!({ "messages": [], "maxTokens": 1 });
    for (method, params) in [("elicitation/create", form()), ("sampling/createMessage", messages)] {
        let heard = Heard::default();
        for mut pair in both(answering(2, &heard)).await {
            for _ in 0..2 {
                put(&mut pair, method, &params).await.unwrap();
            }
            let error = put(&mut pair, method, &params).await.unwrap_err();
            let expected = "more than 2 questions in a minute; ask again later (-32603)";
            assert!(error.ends_with(expected), "{error}");
            tokio::time::advance(Duration::from_secs(30)).await;
            put(&mut pair, method, &params).await.unwrap();
        }
        assert_eq!(heard.all().len(), 6);
    }
}

// spec: ELIC-54
#[tokio::test(start_paused = true)]
async fn too_many_questions_in_one_result_fail_the_call() {
    let heard = Heard::default();
    let (client, mut peer) = modern(answering(2, &heard)).await;
    let question = json!({ "method": "elicitation/create", "params": form() });
    let serve = async {
        let request = peer.request("tools/call").await;
        let questions = json!({ "a": question, "b": question, "c": question });
        let required = json!({ "resultType": "input_required", "inputRequests": questions });
        peer.answer(&request, &required.to_string()).await;
        peer.gets_nothing().await;
    };
    let (outcome, ()) = tokio::join!(client.call("ask", ()).into_future(), serve);
    let error = outcome.unwrap_err();
    assert!(error.is_unanswered() && !error.is_refused(), "{error}");
    assert_eq!(heard.all(), [""; 0]);
}
