//! Sampling: the model of the caller.

use std::time::Duration;

use bowline::client::{ClientBuilder, RelayFailure};
use bowline::{Ask, Server, Tool, tool, tools};
use bowline_gateway::park::ParkLimits;
use bowline_types::deprecated::sampling::CreateMessageResult;
use bowline_types::error::code;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{ALL, L, M, cells};

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

fn refusing(builder: ClientBuilder) -> ClientBuilder {
    builder.on_sample(|_| async { Err::<CreateMessageResult, _>("not now") })
}

/// A server with a handshake decides how its call goes on. A modern one gets only results.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_session_reaches_the_server_or_ends_the_call_with_its_reason() {
    for cell in cells(&[(L, L), (L, M)]) {
        let client = cell.through(&server(), refusing).await;
        let outcome = client.call("summarize", ()).await;
        if cell.upstream == L {
            let failed = outcome.unwrap();
            assert!(failed.is_error() && failed.text().contains("not now"), "{cell:?}");
            continue;
        }
        let error = outcome.unwrap_err().rpc().cloned().unwrap();
        assert_eq!(error.code, code::INTERNAL_ERROR, "{cell:?}");
        assert!(error.message.contains("not now"), "{cell:?}: {error}");
        let failure: RelayFailure = error.parse_data().unwrap();
        assert!(failure.may_have_run, "{cell:?}");
    }
}

/// Such a caller refuses by staying away, so the call at a server with a handshake is cancelled when
/// its time to answer is over.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_a_caller_without_a_session_ends_the_call_at_the_server_in_time() {
    for cell in cells(&[(M, L)]) {
        let (sender, mut ended) = unbounded_channel();
        let summarize = move |ask: Ask| {
            let guard = Dropped(sender.clone());
            async move {
                let _guard = guard;
                Ok::<_, bowline::Error>(ask.sample("Summarize: tea is hot.").await?.text())
            }
        };
        let far = Server::new("thinker", "1.0.0").tool(Tool::new("summarize", summarize));
        let client = cell.through(&far, refusing).await;
        let error = client.call("summarize", ()).await.unwrap_err();
        assert!(
            error.is_unanswered() && error.to_string().contains("not now"),
            "{cell:?}: {error}"
        );
        let patience = ParkLimits::default().question_timeout + Duration::from_secs(1);
        let heard = tokio::time::timeout(patience, ended.recv()).await;
        assert_eq!(heard, Ok(Some("dropped")), "{cell:?}");
    }
}

/// Reports when it is dropped.
struct Dropped(UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // At the end of the test the receiver may be gone.
        _ = self.0.send("dropped");
    }
}
