//! Tests of the harness: a test runs in both eras over every transport, in virtual time.

use std::time::Duration;

use bowline::client::ClientBuilder;
use bowline::{Ask, Context, Progress, Question, Server, Tool, tool, tools};
use bowline_testing::{Case, Harness, TransportKind};
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::Instant;

/// Greet the user
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
async fn the_client_speaks_the_revision_of_the_case(t: Harness) {
    let client = t.connect(server()).await;
    assert_eq!(client.revision(), t.revision());
    assert_eq!(client.tools().all().await.unwrap().len(), 3);
}

#[bowline::test]
async fn the_harness_answers_questions_and_records_them(t: Harness) {
    let client = t.connect(server()).answering(|question| question.accept(true)).await;
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "Good morning");
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "Good morning");
    assert_eq!(t.questions(), ["Shall I greet you?", "Shall I greet you?"]);
}

#[bowline::test]
async fn the_harness_can_decline_a_question(t: Harness) {
    let client = t.connect(server()).answering(Question::decline).await;
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "As you wish");
}

#[bowline::test]
async fn a_tool_that_sleeps_for_an_hour_takes_an_hour_of_virtual_time(t: Harness) {
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
async fn virtual_time_does_not_advance_while_an_answer_is_in_transit(t: Harness) {
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
async fn a_test_configures_its_client_before_it_connects(t: Harness) {
    let name = Tool::new("name", |context: Context| async move {
        context.client().map(|client| client.name.clone()).unwrap_or_default()
    });
    let named = |client: ClientBuilder| client.implementation(Implementation::new("ada", "1"));
    let client = t.connect(Server::new("greeter", "1.0.0").tool(name)).client(named).await;
    assert_eq!(client.call("name", ()).await.unwrap().text(), "ada");
}

#[bowline::test]
#[should_panic(expected = "the test waits for something that never happens")]
async fn a_test_that_waits_for_ever_fails(t: Harness) {
    let _client = t.connect(server()).await;
    std::future::pending::<()>().await;
}

#[bowline::test(every_revision)]
async fn each_case_has_its_own_test(t: Harness) {
    // The test runner names the thread of a test after the test.
    let thread = std::thread::current();
    let name = format!("each_case_has_its_own_test::{}", t.case());
    assert_eq!(thread.name(), Some(name.as_str()));
}

#[cfg(feature = "http")]
#[bowline::test(every_revision, stateless)]
async fn a_test_marked_stateless_also_runs_without_sessions(t: Harness) {
    let client = t.connect(server()).await;
    assert_eq!(client.revision(), t.revision());
    if t.case().transport == TransportKind::Stateless {
        let greeted = client.call("greet", ()).await.unwrap();
        assert!(greeted.is_error(), "the server has no session to ask in: {}", greeted.text());
    }
}

#[test]
fn every_transport_has_a_case_in_every_revision() {
    for &transport in TransportKind::ALL {
        let of_transport = Case::all().filter(|case| case.transport == transport);
        assert_eq!(of_transport.map(|case| case.revision).collect::<Vec<_>>(), Revision::ALL);
    }
}
