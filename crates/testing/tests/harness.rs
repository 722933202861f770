//! The harness runs a test in both eras over every transport, in virtual time.

use std::time::Duration;

use bowline::{Ask, Progress, Question, Server, tool, tools};
use bowline_testing::{Case, Harness};
use serde_json::json;
use tokio::time::Instant;

/// Greet somebody
#[tool]
async fn greet(ask: Ask) -> bowline::Result<String> {
    let sure = ask.confirm("Shall I greet you?").await?;
    Ok(if sure { "Good morning".into() } else { "As you wish".into() })
}

/// Sleep for an hour
#[tool]
async fn sleep(progress: Progress) -> &'static str {
    let mut bar = progress.total(60_u32);
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        bar.inc("still asleep");
    }
    "awake"
}

/// Answer with a long text
#[tool]
fn talk() -> String {
    "word ".repeat(20_000)
}

fn server() -> Server {
    Server::new("sleeper", "1.0.0").tools(tools![greet, sleep, talk])
}

#[bowline::test]
async fn a_server_is_called_in_the_revision_of_the_case(t: Harness) {
    let client = t.connect(server()).await;
    assert_eq!(client.revision(), t.case().revision());
    assert_eq!(client.tools().all().await.unwrap().len(), 3);
}

#[bowline::test]
async fn questions_are_answered_and_written_down(t: Harness) {
    let client = t.connect(server()).answering(|question| question.accept(true)).await;
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "Good morning");
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "Good morning");
    assert_eq!(t.questions(), ["Shall I greet you?", "Shall I greet you?"]);
}

#[bowline::test]
async fn a_question_can_be_declined(t: Harness) {
    let client = t.connect(server()).answering(Question::decline).await;
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "As you wish");
}

#[bowline::test]
async fn an_hour_takes_no_time(t: Harness) {
    let client = t.connect(server()).await;
    let begin = Instant::now();
    let mut steps = 0;
    let call = client.call("sleep", json!({})).progress(|_| steps += 1);
    assert_eq!(
        call.deadline(Duration::from_secs(7200))
            .timeout(Duration::from_secs(61))
            .await
            .unwrap()
            .text(),
        "awake"
    );
    assert_eq!(steps, 60);
    assert!(begin.elapsed() >= Duration::from_secs(3600));
    assert!(begin.elapsed() < Duration::from_secs(3660), "{:?}", begin.elapsed());
}

#[bowline::test]
async fn time_stands_still_while_an_answer_is_on_its_way(t: Harness) {
    let client = t.connect(server()).await;
    let begin = Instant::now();
    for _ in 0..5 {
        assert_eq!(
            client.call("talk", ()).timeout(Duration::from_secs(1)).await.unwrap().text().len(),
            100_000
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn every_case_has_a_test_of_its_own() {
    let revisions = Case::ALL.map(Case::revision);
    assert_eq!(revisions.iter().filter(|revision| revision.is_modern()).count(), 3);
}
