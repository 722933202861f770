//! Questions of the upstream server, which the caller answers.

use bowline::client::ClientBuilder;
use bowline::{Ask, Server, Tool, tool, tools};
use bowline_types::capability::ClientCapabilities;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use crate::support::{ALL, Heard, L, M, cells, parked};

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

#[tokio::test(start_paused = true)]
async fn the_caller_answers_the_questions_of_the_server_behind() {
    for cell in cells(&ALL) {
        let heard = Heard::default();
        let client = cell.through(&server(), |builder| agreeing(builder, &heard)).await;
        let deployed = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
        assert_eq!(deployed.text(), "Deployed to prod", "{cell:?}");
        assert_eq!(heard.all(), ["Deploy to prod?", "Really?"], "{cell:?}");
        client.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_cannot_answer_is_not_asked() {
    for cell in cells(&ALL) {
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

/// Each of 64 callers is asked about its own place, at the same time as the others. A server with a
/// handshake names the call only over HTTP.
#[tokio::test(start_paused = true)]
async fn each_of_64_callers_is_asked_its_own_questions_and_no_other() {
    for cell in cells(&ALL).filter(|cell| cell.http.1 || cell.upstream == M) {
        let relay = parked(cell.relay(&server()).await);
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..64 {
            let heard = Heard::default();
            let client = cell.caller(relay.clone(), |builder| agreeing(builder, &heard)).await;
            calls.spawn(async move {
                let env = format!("place-{number}");
                let deployed = client.call("deploy", json!({ "env": env })).await.unwrap();
                assert_eq!(deployed.text(), format!("Deployed to {env}"), "{cell:?}");
                let questions = [format!("Deploy to {env}?"), "Really?".to_owned()];
                assert_eq!(heard.all(), questions, "{cell:?}");
            });
        }
        while let Some(ended) = calls.join_next().await {
            ended.unwrap();
        }
    }
}

/// On a channel that names no call, a question that two callers could answer is refused.
#[tokio::test(start_paused = true)]
async fn a_question_that_two_callers_could_answer_is_refused() {
    for cell in cells(&[(L, L), (M, L)]).filter(|cell| !cell.http.1) {
        let far = server().tool(Tool::new("hang", std::future::pending::<()>));
        let relay = parked(cell.relay(&far).await);
        let (near, other) = (Heard::default(), Heard::default());
        let first = cell.caller(relay.clone(), |builder| agreeing(builder, &near)).await;
        let second = cell.caller(relay, |builder| agreeing(builder, &other)).await;
        let hanging = tokio::spawn(second.call("hang", ()).into_future());
        tokio::task::yield_now().await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        let refused = first.call("deploy", json!({ "env": "prod" })).await.unwrap();
        assert!(refused.is_error(), "{cell:?}: {refused:?}");
        assert!(refused.text().contains("belongs to no call"), "{cell:?}: {}", refused.text());
        assert!(near.all().is_empty() && other.all().is_empty(), "{cell:?}");
        hanging.abort();
    }
}

/// The server takes a question back: the caller with a session hears of it.
#[tokio::test(start_paused = true)]
async fn dropping_a_call_withdraws_its_question() {
    for cell in cells(&ALL) {
        let (sender, mut asked) = unbounded_channel();
        let client = cell
            .through(&server(), |builder| {
                builder.on_ask(move |question| {
                    sender.send(()).unwrap();
                    async move {
                        std::future::pending::<()>().await;
                        question.decline()
                    }
                })
            })
            .await;
        tokio::select! {
            outcome = client.call("deploy", json!({ "env": "prod" })).into_future() => {
                panic!("{cell:?}: {outcome:?}")
            }
            question = asked.recv() => assert!(question.is_some()),
        }
        // The bridge is of use afterwards.
        assert_eq!(client.tools().all().await.unwrap().len(), 1, "{cell:?}");
    }
}

fn agreeing(builder: ClientBuilder, heard: &Heard) -> ClientBuilder {
    let heard = heard.clone();
    builder.on_ask(move |question| {
        heard.note(question.message());
        let answer = question.accept(true);
        async move { answer }
    })
}
