//! Progress of calls, in virtual time.

use std::time::Duration;

use bowline::{Progress, Server, tool, tools};
use bowline_testing::Harness;
use serde_json::json;
use tokio::time::sleep;

/// Process files
#[tool]
async fn process(progress: Progress, files: Vec<String>) -> String {
    let mut bar = progress.total(files.len());
    for file in &files {
        sleep(Duration::from_secs(1)).await;
        bar.inc(file);
    }
    format!("processed {} files", files.len())
}

fn files() -> Server {
    Server::new("files", "1.0.0").tools(tools![process])
}

// spec: PROG-3, PROG-4
#[bowline::test(every_revision, stateless)]
async fn the_client_gets_every_progress_step_in_order(t: Harness) {
    let client = t.connect(files()).await;
    let mut seen = Vec::new();
    let call = client.call("process", json!({ "files": ["a", "b", "c"] }));
    let outcome = call.progress(|step| seen.push(step)).await.unwrap();
    assert_eq!(outcome.text(), "processed 3 files");
    let amounts: Vec<_> = seen.iter().map(|step| (step.progress, step.total)).collect();
    assert_eq!(amounts, [(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))]);
    let messages: Vec<_> = seen.iter().map(|step| step.message.as_deref()).collect();
    let expected = match t.revision().has_progress_message() {
        true => [Some("a"), Some("b"), Some("c")],
        false => [None; 3],
    };
    assert_eq!(messages, expected);
}

// spec: TIME-5
#[bowline::test(every_revision, stateless)]
async fn progress_keeps_a_call_alive(t: Harness) {
    let client = t.connect(files()).await;
    let call = client.call("process", json!({ "files": ["a", "b", "c", "d"] }));
    let outcome = call.progress(|_| ()).timeout(Duration::from_secs(2)).await.unwrap();
    assert_eq!(outcome.text(), "processed 4 files");
}
