//! The harness runs a test in both eras over every transport, in virtual time.

use std::time::Duration;

use bowline::client::ClientBuilder;
use bowline::types::implementation::Implementation;
use bowline::types::revision::Revision;
use bowline::{Ask, Context, Progress, Question, Server, Tool, tool, tools};
use bowline_testing::{Carrier, Case, Harness};
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

#[bowline::test(every_revision)]
async fn a_server_is_called_in_the_revision_of_the_case(t: Harness) {
    let client = t.connect(server()).await;
    assert_eq!(client.revision(), t.revision());
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

#[bowline::test]
async fn a_client_is_described_before_it_connects(t: Harness) {
    let name = Tool::new("name", |context: Context| async move {
        context.client().map(|client| client.name.clone()).unwrap_or_default()
    });
    let named = |client: ClientBuilder| client.implementation(Implementation::new("ada", "1"));
    let client = t.connect(Server::new("greeter", "1.0.0").tool(name)).client(named).await;
    assert_eq!(client.call("name", ()).await.unwrap().text(), "ada");
}

#[bowline::test]
#[should_panic(expected = "the test waits for something that never happens")]
async fn a_test_that_is_stuck_fails(t: Harness) {
    let _client = t.connect(server()).await;
    std::future::pending::<()>().await;
}

#[bowline::test(every_revision)]
async fn each_case_has_a_test_of_its_own(t: Harness) {
    // The thread of a test is called like the test.
    let thread = std::thread::current();
    let name = format!("each_case_has_a_test_of_its_own::{}", t.case());
    assert_eq!(thread.name(), Some(name.as_str()));
}

#[cfg(feature = "http")]
#[bowline::test(every_revision, stateless)]
async fn a_server_without_sessions_is_a_case_for_those_who_ask(t: Harness) {
    let client = t.connect(server()).await;
    assert_eq!(client.revision(), t.revision());
    if t.case().carrier == Carrier::Stateless {
        let greeted = client.call("greet", ()).await.unwrap();
        assert!(greeted.is_error(), "nobody can be asked: {}", greeted.text());
    }
}

#[test]
fn every_revision_is_spoken_over_every_carrier() {
    for &carrier in Carrier::ALL {
        let of_carrier = Case::all().filter(|case| case.carrier == carrier);
        assert_eq!(of_carrier.map(|case| case.revision).collect::<Vec<_>>(), Revision::ALL);
    }
}
