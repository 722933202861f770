//! Tools that run as tasks, in virtual time: a client that calls them waits, in every revision.

use std::time::Duration;

use bowline::{Ask, Progress, Server, TaskSupport, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::ext::tasks::TaskStatus;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::sleep;

use crate::endless::{drop_a_call, endless};

/// Build something
#[tool(task)]
async fn build(progress: Progress, steps: u64) -> String {
    let mut bar = progress.total(steps);
    for step in 1..=steps {
        bar.inc(format!("step {step}"));
        sleep(Duration::from_secs(10)).await;
    }
    format!("{steps} steps")
}

/// Forge something
#[tool(task = "required")]
async fn forge(progress: Progress) -> String {
    build(progress, 2).await
}

/// Greet the user
#[tool(task)]
async fn greet(ask: Ask) -> bowline::Result<String> {
    let sure = ask.confirm("Now?").await?;
    let again = ask.confirm("Really?").await?;
    Ok(format!("{sure} {again}"))
}

/// Fail
#[tool(task)]
async fn fail() -> bowline::Result<String> {
    Err("no disk".into())
}

fn server() -> Server {
    Server::new("jobs", "1.0.0").tools(tools![build, forge, greet, fail])
}

fn has_tasks(revision: Revision) -> bool {
    revision.has_core_tasks() || revision.has_extensions()
}

#[bowline::test(every_revision)]
async fn a_call_waits_for_the_end_of_its_task(t: Harness) {
    let client = t.connect(server()).await;
    let call = client.call("build", json!({ "steps": 3 })).deadline(Duration::from_secs(60));
    assert_eq!(call.await.unwrap().text(), "3 steps");
    let failed = client.call("fail", ()).await.unwrap();
    assert!(failed.is_error());
    assert_eq!(failed.text(), "no disk");
    let error = client.call("build", json!({})).await.unwrap();
    assert!(error.is_error(), "arguments that do not fit are an error of the tool");
}

// spec: PROG-11
#[bowline::test(every_revision)]
async fn a_call_reports_the_progress_of_its_task(t: Harness) {
    if !has_tasks(t.revision()) {
        return;
    }
    let client = t.connect(server()).await;
    let mut steps = Vec::new();
    let call = client.call("forge", ()).progress(|progress| steps.push(progress.progress));
    assert_eq!(call.await.unwrap().text(), "2 steps");
    // Tasks of the extension have no progress.
    let expected = if t.revision().has_core_tasks() { &[1.0, 2.0][..] } else { &[] };
    assert_eq!(steps, expected);
}

// spec: XTASK-22, XTASK-38
#[bowline::test(every_revision)]
async fn questions_of_a_task_go_to_the_user(t: Harness) {
    if !t.can_ask_user() {
        return;
    }
    let client = t.connect(server()).answering(|question| question.accept(true)).await;
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "true true");
    assert_eq!(t.questions(), ["Now?", "Really?"]);
    let mut task = client.call("greet", ()).task().await.unwrap();
    assert_eq!(task.id().is_some(), has_tasks(t.revision()));
    if let Some(id) = task.id() {
        // Found again by its id.
        task = client.task(id);
    }
    assert_eq!(task.wait().await.unwrap().text(), "true true");
    assert_eq!(t.questions(), ["Now?", "Really?", "Now?", "Really?"]);
}

#[bowline::test(every_revision)]
async fn a_task_can_be_started_and_looked_at(t: Harness) {
    let client = t.connect(server()).await;
    client.tools().all().await.unwrap();
    let task = client.call("build", json!({ "steps": 2 })).task().await.unwrap();
    assert_eq!(task.id().is_some(), has_tasks(t.revision()));
    let state = task.state().await.unwrap();
    if has_tasks(t.revision()) {
        assert_eq!(state.status(), &TaskStatus::Working);
        assert_eq!(state.message(), Some("step 1"));
    } else {
        assert_eq!(state.status(), &TaskStatus::Completed);
    }
    assert_eq!(task.wait().await.unwrap().text(), "2 steps");
    assert_eq!(task.state().await.unwrap().status(), &TaskStatus::Completed);
}

fn may_run_as_task(tool: Tool) -> Tool {
    tool.task(TaskSupport::Optional)
}

#[bowline::test(every_revision)]
async fn dropping_a_call_drops_the_handler_of_its_task(t: Harness) {
    drop_a_call(t, endless(may_run_as_task)).await;
}

#[bowline::test(every_revision)]
async fn a_handle_cancels_only_when_it_is_asked_to(t: Harness) {
    if !has_tasks(t.revision()) {
        return;
    }
    let (server, mut events) = endless(may_run_as_task);
    let client = t.connect(server).await;
    let task = client.call("hang", ()).task().await.unwrap();
    assert_eq!(events.recv().await, Some("begun"));
    let id = task.id().unwrap().to_owned();
    drop(task);
    let task = client.task(id);
    assert_eq!(task.state().await.unwrap().status(), &TaskStatus::Working);
    task.cancel().await.unwrap();
    assert_eq!(events.recv().await, Some("dropped"));
    assert!(task.wait().await.unwrap_err().is_cancelled());
}
