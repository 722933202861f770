//! Sampling: the model of the caller.

use bowline::types::deprecated::sampling::CreateMessageResult;
use bowline::{Ask, Server, Tool, tool, tools};

use crate::support::{ALL, L, cells};

/// Summarize a text
#[tool]
async fn summarize(ask: Ask) -> bowline::Result<String> {
    let summary = ask.sample("Summarize: tea is hot.").max_tokens(20).await?;
    Ok(format!("{} says: {}", summary.model, summary.text()))
}

/// Tell whether it is time for lunch
#[tool]
async fn lunch(ask: Ask) -> bowline::Result<String> {
    let clock = Tool::new("clock", || async {}).describe("Tell the time");
    Ok(ask.sample("Is it time for lunch?").tools([clock]).await?.text())
}

fn server() -> Server {
    Server::new("thinker", "1.0.0").tools(tools![summarize, lunch])
}

#[tokio::test(start_paused = true)]
async fn the_model_of_the_caller_answers() {
    for cell in cells(&ALL) {
        let client = cell
            .through(&server(), |builder| {
                let answer = |_| std::future::ready(CreateMessageResult::new("tea", "Hot."));
                builder.on_sample(answer).allow_sampling_tools()
            })
            .await;
        let summary = client.call("summarize", ()).await.unwrap();
        assert_eq!(summary.text(), "tea says: Hot.", "{cell:?}");
        let lunch = client.call("lunch", ()).await.unwrap();
        assert_eq!(lunch.text(), "Hot.", "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_caller_reaches_the_server_or_ends_the_call() {
    for cell in cells(&ALL).filter(|cell| cell.caller == L) {
        let client = cell
            .through(&server(), |builder| {
                builder.on_sample(|_| async { Err::<CreateMessageResult, _>("not now") })
            })
            .await;
        let text = match client.call("summarize", ()).await {
            Ok(failed) => {
                assert!(failed.is_error(), "{cell:?}");
                failed.text()
            }
            Err(error) => error.to_string(),
        };
        assert!(!text.is_empty(), "{cell:?}");
    }
}
