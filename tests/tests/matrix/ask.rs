//! Asking the user, in virtual time: yes, no, no answer, several questions, and `once`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline::client::{Answer, ClientBuilder};
use bowline::{Ask, AskError, Error, Question, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::error::code;
use tokio::sync::Barrier;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::sleep;

use crate::endless::Dropped;

/// Deploy the site
#[tool]
async fn deploy(ask: Ask) -> bowline::Result<&'static str> {
    Ok(match ask.confirm("Deploy?").await {
        Ok(true) => "deployed",
        Ok(false) => "not deployed",
        Err(AskError::Cancelled) => "not decided",
        Err(AskError::Unsupported(_)) => "cannot ask",
        Err(error) => return Err(error.into()),
    })
}

fn deployer() -> Server {
    Server::new("deployer", "1.0.0").tools(tools![deploy])
}

/// How a user answers a question.
type Reaction = fn(&Question) -> Answer;

#[bowline::test(every_revision, stateless)]
async fn a_user_can_accept_refuse_decline_or_cancel_a_question(t: Harness) {
    let answers: [(Reaction, &str); 4] = [
        (|question| question.accept(true), "deployed"),
        (|question| question.accept(false), "not deployed"),
        (|question| question.decline(), "not deployed"),
        (|question| question.cancel(), "not decided"),
    ];
    for (answer, expected) in answers {
        let client = t.connect(deployer()).answering(answer).await;
        let outcome = client.call("deploy", ()).await.unwrap();
        let can_ask = t.can_ask_user();
        assert_eq!(outcome.text(), if can_ask { expected } else { "cannot ask" });
    }
}

#[bowline::test(every_revision, stateless)]
async fn a_server_does_not_ask_a_client_without_elicitation(t: Harness) {
    let client = t.connect(deployer()).await;
    assert_eq!(client.call("deploy", ()).await.unwrap().text(), "cannot ask");
}

/// Ask, or fail
#[tool]
async fn insist(ask: Ask) -> bowline::Result<bool> {
    Ok(ask.confirm("Well?").await?)
}

#[bowline::test(every_revision, stateless)]
async fn a_failed_question_is_reported_to_the_side_that_can_act_on_it(t: Harness) {
    let server = Server::new("insistent", "1.0.0").tools(tools![insist]);
    match t.connect(server.clone()).await.call("insist", ()).await {
        Ok(outcome) => {
            assert!(outcome.is_error() && t.revision().has_server_requests());
            let why = match t.revision().has_elicitation() {
                true => r#"does not declare the capabilities {"elicitation":{"#,
                false => "has no elicitation",
            };
            assert!(outcome.text().contains(why), "{}", outcome.text());
        }
        Err(error) => {
            assert!(t.revision().has_input_requests());
            assert_eq!(error.rpc().unwrap().code, code::MISSING_CLIENT_CAPABILITY);
        }
    }
    if t.can_ask_user() {
        let client = t.connect(server).answering(Question::cancel).await;
        let outcome = client.call("insist", ()).await.unwrap();
        assert!(outcome.is_error());
        assert_eq!(outcome.text(), "the user closed the question without answering");
    }
}

/// Counts how often the step ran and how often the tool asked, in both eras.
fn airline(held: Arc<AtomicUsize>) -> Server {
    let book = move |ask: Ask| {
        let held = Arc::clone(&held);
        async move {
            let hold = || async { Ok::<_, Error>(40 + held.fetch_add(1, Ordering::Relaxed)) };
            let price = ask.once("hold", hold).await?;
            if !ask.confirm(format!("{price} EUR?")).await? {
                return Ok("not booked".into());
            }
            if !ask.confirm("By the window?").await? {
                return Ok("booked".into());
            }
            Ok::<_, Error>(format!("booked by the window for {price}"))
        }
    };
    Server::new("airline", "1.0.0").tool(Tool::new("book", book))
}

#[bowline::test(every_revision, stateless)]
async fn a_step_in_once_runs_once_however_often_the_handler_runs(t: Harness) {
    let held = Arc::<AtomicUsize>::default();
    let server = airline(Arc::clone(&held));
    let client = t.connect(server).answering(|question| question.accept(true)).await;
    let outcome = client.call("book", ()).await.unwrap();
    assert_eq!(held.load(Ordering::Relaxed), 1);
    if t.can_ask_user() {
        assert_eq!(outcome.text(), "booked by the window for 40");
        assert_eq!(t.questions(), ["40 EUR?", "By the window?"]);
    } else {
        assert!(outcome.is_error());
    }
}

/// Move a meeting
#[tool]
async fn shift(ask: Ask) -> bowline::Result<String> {
    let (early, online) = (ask.confirm("An hour earlier?"), ask.confirm("Online?"));
    let (early, online) = tokio::try_join!(early, online)?;
    Ok(format!("earlier: {early}, online: {online}"))
}

#[bowline::test(every_revision, stateless)]
async fn questions_asked_at_the_same_time_reach_the_user_together(t: Harness) {
    let server = Server::new("calendar", "1.0.0").tools(tools![shift]);
    // Each question is answered only when the other has been asked too.
    let both = Arc::new(Barrier::new(2));
    let answering = |client: ClientBuilder| {
        client.on_ask(move |question| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                question.accept(question.message() == "Online?")
            }
        })
    };
    let outcome = t.connect(server).client(answering).await.call("shift", ()).await.unwrap();
    if t.can_ask_user() {
        assert_eq!(outcome.text(), "earlier: false, online: true");
    } else {
        assert!(outcome.is_error());
    }
}

/// Ask something that can wait
#[tool]
async fn release(ask: Ask) -> bowline::Result<bool> {
    Ok(ask.as_task(Duration::from_secs(3600)).confirm("Release?").await?)
}

/// On 2025-11-25 these questions are tasks that the client runs; elsewhere they are like others.
#[bowline::test(every_revision)]
async fn a_question_as_a_task_is_answered_as_any_other(t: Harness) {
    if !t.can_ask_user() {
        return;
    }
    let server = Server::new("releaser", "1.0.0").tools(tools![release]);
    let client = t.connect(server).client(|builder| {
        builder.on_ask(async |question: Question| {
            sleep(Duration::from_secs(300)).await;
            question.accept(true)
        })
    });
    let client = client.await;
    assert_eq!(client.call("release", ()).await.unwrap().text(), "true");
}

/// Ask something at once
#[tool]
async fn publish(ask: Ask) -> bowline::Result<bool> {
    Ok(ask.confirm("Publish?").await?)
}

// spec: TASK-56
#[bowline::test(every_revision)]
async fn a_question_as_a_task_is_withdrawn_with_its_call(t: Harness) {
    if t.revision().has_core_tasks() {
        withdraws_its_question(t, "release").await;
    }
}

#[bowline::test(every_revision)]
async fn a_question_is_withdrawn_with_its_call(t: Harness) {
    if t.can_ask_user() {
        withdraws_its_question(t, "publish").await;
    }
}

/// Drops the call of a tool that asks, and expects that the question is dropped too.
async fn withdraws_its_question(t: Harness, tool: &'static str) {
    let (sender, mut events) = unbounded_channel();
    let server = Server::new("releaser", "1.0.0").tools(tools![release, publish]);
    let client = t.connect(server).client(|builder| {
        builder.on_ask(move |_: Question| {
            let dropped = Dropped(sender.clone());
            async move {
                dropped.0.send("asked").unwrap();
                std::future::pending::<Answer>().await
            }
        })
    });
    let client = client.await;
    tokio::select! {
        outcome = client.call(tool, ()).into_future() => panic!("it ended: {outcome:?}"),
        event = events.recv() => assert_eq!(event, Some("asked")),
    }
    assert_eq!(events.recv().await, Some("dropped"));
}
