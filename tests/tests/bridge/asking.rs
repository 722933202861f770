//! Questions of the upstream server, which the caller answers.

use bowline::types::capability::ClientCapabilities;
use bowline::{Ask, Server, tool, tools};
use serde_json::json;

use crate::support::{Heard, L, M, cells};

/// Deploy the thing
#[tool]
async fn deploy(ask: Ask, env: String) -> bowline::Result<String> {
    if !ask.confirm(format!("Deploy to {env}?")).await? {
        return Ok("Not deployed".into());
    }
    if !ask.confirm("Really?").await? {
        return Ok("Not really deployed".into());
    }
    Ok(format!("Deployed to {env}"))
}

fn server() -> Server {
    Server::new("deployer", "1.0.0").tools(tools![deploy])
}

const PASSED: [(bowline::types::revision::Revision, bowline::types::revision::Revision); 3] =
    [(L, L), (L, M), (M, M)];

#[tokio::test(start_paused = true)]
async fn the_caller_answers_the_questions_of_the_server_behind() {
    for cell in cells(&PASSED) {
        let heard = Heard::default();
        let asked = heard.clone();
        let client = cell
            .through(&server(), |builder| {
                builder.on_ask(move |question| {
                    asked.note(question.message());
                    let answer = question.accept(true);
                    async move { answer }
                })
            })
            .await;
        let deployed = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
        assert_eq!(deployed.text(), "Deployed to prod", "{cell:?}");
        assert_eq!(heard.all(), ["Deploy to prod?", "Really?"], "{cell:?}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_cannot_answer_is_not_asked() {
    for cell in cells(&PASSED) {
        let client = cell.through(&server(), |builder| builder).await;
        let outcome = client.call("deploy", json!({ "env": "prod" })).await;
        let text = match outcome {
            Ok(outcome) => {
                assert!(outcome.is_error(), "{cell:?}: {outcome:?}");
                outcome.text()
            }
            Err(error) => error.to_string(),
        };
        assert!(text.contains("elicitation"), "{cell:?}: {text}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_declared_capabilities_a_legacy_server_does_not_ask() {
    for cell in cells(&[(L, L)]) {
        let relay = cell.relay_declaring(&server(), ClientCapabilities::new()).await;
        let client = cell
            .caller(relay, |builder| {
                builder.on_ask(|question| async move { question.accept(true) })
            })
            .await;
        let outcome = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
        assert!(outcome.is_error(), "{cell:?}: {outcome:?}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn sixteen_sessions_get_their_own_questions_and_no_other() {
    for cell in cells(&[(L, M)]).filter(|cell| !cell.http.0) {
        let relay = cell.relay(&server()).await;
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..16 {
            let heard = Heard::default();
            let asked = heard.clone();
            let client = cell
                .caller(relay.clone(), |builder| {
                    builder.on_ask(move |question| {
                        asked.note(question.message());
                        let answer = question.accept(true);
                        async move { answer }
                    })
                })
                .await;
            calls.spawn(async move {
                let env = format!("place-{number}");
                let deployed = client.call("deploy", json!({ "env": env })).await.unwrap();
                assert_eq!(deployed.text(), format!("Deployed to {env}"));
                assert_eq!(heard.all(), [format!("Deploy to {env}?"), "Really?".to_owned()]);
            });
        }
        while let Some(ended) = calls.join_next().await {
            ended.unwrap();
        }
    }
}
